package permission

import (
	"slices"
	"strings"
)

// version looks at programs that are asked for their version.
func (s *script) version(c *step) {
	c.blind = true
	if len(c.words) != 2 || !c.words[1].lit {
		return
	}
	name := c.words[0].text
	switch c.words[1].text {
	case "--version":
		c.reads = true
	case "-version":
		c.reads = name == "java"
	case "-v":
		c.reads = name == "node" || name == "npm"
	}
}

// goTool looks at go. Its options run other programs and write files; what it builds and tests is what a
// rule for it is about.
func (s *script) goTool(c *step) {
	if len(c.words) < 2 || !c.words[1].lit {
		c.doubt("what go does can only be told when it runs")
		return
	}
	switch sub := c.words[1].text; sub {
	case "version":
		c.blind, c.reads = true, len(c.words) == 2
		return
	case "env":
		s.apply(c, options{bad: "wuCt", badLong: "w u C"})
		c.blind, c.reads = true, true
		return
	}
	for i := 1; i < len(c.words); i++ {
		w := c.words[i]
		if !w.lit {
			if w.option() || w.split && !w.glob {
				c.doubt("an option of go may hide in what is known only when it runs")
			}
			continue
		}
		name, value, has := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(w.text, "-"), "-"), "=")
		if !w.option() {
			continue
		}
		if name == "args" {
			return // the rest is for the test
		}
		given := literal(value)
		if !has {
			given = at(c.words, i+1)
		}
		switch name = strings.TrimPrefix(name, "test."); {
		case listed("o coverprofile cpuprofile memprofile blockprofile mutexprofile trace outputdir gocoverdir", name):
			c.writes = append(c.writes, given)
		case listed("exec toolexec vettool overlay modfile gcflags asmflags gccgoflags compiler pkgdir C", name),
			name == "ldflags" && (!given.lit || strings.Contains(given.text, "-ext") || strings.Contains(given.text, "-linkmode")):
			c.doubt("-%s of go can make it run any program", name)
		}
	}
}

// devOptions gives the options of programs for development by which they run or load something else than a
// rule for them says.
func devOptions(name string) options {
	switch name {
	case "npm", "pnpm", "yarn":
		return options{bad: "C", badLong: "prefix script-shell node-options userconfig globalconfig shell editor viewer git init-module dir cwd use-yarnrc " +
			"config-dir modules-dir store-dir modules-folder use-node-version"}
	case "cargo":
		return options{bad: "CZ", badLong: "config manifest-path", writeLong: "target-dir artifact-dir out-dir lockfile-path"}
	case "make":
		return options{bad: "fCIE", badLong: "file makefile directory include-dir eval"}
	case "pytest":
		return options{bad: "pcoW", badLong: "rootdir confcutdir basetemp override-ini config-file import-mode pdbcls pythonwarnings",
			writeLong: "log-file junitxml junit-xml report-log"}
	case "ssh", "scp", "sftp":
		return options{bad: "oFSEDJ"}
	case "less", "view":
		return options{bad: "kc", badLong: "lesskey-file lesskey-src lesskey-content cmd", write: "oO", writeLong: "log-file LOG-FILE"}
	}
	return options{bad: "cSuUwWsi", badLong: "cmd"} // editors
}

// dev looks at programs for development.
func (s *script) dev(c *step, name string) {
	s.version(c)
	if name != "npm" && name != "make" {
		c.reads = false
	}
	if c.reads {
		return
	}
	c.blind = false
	operands := s.apply(c, devOptions(name)).operands
	switch name {
	case "make":
		if slices.ContainsFunc(operands, func(w word) bool { return strings.Contains(w.text, "=") }) {
			c.doubt("a variable of make can make it run any program")
		}
	case "less", "view", "vi", "vim", "nvim", "ex":
		if slices.ContainsFunc(operands, func(w word) bool { return !w.lit || strings.HasPrefix(w.text, "+") }) {
			c.doubt("%s can be told to run a program", name)
		}
	}
}

// first gives the name of a command for texts.
func (c *step) first() string { return shown(c.words[0].text) }
