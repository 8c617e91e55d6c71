package scan

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// setting is one line of a git configuration; the key as in core.sshcommand, its first and last part
// in lower case.
type setting struct{ key, value string }

// parseConfig reads a git configuration. What git would refuse to read is read as far as possible,
// since another version may not refuse.
func parseConfig(text string) (list []setting, strange bool) {
	text = strings.TrimPrefix(text, "\uFEFF")
	text = strings.ReplaceAll(text, "\r\n", "\n")
	section := ""
	for text != "" {
		var line string
		line, text = logicalLine(text)
		line = strings.TrimLeft(line, " \t\v\f")
		for strings.HasPrefix(line, "[") {
			name, rest, ok := sectionHead(line)
			if !ok {
				strange = true
				line = ""
				break
			}
			section, line = name, strings.TrimLeft(rest, " \t")
		}
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		key = strings.ToLower(strings.TrimSpace(key))
		if !ok {
			if i := strings.IndexAny(key, "#;"); i >= 0 {
				key = strings.TrimSpace(key[:i])
			}
			value = "true"
		}
		if section == "" || key == "" || strings.ContainsAny(key, " \t\"") {
			strange = true
		}
		list = append(list, setting{section + "." + key, configValue(value)})
	}
	return list, strange
}

// logicalLine cuts off a line, with those that a backslash at its end adds.
func logicalLine(text string) (line, rest string) {
	for {
		var part string
		var more bool
		part, rest, more = strings.Cut(text, "\n")
		slashes := len(part) - len(strings.TrimRight(part, `\`))
		if !more || slashes%2 == 0 {
			return line + part, rest
		}
		line += part[:len(part)-1]
		text = rest
	}
}

// sectionHead reads [section], [section "sub"] and [section.sub].
func sectionHead(line string) (name, rest string, ok bool) {
	var quoted, escaped bool
	for i := 1; i < len(line); i++ {
		switch c := line[i]; {
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
		case c == ']' && !quoted:
			name, sub, has := strings.Cut(line[1:i], `"`)
			name = strings.ToLower(strings.TrimSpace(name))
			if has {
				name += "." + strings.ReplaceAll(strings.TrimSuffix(strings.TrimSpace(sub), `"`), `\`, "")
			}
			return name, line[i+1:], true
		}
	}
	return "", "", false
}

func configValue(s string) string {
	var b strings.Builder
	var quoted, escaped bool
	for _, c := range strings.TrimSpace(s) {
		switch {
		case escaped:
			b.WriteRune(c)
			escaped = false
		case c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
		case (c == '#' || c == ';') && !quoted:
			return strings.TrimSpace(b.String())
		default:
			b.WriteRune(c)
		}
	}
	return strings.TrimSpace(b.String())
}

// runs reports what a setting makes git do: run a program, or take more settings from elsewhere.
func (s setting) runs() (Action, bool) {
	section, _, _ := strings.Cut(s.key, ".")
	last := s.key[strings.LastIndexByte(s.key, '.')+1:]
	off := s.value == "" || strings.EqualFold(s.value, "false")
	switch section {
	case "core":
		switch last {
		case "fsmonitor":
			return Move, !off && !strings.EqualFold(s.value, "true") // true is git's own
		case "hookspath", "sshcommand", "gitproxy", "editor", "pager", "askpass", "worktree", "alternaterefscommand":
			return Move, s.value != ""
		case "attributesfile", "excludesfile":
			return Ask, s.value != ""
		}
	case "include", "includeif":
		return Move, true
	case "filter":
		return Move, slices.Contains([]string{"clean", "smudge", "process"}, last) && !isLFS(s)
	case "diff", "merge", "difftool", "mergetool", "guitool", "browser", "man", "tar", "trailer", "gpg", "web", "instaweb",
		"sequence", "interactive", "sendemail", "imap", "uploadpack", "gc", "maintenance", "alias", "pager", "credential",
		"lfs", "protocol", "submodule", "remote", "url", "http", "hook", "receive", "difftools":
		return s.runsIn(section, last, off)
	}
	return "", false
}

func (s setting) runsIn(section, last string, off bool) (Action, bool) {
	in := func(names ...string) bool { return slices.Contains(names, last) && !off }
	switch section {
	case "alias":
		return Move, strings.HasPrefix(strings.TrimSpace(s.value), "!") || strings.Contains(s.value, " -c ") ||
			strings.HasPrefix(s.value, "-c")
	case "pager":
		return Move, !off && !strings.EqualFold(s.value, "true")
	case "credential":
		return Move, in("helper")
	case "protocol":
		return Move, in("allow") && !strings.EqualFold(s.value, "never")
	case "submodule":
		return Move, in("update") && strings.HasPrefix(s.value, "!")
	case "remote":
		return Move, in("uploadpack", "receivepack", "vcs") ||
			last == "url" && (strings.HasPrefix(s.value, "ext::") || strings.HasPrefix(s.value, "-"))
	case "url", "http":
		return Ask, in("insteadof", "pushinsteadof", "proxy", "sslcert", "sslkey", "cookiefile", "sslverify", "sslbackend")
	case "hook":
		return Move, in("command")
	}
	return Move, in("command", "cmd", "path", "textconv", "external", "driver", "program", "defaultkeycommand", "difffilter",
		"editor", "tunnel", "smtpserver", "sendmailcmd", "tocmd", "cccmd", "headercmd", "packobjectshook", "recentobjectshook",
		"browser", "httpd", "args", "standalonetransferagent", "procreceiverefs", "tool")
}

// isLFS knows the filter that git lfs install writes, which the user's own configuration has as well.
func isLFS(s setting) bool {
	return strings.HasPrefix(s.key, "filter.lfs.") && slices.Contains([]string{"git-lfs clean -- %f",
		"git-lfs smudge -- %f", "git-lfs smudge --skip -- %f", "git-lfs filter-process", "git-lfs filter-process --skip"}, s.value)
}

// newPrograms names the settings of now that run programs and were not so before.
func newPrograms(before, now *item) (Action, []string) {
	if !now.read || !now.mode.IsRegular() {
		return Move, []string{"it can't be read as a configuration"}
	}
	had := map[setting]bool{}
	if before != nil && before.read {
		list, _ := parseConfig(string(before.content))
		for _, s := range list {
			had[s] = true
		}
	}
	list, strange := parseConfig(string(now.content))
	action, keys := Ask, []string(nil)
	for _, s := range list {
		act, runs := s.runs()
		if !runs || had[s] {
			continue
		}
		if act == Move {
			action = Move
		}
		if len(keys) < 8 {
			keys = append(keys, short(s.key))
		}
	}
	if strange && len(keys) == 0 && !utf8.Valid(now.content) {
		return Move, []string{"it can't be read as a configuration"}
	}
	return action, keys
}

// short makes text of the agent fit to show: quoted, at most 80 characters.
func short(s string) string {
	if r := []rune(s); len(r) > 80 {
		s = string(r[:79]) + "…"
	}
	q := fmt.Sprintf("%q", s)
	return q[1 : len(q)-1]
}
