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
		"lfs", "protocol", "submodule", "remote", "url", "http", "hook", "receive", "difftools",
		"init", "svn", "annex", "gitflow", "tig":
		return s.runsIn(section, last, off)
	}
	return "", false
}

func (s setting) runsIn(section, last string, off bool) (Action, bool) {
	in := func(names ...string) bool { return slices.Contains(names, last) && !off }
	switch section {
	case "alias":
		return Move, aliasRuns(s.value)
	case "pager":
		return Move, !off && !strings.EqualFold(s.value, "true")
	case "credential":
		return Move, in("helper")
	case "protocol":
		return Move, in("allow") && !strings.EqualFold(s.value, "never")
	case "submodule":
		return Move, in("update") && strings.HasPrefix(s.value, "!")
	case "init":
		return Move, in("templatedir") // its hooks are copied by the next git init
	case "svn":
		return Move, in("authorsprog")
	case "gitflow":
		return Move, in("hooks")
	case "tig":
		return Move, strings.HasPrefix(s.key, "tig.bind") || in("source", "editor")
	case "lfs":
		if in("clean", "smudge") { // of lfs.extension
			return Move, true
		}
	case "annex":
		return Move, annexRuns(last) && !off
	case "remote":
		if name, ok := strings.CutPrefix(last, "annex-"); ok && annexRuns(name) && !off {
			return Move, true
		}
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

// aliasRuns reports whether an alias of git is a program, or a command of git that is told to run one. Options
// may be shortened and quoted, so that each word which could be such an option counts.
func aliasRuns(value string) bool {
	value = strings.NewReplacer(`"`, "", "'", "", `\`, "").Replace(strings.TrimSpace(value))
	if strings.HasPrefix(value, "!") || strings.HasPrefix(value, "-") || strings.Contains(value, "ext::") {
		return true
	}
	words := strings.Fields(value)
	for _, w := range words {
		name, _, _ := strings.Cut(w, "=")
		if len(name) > 3 && slices.ContainsFunc(aliasOptions(), func(o string) bool { return strings.HasPrefix(o, name) }) {
			return true
		}
	}
	has := func(option string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, option) })
	}
	if len(words) == 0 {
		return false
	}
	switch words[0] {
	case "rebase", "difftool":
		return has("-x") || has("-ix")
	case "grep":
		return has("-O")
	case "clone", "init":
		return has("-u") || has("-c") || has("--te")
	case "bisect", "submodule", "filter-branch", "config", "hook", "send-email":
		return len(words) > 1
	}
	return false
}

// aliasOptions are the options of git's commands that run a program.
func aliasOptions() []string {
	return []string{"--exec", "--extcmd", "--open-files-in-pager", "--upload-pack", "--receive-pack", "--config", "--template",
		"--smtp-server", "--sendmail-cmd", "--to-cmd", "--cc-cmd", "--remote-cmd"}
}

// annexRuns knows the settings of git-annex that are programs.
func annexRuns(name string) bool {
	return slices.ContainsFunc([]string{"-command", "-hook", "externaltype", "hooktype", "-transport", "-options", "shell"},
		func(end string) bool { return strings.HasSuffix(name, end) })
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
