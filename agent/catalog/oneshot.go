package catalog

import (
	"slices"
	"strings"
	"unicode"
)

// OneShot is a message with a model or a level of its own.
type OneShot struct {
	Model string // provider:id; "" is the workspace's
	Level Level  // "" is the workspace's
	Text  string // the message without the command
}

// maxAlias is how long a short name may be, in bytes.
const maxAlias = 64

// isAlias reports whether a text, in lower case, can be a short name: letters, digits, and after the
// first also ".", "_" and "-".
func isAlias(s string) bool {
	for i, r := range s {
		letter := 'a' <= r && r <= 'z' || '0' <= r && r <= '9'
		if !letter && (i == 0 || !strings.ContainsRune("._-", r)) {
			return false
		}
	}
	return s != "" && len(s) <= maxAlias
}

// commands are the words after a slash that mean something else, whatever short names there are.
func commands() []string {
	return []string{"agent", "agents", "clear", "compact", "costs", "export", "fork", "goal", "help", "init", "model", "new", "skill",
		"skills", "thinking", "truncate", "usage", "vim"}
}

// OneShot reads the commands "/sonnet text", "/opus+high text" and "/+2 text". Anything else, such as a
// path, another command, an unknown short name or a command without a text, is an ordinary message.
func (c *Catalog) OneShot(text string) (OneShot, bool) {
	word, rest, ok := command(text)
	if !ok {
		return OneShot{}, false
	}
	name, level, hasLevel := strings.Cut(word, "+")
	out := OneShot{Text: rest}
	if hasLevel {
		l, err := ParseLevel(level)
		if err != nil || l == Default {
			return OneShot{}, false
		}
		out.Level = l
	}
	if name == "" {
		return out, hasLevel
	}
	provider, id, ok := c.alias(name, nil)
	if !ok || slices.Contains(commands(), strings.ToLower(name)) {
		return OneShot{}, false
	}
	out.Model = provider + ":" + id
	return out, true
}

// command cuts "/word text" in two.
func command(text string) (word, rest string, ok bool) {
	text, ok = strings.CutPrefix(text, "/")
	end := strings.IndexFunc(text, unicode.IsSpace)
	if !ok || end <= 0 || end > 80 {
		return "", "", false
	}
	word, rest = text[:end], strings.TrimSpace(text[end:])
	for _, r := range word {
		if r <= ' ' || r > '~' || r == '/' {
			return "", "", false
		}
	}
	return word, rest, rest != ""
}

// alias finds a model by a short name. The settings' own names come first; own may be nil.
func (c *Catalog) alias(name string, own map[string]ownModel) (provider, id string, ok bool) {
	name = strings.ToLower(name)
	if !isAlias(name) {
		return "", "", false
	}
	if own == nil {
		own = c.models()
	}
	var best string
	for full, m := range own {
		if slices.Contains(m.aliases(), name) && (best == "" || full < best) {
			best = full
		}
	}
	if provider, id, ok = strings.Cut(best, ":"); ok && provider != "" && id != "" {
		return provider, id, true
	}
	if name == "demo" {
		return "demo", "demo", true
	}
	for _, b := range builtins() {
		for _, k := range b.models {
			if slices.Contains(k.aliases, name) {
				return b.id, k.id, true
			}
		}
	}
	return "", "", false
}
