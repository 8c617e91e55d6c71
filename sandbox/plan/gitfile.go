package plan

import (
	"bytes"
	"errors"
	"path"
	"strings"
)

// maxPath is the longest path that a system takes, in bytes.
const maxPath = 4096

// errNoGitFile says that a file does not name a git folder.
var errNoGitFile = errors.New("it names no git folder")

// gitFile reads a .git file: "gitdir: PATH". Relative paths start at dir, its folder. The answer is
// lexical and proves nothing.
func gitFile(text []byte, dir string) (string, error) {
	line, ok := bytes.CutPrefix(text, []byte("gitdir:"))
	if !ok {
		return "", errNoGitFile
	}
	return gitPath(line, dir)
}

// gitPath reads a file that is one path: commondir, gitdir.
func gitPath(text []byte, dir string) (string, error) {
	name := string(bytes.TrimRight(bytes.TrimLeft(text, " \t"), "\r\n"))
	if name == "" || len(name) > maxPath || strings.ContainsAny(name, "\x00\n") {
		return "", errNoGitFile
	}
	if path.IsAbs(name) {
		return name, nil // not cleaned: ".." counts after links are followed
	}
	return dir + "/" + name, nil
}

// gitConfig is the part of a git configuration that leads to other files.
type gitConfig struct {
	hooks    []string // core.hooksPath
	includes []string // include.path, includeIf.*.path
	worktree string   // core.worktree
}

// parseGitConfig reads a configuration as git does where it matters here, and skips what it does not
// understand: git itself refuses such a file.
func parseGitConfig(text []byte) gitConfig {
	var c gitConfig
	section := ""
	joined := strings.ReplaceAll(strings.ReplaceAll(string(text), "\r\n", "\n"), "\\\n", "")
	for line := range strings.SplitSeq(joined, "\n") {
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, "["); ok {
			name, after, found := cutSection(rest)
			if !found {
				continue
			}
			section, line = name, strings.TrimSpace(after)
		}
		key, value, _ := strings.Cut(line, "=")
		key = strings.ToLower(strings.TrimSpace(key))
		value = gitValue(value)
		switch {
		case value == "":
		case section == "core" && key == "hookspath":
			c.hooks = append(c.hooks, value)
		case section == "core" && key == "worktree":
			c.worktree = value
		case (section == "include" || section == "includeif") && key == "path":
			c.includes = append(c.includes, value)
		}
	}
	return c
}

// cutSection splits `core] key = x` or `includeIf "gitdir:x"] ...`; the name is lower case; a
// subsection is dropped where it does not matter.
func cutSection(text string) (name, after string, ok bool) {
	quoted := false
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && quoted:
			i++
		case text[i] == '"':
			quoted = !quoted
		case text[i] == ']' && !quoted:
			name, sub, _ := strings.Cut(strings.ToLower(strings.ReplaceAll(text[:i], "\t", " ")), " ")
			if sub != "" && name == "core" {
				name = "core " + sub // another section
			}
			return name, text[i+1:], true
		}
	}
	return "", "", false
}

// gitValue unquotes a value and cuts its comment.
func gitValue(text string) string {
	var out strings.Builder
	quoted := false
	for i := 0; i < len(text); i++ {
		switch ch := text[i]; {
		case ch == '\\' && i+1 < len(text):
			i++
			out.WriteByte(text[i])
		case ch == '"':
			quoted = !quoted
		case (ch == '#' || ch == ';') && !quoted:
			return strings.TrimSpace(out.String())
		default:
			out.WriteByte(ch)
		}
	}
	return strings.TrimSpace(out.String())
}
