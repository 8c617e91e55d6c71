package permission

import (
	"slices"
	"strings"
)

// known gives how a program is read of which we know what it does, nil for all others. Those that set
// reads run without a question: the list is short on purpose, and each entry has a test.
func known(name string) func(*script, *step) {
	switch name {
	case "cat", "head", "tail", "ls", "cut", "tr", "comm", "cmp", "nl", "tac", "rev", "fold",
		"expand", "unexpand", "paste", "join", "md5sum", "sha1sum", "sha256sum", "sha512sum", "b2sum", "cksum",
		"od", "hexdump", "realpath", "readlink", "stat", "df", "column":
		return func(_ *script, c *step) { c.reads = true }
	case "seq", "sleep", "basename", "dirname", "which", "type", "uname", "whoami", "id", "groups", "nproc", "free", "uptime",
		"pwd", "echo", "true", "false", ":", "exit", "return", "break", "continue", "shift", "popd", "dirs":
		return func(_ *script, c *step) { c.reads, c.blind = true, true }
	case "cd", "pushd":
		return (*script).goTo
	case "wc", "du", "grep", "egrep", "fgrep", "strings", "jq", "ps":
		return func(_ *script, c *step) {
			c.reads, c.wanders = true, wanders(name, c.words[1:])
			c.blind = name == "ps" && !c.wanders
		}
	case "hostname":
		return func(_ *script, c *step) { c.reads, c.blind = len(c.words) == 1, true }
	case "node", "python", "python3", "gcc", "clang", "ruby", "java", "deno", "bun", "tsc":
		return (*script).version // not rustc, yarn and their like: files of the project say which program those run
	case "go":
		return (*script).goTool
	case "npm", "pnpm", "yarn", "cargo", "make", "pytest", "scp", "sftp", "less", "vi", "vim", "nvim", "ex", "view":
		return func(s *script, c *step) { s.dev(c, name) }
	case "test", "[":
		return (*script).test
	case "printf":
		return (*script).printf
	case "read":
		return (*script).readBuiltin
	case "set":
		return (*script).set
	case "unset":
		return (*script).unset
	case "sed":
		return (*script).sed
	case "awk", "gawk", "mawk", "nawk":
		return (*script).awk
	case "git":
		return (*script).git
	case "tar", "bsdtar":
		return (*script).tar
	case "dd":
		return (*script).dd
	case "tee":
		return func(s *script, c *step) {
			c.through = true // it is its writes, and nothing else
			c.writes = append(c.writes, s.apply(c, options{}).operands...)
		}
	case "touch", "mkdir":
		return func(s *script, c *step) {
			c.own = append(c.own, s.apply(c, options{value: "rdtm"}).operands...)
		}
	}
	if o, reads, ok := flagged(name); ok {
		return func(s *script, c *step) { s.flagged(c, name, o, reads) }
	}
	return nil
}

// flagged gives the options of programs that matter by those alone, and whether they change nothing
// without.
func flagged(name string) (o options, reads, ok bool) {
	switch name {
	case "sort":
		return options{write: "o", writeLong: "output", runLong: "compress-program", value: "ktST"}, true, true
	case "base64":
		return options{write: "o", writeLong: "output"}, true, true
	case "uniq":
		return options{value: "fsw"}, true, true
	case "rg":
		return options{badLong: "pre hostname-bin search-zip", bad: "z"}, true, true
	case "fd", "fdfind":
		return options{bad: "xX", badLong: "exec exec-batch"}, true, true
	case "date":
		return options{bad: "s", badLong: "set", value: "dfr", valueLong: "date file reference"}, true, true
	case "tree":
		return options{write: "o", writeLong: "output", bad: "R"}, true, true
	case "file":
		return options{bad: "Cmz", badLong: "compile magic-file uncompress"}, true, true
	case "diff":
		return options{bad: "l", badLong: "paginate"}, true, true
	case "shuf":
		return options{write: "o", writeLong: "output"}, true, true
	case "xxd":
		return options{bad: "r", value: "clos"}, true, true
	case "yq":
		return options{bad: "is", badLong: "inplace in-place split-exp"}, false, true
	case "curl":
		return options{write: "oDc", writeLong: "output dump-header cookie-jar trace trace-ascii stderr libcurl etag-save output-dir hsts alt-svc",
			bad: "OKJ", badLong: "engine remote-name config remote-header-name remote-name-all", value: "HdXAeubTFrmyYzCEQtUwx"}, false, true
	case "wget":
		return options{write: "OoaP", writeLong: "output-document output-file append-output directory-prefix save-cookies",
			bad: "ei", badLong: "execute use-askpass config input-file warc-file"}, false, true
	case "zip":
		return options{bad: "T", badLong: "unzip-command"}, false, true
	case "rsync":
		return options{run: "e", runLong: "rsh", badLong: "rsync-path log-file write-batch"}, false, true
	case "ack", "ag":
		return options{badLong: "pager"}, false, true
	case "man":
		return options{run: "PH", runLong: "pager html preprocessor", bad: "C", badLong: "config-file"}, false, true
	}
	return options{}, false, false
}

func (s *script) flagged(c *step, name string, o options, reads bool) {
	f := s.apply(c, o)
	c.reads, c.wanders = reads, wanders(name, c.words[1:])
	switch name {
	case "curl":
		if slices.ContainsFunc(c.words, func(w word) bool { return strings.Contains(w.text, "%output{") }) {
			c.doubt("-w of curl writes a file")
		}
	case "uniq", "xxd":
		if len(f.operands) > 1 || f.dynamic || slices.ContainsFunc(f.operands, func(w word) bool { return w.split }) {
			c.writes = append(c.writes, f.operands[min(1, len(f.operands)-1):]...)
		}
	case "date":
		c.blind = !anyOption(c.words[1:], "fr", "file", "reference") // it says which lines are no dates
		for _, w := range f.operands {
			if !strings.HasPrefix(w.text, "+") || !w.lit && !strings.HasPrefix(w.lead, "+") {
				c.doubt("date can set the clock")
			}
		}
	}
}

// goTo looks at cd: what follows is in another folder.
func (s *script) goTo(c *step) {
	c.reads, c.blind = true, true
	target := literal("~")
	for _, w := range c.words[1:] {
		if w.lit && (w.text == "-P" || w.text == "-L" || w.text == "-e" || w.text == "--") {
			continue
		}
		target = w
		if w.text == "-" {
			target = unknown(w.text)
		}
	}
	s.dirs = append(s.dirs, target)
}

// test looks at test and [: with -v and -R they evaluate what they are given, so that operators must be
// known.
func (s *script) test(c *step) {
	c.reads, c.blind = true, true
	words := c.words[1:]
	if len(words) > 0 && words[0].text == "!" {
		words = words[1:]
	}
	if c.words[0].text == "[" && len(words) > 0 && words[len(words)-1].text == "]" {
		words = words[:len(words)-1]
	}
	fluid := func(w word) bool { return !w.lit && w.option() }
	split := func(w word) bool { return !w.lit && w.split }
	switch {
	case slices.ContainsFunc(words, func(w word) bool { return w.lit && (w.text == "-v" || w.text == "-R") }),
		slices.ContainsFunc(words, split):
	case !slices.ContainsFunc(words, fluid), len(words) == 1:
		return
	case len(words) == 2 && words[0].lit, len(words) == 3 && words[1].lit:
		return
	}
	c.doubt("an operator of test is known only when it runs")
}

// printf looks at printf: -v and %n set variables.
func (s *script) printf(c *step) {
	c.reads, c.blind = true, true
	for i, w := range c.words[1:] {
		if i == 0 && (!w.lit || strings.HasPrefix(w.text, "-") || strings.Contains(w.text, "%n")) {
			if w.lit && !strings.HasPrefix(w.text, "-v") && !strings.Contains(w.text, "%n") {
				continue
			}
			c.doubt("printf can set variables")
		}
		if i > 0 && strings.HasPrefix(c.words[1].text, "--") && strings.Contains(w.text, "n") {
			c.doubt("printf can set variables")
		}
	}
}

// readBuiltin looks at read: it sets variables.
func (s *script) readBuiltin(c *step) {
	c.reads, c.blind = true, true
	for _, w := range s.apply(c, options{value: "dinNptu"}).operands {
		if !w.lit || !ownVariable(w.text) {
			c.doubt("read sets a variable that could change what later commands do")
		}
	}
}

// unset looks at unset.
func (s *script) unset(c *step) {
	c.reads, c.blind = true, true
	for _, w := range c.words[1:] {
		if !w.lit || !w.option() && !ownVariable(w.text) && !harmlessVariable(w.text) {
			c.doubt("unset of a variable could change what later commands do")
		}
	}
}

// set looks at set: the usual options of careful scripts change nothing else.
func (s *script) set(c *step) {
	c.reads, c.blind = true, true
	for _, w := range c.words[1:] {
		switch {
		case w.lit && w.text == "--":
			return
		case w.lit && len(w.text) > 1 && (w.text[0] == '-' || w.text[0] == '+') && strings.Trim(w.text[1:], "euxfvoE") == "":
		case w.lit && listed("pipefail errexit nounset xtrace noglob verbose errtrace", w.text):
		default:
			c.doubt("set can change how the shell reads")
		}
	}
}

// dd looks at dd.
func (s *script) dd(c *step) {
	for _, w := range c.words[1:] {
		text := w.text
		if !w.lit {
			text = w.lead
		}
		switch name, value, has := strings.Cut(text, "="); {
		case !has:
			c.doubt("an operand of dd is known only when it runs")
		case name != "of":
		case w.lit:
			c.writes = append(c.writes, literal(value))
		default:
			c.writes = append(c.writes, w)
		}
	}
}

// tar looks at tar: several of its options run programs, and creating writes the archive.
func (s *script) tar(c *step) {
	o := options{value: "CbgKNTVXL", bad: "I", badLong: "to-command use-compress-program checkpoint-action info-script new-volume-script rsh-command rmt-command",
		write: "f", writeLong: "file"}
	words := c.words[1:]
	creates := true
	if len(words) > 0 && words[0].lit && !strings.HasPrefix(words[0].text, "-") {
		words = append([]word{literal("-" + words[0].text)}, words[1:]...)
	}
	if slices.ContainsFunc(words, func(w word) bool {
		return w.lit && w.option() && !strings.HasPrefix(w.text, "--") && strings.ContainsAny(w.text, "tx") || w.text == "--list" || w.text == "--extract" || w.text == "--get"
	}) {
		creates = false
	}
	f := o.scan(words)
	if f.dynamic || len(f.bad) > 0 || f.set["-F"] {
		c.doubt("an option of tar may run a program")
	}
	if slices.ContainsFunc(f.writes, func(w word) bool { return strings.Contains(w.text, ":") }) {
		c.doubt("tar runs a program to reach an archive on another machine")
	}
	if creates && !f.set["-F"] {
		c.writes = append(c.writes, f.writes...)
	}
}
