package permission

import (
	"slices"
	"strings"
)

// git looks at git. Its settings run programs, so that each way to set one counts as running what can't
// be told.
func (s *script) git(c *step) {
	c.repo = true
	i := 1
	for ; i < len(c.words); i++ {
		w := c.words[i]
		if !w.lit {
			c.doubt("what git does can only be told when it runs")
			return
		}
		if !w.option() {
			break
		}
		name, _, has := strings.Cut(w.text, "=")
		switch name {
		case "-C":
			i++
			s.dirs = append(s.dirs, at(c.words, i))
		case "-c":
			i++
			if k := at(c.words, i); !k.lit || !quietSetting(k.text) {
				c.doubt("-c of git can make it run any program")
			}
		case "--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs", "--no-replace-objects", "--version", "--bare":
		case "--exec-path", "--git-dir", "--work-tree", "--namespace", "--config-env", "--super-prefix":
			if !has && name != "--exec-path" {
				i++
			}
			c.doubt("%s of git can make it run any program", name)
		default:
			c.doubt("%s of git is not followed", shown(w.text))
		}
	}
	if i < len(c.words) {
		s.gitCommand(c, c.words[i].text, c.words[i+1:])
	} else {
		c.reads = true
	}
}

func at(words []word, i int) word {
	if i < len(words) {
		return words[i]
	}
	return unknown("?")
}

// quietSetting reports whether a setting of git shapes output alone.
func quietSetting(s string) bool {
	key, _, _ := strings.Cut(strings.ToLower(s), "=")
	return key == "core.quotepath" || key == "core.pager" && strings.HasSuffix(s, "=cat") || key == "diff.renames" || key == "log.showsignature" && strings.HasSuffix(s, "=false") ||
		strings.HasPrefix(key, "color.") || strings.HasPrefix(key, "advice.")
}

// gitOptions are options of git's commands that run or write something.
func gitOptions() options {
	return options{
		writeLong: "output output-directory",
		badLong: "ext-diff textconv filters open-files-in-pager upload-pack receive-pack exec extcmd tool template config upload-archive remote " +
			"smtp-server sendmail-cmd tree-filter index-filter msg-filter env-filter parent-filter commit-filter tag-name-filter setup separate-git-dir",
	}
}

// gitCommands are those of git's own that are known; any other word may be an alias.
const gitCommands = "add am annotate apply archive bisect blame branch bundle cat-file check-attr check-ignore checkout cherry cherry-pick " +
	"clean clone commit commit-tree config count-objects describe diff diff-files diff-index diff-tree difftool fetch filter-branch " +
	"for-each-ref format-patch fsck gc grep hash-object help hook init instaweb log ls-files ls-remote ls-tree maintenance merge merge-base " +
	"merge-file merge-tree mergetool mktree mv name-rev notes pack-refs prune pull push range-diff read-tree rebase reflog remote repack replace " +
	"reset restore rev-list rev-parse revert rm shortlog show show-branch show-ref sparse-checkout stash status submodule switch symbolic-ref " +
	"tag update-index update-ref var verify-commit verify-tag version whatchanged worktree write-tree"

// gitCommand looks at one of git's commands.
func (s *script) gitCommand(c *step, name string, words []word) {
	o := gitOptions()
	switch name {
	case "grep":
		o.bad = "O"
	case "fetch", "clone", "ls-remote", "pull":
		o.bad = "uc"
	case "rebase", "difftool":
		o.bad = "x"
	case "archive", "format-patch":
		o.write = "o"
	}
	o.value, o.valueLong = "mFS", "message file author date grep"
	f := o.scan(words)
	c.writes = append(c.writes, f.writes...)
	for _, b := range f.bad {
		c.doubt("%s of git can run a program", shown(b))
	}
	if f.dynamic && !listed("add commit checkout switch restore mv rm reset stash tag branch merge cherry-pick revert", name) {
		c.doubt("an option of git may hide in what is known only when it runs")
	}
	if slices.ContainsFunc(f.operands, func(w word) bool { return strings.Contains(w.text, "::") }) {
		c.doubt("an address of git can run a program")
	}
	if !listed(gitCommands, name) {
		c.doubt("git %s may be an alias, which can run any program", shown(name))
	}
	if name == "config" && !gitReads(name, words, f) {
		c.doubt("settings of git can make it run any program")
	}
	if name == "bisect" || name == "submodule" || name == "hook" || name == "filter-branch" || name == "mergetool" || name == "difftool" || name == "instaweb" {
		if slices.ContainsFunc(words, func(w word) bool { return !w.lit || w.text == "run" || w.text == "foreach" }) || name != "bisect" && name != "submodule" {
			c.doubt("git %s can run a program", name)
			s.guests(c)
		}
	}
	c.reads = gitReads(name, words, f)
}

// gitReads reports whether one of git's commands changes nothing.
func gitReads(name string, words []word, f found) bool {
	only := func(names string) bool {
		for o := range f.set {
			if !listed(names, o) {
				return false
			}
		}
		return true
	}
	first := ""
	if len(f.operands) > 0 {
		first = f.operands[0].text
	}
	switch name {
	case "status", "log", "diff", "show", "rev-parse", "ls-files", "ls-tree", "blame", "describe", "shortlog", "cat-file", "merge-base",
		"rev-list", "name-rev", "for-each-ref", "show-ref", "diff-tree", "diff-index", "diff-files", "check-ignore", "grep", "count-objects", "version":
		return true
	case "branch":
		return only("-a -r -v --all --remotes --list -l --show-current --sort --format --contains --no-contains --merged --no-merged --points-at --no-color --color --column --verbose") &&
			(first == "" || f.set["--list"] || f.set["-l"])
	case "tag":
		return only("-l --list -n --sort --format --contains --merged --no-merged --points-at --column") && (first == "" || f.set["-l"] || f.set["--list"])
	case "remote":
		return only("-v --verbose") && (first == "" || first == "get-url")
	case "stash":
		return first == "list" || first == "show"
	case "worktree":
		return first == "list"
	case "reflog":
		return first == "" || first == "show"
	case "config":
		return len(words) > 0 && only("--get --get-all --get-regexp --list -l --local --global --show-origin --show-scope -z --null --name-only --type --default") &&
			(f.set["--get"] || f.set["--get-all"] || f.set["--get-regexp"] || f.set["--list"] || f.set["-l"])
	}
	return false
}
