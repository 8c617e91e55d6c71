package plan

import (
	"path"
	"slices"
	"strings"
)

// maxSpoken is how many programs' settings are looked through for names that speak of a secret.
const maxSpoken = 256

// spoken finds the files that say by their name that they hold a login, where programs keep their
// settings: ~/.config/PROGRAM/token and the like, of programs that no list knows.
func (k *maker) spoken() []string {
	at := k.look.real(path.Join(k.home, ".config"))
	if at.err != nil || !at.exists {
		return nil
	}
	config := at.path
	programs, err := k.look.list(config)
	if err != nil {
		return nil // there are none
	}
	var found []string
	for _, p := range programs[:min(len(programs), maxSpoken)] {
		dir := path.Join(config, p.Name)
		if !p.IsDir() {
			continue
		}
		files, err := k.look.list(dir)
		if err != nil {
			continue
		}
		for _, f := range files {
			if !f.IsDir() && speaks(f.Name) {
				found = append(found, path.Join(dir, f.Name))
			}
		}
	}
	return found
}

// speaks reports whether a file's name says that it holds a login.
func speaks(name string) bool {
	name, _, _ = strings.Cut(strings.TrimPrefix(strings.ToLower(name), "."), ".")
	return slices.Contains([]string{
		"token", "tokens", "access_token", "auth_token", "api_token", "session_token", "credential", "credentials", "secret", "secrets",
		"password", "passwords", "auth", "oauth", "oauth_creds", "api_key", "apikey", "private_key",
	}, name)
}
