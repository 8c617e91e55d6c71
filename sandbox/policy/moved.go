package policy

import (
	"path"
	"slices"
	"strings"
)

// Moved adds to a policy what an environment (NAME=value) puts elsewhere than Defaults expects: caches, and
// the files of logins and keys. It is the environment of whoever makes the policy, never a command's.
func (p Policy) Moved(environ []string) Policy {
	p.Caches = append(slices.Clone(p.Caches), MovedCaches(p.Home, environ)...)
	p.DenyRead = slices.Clone(p.DenyRead)
	for _, name := range movedDenials(p.Home, environ) {
		if !slices.Contains(p.DenyRead, name) {
			p.DenyRead = append(p.DenyRead, name)
		}
	}
	return p
}

// movedDenials are the places of logins and keys that variables name.
func movedDenials(home string, environ []string) []string {
	var list []string
	add := func(name string, entries ...string) {
		if len(entries) == 0 {
			entries = []string{"."}
		}
		for _, e := range entries {
			at := path.Join(name, e)
			if path.IsAbs(name) && at != "/" && !Within(home, at) && !strings.ContainsRune(at, 0) {
				list = append(list, at)
			}
		}
	}
	for _, name := range []string{
		"AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE", "GOOGLE_APPLICATION_CREDENTIALS", "NETRC", "NPM_CONFIG_USERCONFIG", "npm_config_userconfig",
		"CLOUDSDK_CONFIG", "AZURE_CONFIG_DIR", "GH_CONFIG_DIR", "GLAB_CONFIG_DIR", "PASSWORD_STORE_DIR", "PGPASSFILE", "HISTFILE", "REGISTRY_AUTH_FILE",
		"DATABRICKS_CONFIG_FILE", "OCI_CLI_CONFIG_FILE", "TWINE_CONFIG_FILE", "KRB5_KTNAME", "SOPS_AGE_KEY_FILE", "XAUTHORITY", "ICEAUTHORITY",
		"RCLONE_CONFIG", "BOTO_CONFIG", "TF_CLI_CONFIG_FILE", "ANSIBLE_VAULT_PASSWORD_FILE", "MYSQL_TEST_LOGIN_FILE",
		"SSLKEYLOGFILE", "SOPS_AGE_SSH_PRIVATE_KEY_FILE", "AWS_WEB_IDENTITY_TOKEN_FILE",
	} {
		add(lookup(environ, name))
	}
	for name := range strings.SplitSeq(lookup(environ, "KUBECONFIG"), ":") {
		add(name)
	}
	add(lookup(environ, "GNUPGHOME"), "private-keys-v1.d", "secring.gpg", "openpgp-revocs.d")
	add(lookup(environ, "CARGO_HOME"), "credentials", "credentials.toml")
	add(lookup(environ, "POETRY_CONFIG_DIR"), "auth.toml")
	add(lookup(environ, "CURL_HOME"), ".netrc", ".curlrc")
	add(lookup(environ, "DOCKER_CONFIG"), "config.json", "run")
	add(lookup(environ, "CLAUDE_CONFIG_DIR"), ".credentials.json", ".claude.json", "projects", "history.jsonl")
	add(lookup(environ, "CODEX_HOME"), "auth.json", "sessions", "history.jsonl")
	for variable, dir := range map[string]string{"XDG_CONFIG_HOME": ".config", "XDG_DATA_HOME": ".local/share", "XDG_CACHE_HOME": ".cache", "XDG_STATE_HOME": ".local/state"} {
		moved := lookup(environ, variable)
		usual := path.Join(home, dir)
		if moved == "" || path.Clean(moved) == usual {
			continue
		}
		for _, d := range deniedReads(home) {
			if Within(d, usual) && d != usual {
				add(moved, strings.TrimPrefix(d, usual+"/"))
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
