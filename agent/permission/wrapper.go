package permission

import "strings"

// wrapper gives how a program that runs other commands is read, nil for all others.
func wrapper(name string) func(*script, *step) {
	switch name {
	case "sh", "bash", "dash", "zsh", "ksh", "ash", "mksh", "fish", "rbash":
		return (*script).shell
	case "env":
		return (*script).env
	case "xargs":
		return (*script).xargs
	case "find":
		return (*script).find
	case "eval":
		return (*script).eval
	case "trap":
		return (*script).trap
	case "command":
		return (*script).commandBuiltin
	case "watch":
		return (*script).watch
	case "sudo", "doas", "su", "runuser", "pkexec", "run0":
		return (*script).privileged
	case "parallel", "ssh", "chroot", "unshare", "nsenter", "systemd-run", "script", "flock", "setpriv",
		"strace", "ltrace", "gdb", "entr", "at", "batch", "expect", "unbuffer", "xvfb-run", "dbus-run-session",
		"start-stop-daemon", "chrt", "taskset", "perf", "valgrind", "capsh", "bwrap", "firejail", "proot", "fakeroot",
		"docker", "podman", "kubectl", "nsjail", "socat", "tmux", "screen", "caffeinate", "arch", "chronic", "rlwrap":
		return (*script).foreign
	}
	if p, ok := prefixOf(name); ok {
		return func(s *script, c *step) { s.prefixed(c, p) }
	}
	return nil
}

// prefix is a program that is written before a command: what it takes before that.
type prefix struct {
	value     string // letters of options that take a value
	flags     string // letters of others
	valueLong string
	flagsLong string
	operands  int    // words before the command
	write     string // of value: those that name a file that is written
}

func prefixOf(name string) (prefix, bool) {
	switch name {
	case "timeout":
		return prefix{value: "ks", flags: "fpv", valueLong: "kill-after signal", flagsLong: "foreground preserve-status verbose", operands: 1}, true
	case "nice":
		return prefix{value: "n", flags: "0123456789", valueLong: "adjustment"}, true
	case "nohup", "builtin", "busybox":
		return prefix{}, true
	case "setsid":
		return prefix{flags: "cfw", flagsLong: "ctty fork wait"}, true
	case "stdbuf":
		return prefix{value: "ioe", valueLong: "input output error"}, true
	case "ionice":
		return prefix{value: "cn", flags: "t", valueLong: "class classdata", flagsLong: "ignore"}, true
	case "time":
		return prefix{value: "of", flags: "apv", valueLong: "output format", flagsLong: "append portability verbose", write: "o output"}, true
	case "exec":
		return prefix{value: "a", flags: "cl"}, true
	}
	return prefix{}, false
}

// prefixed looks at a command behind a program such as timeout.
func (s *script) prefixed(c *step, p prefix) {
	i, ok := p.skip(c)
	if ok {
		i += p.operands
	}
	if !ok {
		c.doubt("%s has options that are not followed", c.words[0].text)
		s.guests(c)
		return
	}
	c.through = true
	if i < len(c.words) {
		s.add(c, i, &step{words: c.words[i:], assigns: c.assigns, open: c.open})
	}
}

// skip gives the index of the first word that is no option, and whether all options were known.
func (p prefix) skip(c *step) (int, bool) {
	for i := 1; i < len(c.words); i++ {
		w := c.words[i]
		switch {
		case !w.lit:
			return i, !w.option() && !w.split
		case w.text == "--":
			return i + 1, true
		case !w.option():
			return i, true
		}
		name, _, has := strings.Cut(strings.TrimPrefix(w.text, "--"), "=")
		switch {
		case strings.HasPrefix(w.text, "--") && listed(p.flagsLong, name):
		case strings.HasPrefix(w.text, "--") && listed(p.valueLong, name):
			if !has {
				i++
			}
			p.written(c, name, i, w)
		case strings.HasPrefix(w.text, "--"):
			return i, false
		default:
			rest := strings.TrimLeft(w.text[1:], p.flags)
			if rest == "" {
				continue
			}
			if !strings.Contains(p.value, rest[:1]) {
				return i, false
			}
			if len(rest) == 1 {
				i++
			}
			p.written(c, rest[:1], i, w)
		}
	}
	return len(c.words), true
}

// written notes the file that an option of a prefix names.
func (p prefix) written(c *step, name string, i int, w word) {
	if !listed(p.write, name) {
		return
	}
	if _, value, has := strings.Cut(w.text, "="); has {
		c.writes = append(c.writes, literal(value))
	} else if i < len(c.words) {
		target := c.words[i]
		if target.text == w.text {
			target = literal(w.text[2:])
		}
		c.writes = append(c.writes, target)
	}
}

func listed(names, name string) bool {
	for n := range strings.FieldsSeq(names) {
		if n == name {
			return true
		}
	}
	return false
}

// shell looks at sh -c: what it is given is a script like the one around it.
func (s *script) shell(c *step) {
	given := false
	for i := 1; i < len(c.words); i++ {
		w := c.words[i]
		switch {
		case !w.lit:
			s.doubt("what %s runs can only be told when it runs", c.first())
			return
		case w.text == "-o" || w.text == "+o" || w.text == "-O" || w.text == "+O":
			i++
		case w.text == "--" || w.text == "--version" || w.text == "--norc" || w.text == "--noprofile" || w.text == "--posix" || w.text == "--login":
		case strings.HasPrefix(w.text, "--") || w.text == "-" || w.option() && strings.Contains(w.text, "s"):
			s.doubt("%s runs what it is fed", c.first())
			return
		case w.option() || strings.HasPrefix(w.text, "+"):
			given = given || strings.Contains(w.text, "c")
		case given:
			c.through = true
			s.inside(c, w.text)
			return
		default: // a file of commands is a program like any other
			if strings.HasPrefix(w.text, "/dev/") || strings.HasPrefix(w.text, "/proc/") {
				s.doubt("%s runs what it is fed", c.first())
			}
			return
		}
	}
	s.doubt("%s runs what it is fed", c.first())
}

// env looks at env: variables, then a command.
func (s *script) env(c *step) {
	p := prefix{value: "uC", flags: "i0v", valueLong: "unset chdir", flagsLong: "ignore-environment null debug"}
	i, ok := p.skip(c)
	if !ok {
		c.doubt("env has options that are not followed")
		line := strings.TrimPrefix(strings.TrimPrefix(c.words[i].text, "-S"), "--split-string=")
		for _, w := range c.words[i+1:] {
			line += " " + w.text
		}
		s.inside(c, line) // -S: a line that env splits itself
		s.guests(c)
		return
	}
	for _, w := range c.words[:i] {
		if w.lit && (strings.HasPrefix(w.text, "-C") || strings.HasPrefix(w.text, "--chdir")) {
			c.doubt("env runs it in another folder")
		}
	}
	assigns := c.assigns
	for ; i < len(c.words); i++ {
		w := c.words[i]
		if !w.lit && !strings.Contains(w.lead, "=") {
			break
		}
		name, _, is := strings.Cut(w.text, "=")
		if !is {
			break
		}
		if !harmlessVariable(name) {
			assigns = append(assigns[:len(assigns):len(assigns)], w)
		}
	}
	if i >= len(c.words) {
		return // it shows them all, secrets too
	}
	c.through = true
	s.add(c, i, &step{words: c.words[i:], assigns: assigns, open: c.open})
}

// xargs looks at xargs: the command gets words that nobody knows yet.
func (s *script) xargs(c *step) {
	p := prefix{value: "adEILnPs", flags: "0rtpxo", valueLong: "arg-file delimiter max-lines max-args max-procs max-chars replace",
		flagsLong: "null no-run-if-empty verbose interactive exit open-tty"}
	i, ok := p.skip(c)
	if !ok {
		c.doubt("xargs has options that are not followed")
		s.guests(c)
		return
	}
	c.through = true
	if i >= len(c.words) {
		return // it echoes
	}
	marks := placeholders(c.words[1:i])
	inner := &step{assigns: c.assigns, open: len(marks) == 0}
	for _, w := range c.words[i:] {
		for _, m := range marks {
			if strings.Contains(w.text, m) {
				lead, _, _ := strings.Cut(w.text, m)
				w = word{text: w.text, lead: lead}
			}
		}
		inner.words = append(inner.words, w)
	}
	if inner.open {
		inner.words = append(inner.words, unknown("…"))
	}
	s.add(c, i, inner)
}

// placeholders gives what xargs replaces.
func placeholders(options []word) (marks []string) {
	for i, w := range options {
		switch rest, short := strings.CutPrefix(w.text, "-I"); {
		case short && rest != "":
			marks = append(marks, rest)
		case short && i+1 < len(options):
			marks = append(marks, options[i+1].text)
		case strings.HasPrefix(w.text, "--replace="):
			marks = append(marks, w.text[len("--replace="):])
		case w.text == "--replace":
			marks = append(marks, "{}")
		}
	}
	return marks
}

// eval looks at eval. No rule allows it, but what it runs is looked at.
func (s *script) eval(c *step) {
	s.doubt("eval reads its words a second time")
	var parts []string
	for _, w := range c.words[1:] {
		if !w.lit {
			return
		}
		parts = append(parts, w.text)
	}
	s.inside(c, strings.Join(parts, " "))
}

// trap looks at trap: its first word is a script.
func (s *script) trap(c *step) {
	c.through = true
	switch {
	case len(c.words) < 3:
	case !c.words[1].lit || c.words[1].option():
		s.doubt("what trap runs can only be told when it runs")
	default:
		s.inside(c, c.words[1].text)
	}
}

// commandBuiltin looks at command, which also tells what a name means.
func (s *script) commandBuiltin(c *step) {
	if len(c.words) > 1 && c.words[1].lit && (c.words[1].text == "-v" || c.words[1].text == "-V") {
		c.reads, c.blind = true, true
		return
	}
	s.prefixed(c, prefix{flags: "p"})
}

// watch looks at watch, which gives its words to a shell.
func (s *script) watch(c *step) {
	p := prefix{value: "n", flags: "bcdegptx", valueLong: "interval", flagsLong: "beep color errexit chgexit precise no-title exec differences"}
	i, ok := p.skip(c)
	if !ok || i >= len(c.words) {
		c.doubt("watch has options that are not followed")
		s.guests(c)
		return
	}
	c.through = true
	var parts []string
	for _, w := range c.words[i:] {
		if !w.lit {
			s.doubt("what watch runs can only be told when it runs")
			s.guests(c)
			return
		}
		parts = append(parts, w.text)
	}
	s.inside(c, strings.Join(parts, " "))
}

// privileged looks at sudo and its like: what they run counts for deny rules, and only a rule that names
// them allows it.
func (s *script) privileged(c *step) {
	c.at = 1
	s.guests(c)
	s.strings(c)
}

// foreign looks at a program that can run commands in ways that are not followed.
func (s *script) foreign(c *step) {
	if c.words[0].text == "ssh" || strings.HasSuffix(c.words[0].text, "/ssh") {
		s.apply(c, devOptions("ssh"))
	}
	s.guests(c)
	s.strings(c)
}

// strings looks for scripts in the words of a command, for deny rules.
func (s *script) strings(c *step) {
	for _, w := range c.words[1:] {
		if !w.lit || !strings.ContainsAny(w.text, " \t\n;") || s.depth >= maxDepth-2 {
			continue
		}
		t := &script{depth: s.depth + 2, count: s.count}
		c.inner = append(c.inner, t.read(w.text)...)
		s.count = t.count
	}
}

// find looks at find: its actions run, delete and write.
func (s *script) find(c *step) {
	c.reads = true
	for i := 1; i < len(c.words); i++ {
		w := c.words[i]
		if !w.lit {
			if w.option() || w.split && !w.glob || strings.HasPrefix(w.lead, "(") {
				c.doubt("an action of find may hide in what is known only when it runs")
			}
			continue
		}
		switch w.text {
		case "-exec", "-execdir", "-ok", "-okdir":
			i = s.findExec(c, i+1)
		case "-delete":
			c.doubt("find -delete deletes what it finds")
		case "-fprint", "-fprint0", "-fls", "-fprintf":
			if i++; i < len(c.words) {
				c.writes = append(c.writes, c.words[i])
			}
		case "-files0-from":
			c.doubt("find reads where to look from a file")
		}
	}
}

// findExec looks at the command of -exec from word i on, and gives the index of its end.
func (s *script) findExec(c *step, i int) int {
	inner, at := &step{}, i
	for ; i < len(c.words); i++ {
		w := c.words[i]
		if w.lit && (w.text == ";" || w.text == "+" && len(inner.words) > 0 && inner.words[len(inner.words)-1].text == "{}") {
			break
		}
		if w.lit && strings.Contains(w.text, "{}") {
			lead, _, _ := strings.Cut(w.text, "{}")
			if lead == "" {
				lead = "./" // what is found begins with the folder where to look
			}
			w = word{text: w.text, lead: lead}
		}
		inner.words = append(inner.words, w)
	}
	s.add(c, max(c.at, at), inner)
	return i
}
