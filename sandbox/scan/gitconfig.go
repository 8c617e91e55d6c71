package scan

import (
	"fmt"
	"slices"
	"strings"
)

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
		list := parseConfig(string(before.content))
		for _, s := range list {
			had[s] = true
		}
	}
	list := parseConfig(string(now.content))
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
