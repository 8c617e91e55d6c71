package catalog

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"carrel/store"
)

// maxKey is how long a key may be, in bytes.
const maxKey = 64 << 10

// key is a provider's key and where it is from.
type key struct {
	value  string
	token  bool // a bearer token
	source string
}

// key finds a provider's key: in the settings, in the file that they name, in the environment.
func (c *Catalog) key(b builtin, e store.ProviderConfig) (key, *ConfigError) {
	var k key
	switch {
	case strings.TrimSpace(e.APIKey) != "":
		k = key{value: e.APIKey, source: "settings"}
	case e.APIKeyFile != "":
		text, err := c.keyFile(e.APIKeyFile)
		if err != nil {
			return k, bad(BadKey, b.id, "the key can't be read from apiKeyFile: %v.", err)
		}
		k = key{value: text, source: "file"}
	default:
		k = c.envKey(b)
	}
	k.value = strings.TrimSpace(k.value)
	if !sendable(k.value) {
		return key{source: k.source}, &ConfigError{BadKey, fmt.Sprintf(
			"The key of %s (%s) has characters that can't be sent. Copy it again, on one line.", b.id, k.source)}
	}
	return k, nil
}

func (c *Catalog) envKey(b builtin) key {
	for _, name := range b.keyEnv {
		if v := c.lookup(name); v != "" {
			return key{value: v, source: name}
		}
	}
	if v := c.lookup(b.tokenEnv); v != "" {
		return key{value: v, source: b.tokenEnv, token: true}
	}
	return key{}
}

func (c *Catalog) keyFile(path string) (string, error) {
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || rest[0] == '/') {
		path = c.env("HOME") + rest
	}
	if !filepath.IsAbs(path) {
		return "", errors.New("its path must begin with / or ~/")
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular(): // a pipe could block for ever
		return "", errors.New("it is no regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // only read
	text, err := io.ReadAll(io.LimitReader(f, maxKey+1))
	switch {
	case err != nil:
		return "", err
	case len(text) > maxKey:
		return "", errors.New("it is larger than 64 KiB")
	case strings.TrimSpace(string(text)) == "":
		return "", errors.New("it is empty")
	}
	return string(text), nil
}

// lookup reads an environment variable; "" is no variable.
func (c *Catalog) lookup(name string) string {
	if name == "" {
		return ""
	}
	return strings.TrimSpace(c.env(name))
}

var headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")

// sendable reports whether a header can have that value.
func sendable(v string) bool {
	for _, r := range v {
		if r < ' ' || r > '~' {
			return false
		}
	}
	return true
}
