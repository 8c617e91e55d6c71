package permission

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

const (
	// maxScript is how long a script may be to be read, in bytes. The parser's stack grows with the
	// nesting, and that can't be deeper than the script is long.
	maxScript = 32 << 10
	// maxDepth is how deep commands may hold commands, as in sh -c "sh -c …".
	maxDepth = 6
	// maxSteps is how many commands a script may have to be judged one by one.
	maxSteps = 500
)

// step is one simple command, with what it runs in its turn.
type step struct {
	words []word
	// assigns are the variables set for it that could change what it does, as NAME=value.
	assigns []word
	// at is the index in words where the command begins that a wrapper runs, 0 where it runs none.
	at int
	// open says that arguments are appended that nobody knows yet.
	open bool
	// through says that it does nothing but run inner.
	through bool
	// reads says that it changes nothing: it is on the list of commands that are known to.
	reads bool
	// repo says that it obeys the settings of a repository.
	repo bool
	// blind says that it reads no file that its words name.
	blind bool
	// wanders says that it could read what its words don't name.
	wanders bool
	// guest says that inner can't be told for certain: it counts for deny rules only.
	guest  bool
	inner  []*step
	writes []word   // files that it writes, not counting what it is made for
	own    []word   // files that it is made to write: touch, mkdir
	doubts []string // why it may do more than its words say
}

// script is what a script does.
type script struct {
	steps  []*step
	writes []word   // by redirection
	reads  []word   // by redirection
	doubts []string // why no rule can allow it
	unread string   // why it could not be read at all
	nested bool     // it has substitutions
	dirs   []word   // folders that it goes to
	count  int
	depth  int
}

func (s *script) doubt(format string, args ...any) {
	if len(s.doubts) < maxRights {
		s.doubts = append(s.doubts, fmt.Sprintf(format, args...))
	}
}

func (c *step) doubt(format string, args ...any) {
	c.doubts = append(c.doubts, fmt.Sprintf(format, args...))
}

// analyse reads a script.
func analyse(text string) *script {
	s := &script{}
	s.read(text)
	return s
}

// read adds what a text does, as a shell would read it.
func (s *script) read(text string) []*step {
	file, why := parse(text)
	if why != "" {
		s.unread = why
		return nil
	}
	old := s.steps
	s.steps = nil
	syntax.Walk(file, s.node)
	found := s.steps
	s.steps = append(old, found...)
	return found
}

// inside reads a text that a command hands to a shell. Its steps belong to the command.
func (s *script) inside(c *step, text string) {
	if s.depth >= maxDepth {
		s.doubt("it nests commands too deep to follow")
		return
	}
	s.depth++
	old := s.steps
	s.steps = nil
	c.inner = append(c.inner, s.read(text)...)
	s.steps = old
	s.depth--
}

// parse parses a script, and says why not when it can't.
func parse(text string) (*syntax.File, string) {
	switch {
	case len(text) > maxScript:
		return nil, fmt.Sprintf("it is longer than the %d KiB that are read", maxScript>>10)
	case !utf8.ValidString(text):
		return nil, "it is not UTF-8"
	case strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f }):
		return nil, "it has control characters"
	case nesting(text) > maxNesting:
		return nil, "it nests too deep"
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		return nil, "the shell could not read it: " + shown(err.Error())
	}
	return file, ""
}

// maxNesting is how many opening brackets and quotes a script may have: the parser nests as deep.
const maxNesting = 2000

func nesting(text string) int {
	n := 0
	for i := range len(text) {
		switch text[i] {
		case '(', '{', '`', '[':
			n++
		}
	}
	return n
}

// node looks at one node of the syntax tree.
func (s *script) node(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.Redirect:
		s.redirect(n)
	case *syntax.CmdSubst, *syntax.ProcSubst:
		s.nested = true
	case *syntax.CallExpr:
		s.call(n)
	case *syntax.DeclClause:
		s.declare(n)
	case *syntax.Assign:
		s.subscript(n.Index)
	case *syntax.ArrayElem:
		s.subscript(n.Index)
	case *syntax.ArithmExp:
		s.arithmetic(n.X)
	case *syntax.ArithmCmd:
		s.arithmetic(n.X)
	case *syntax.LetClause:
		for _, x := range n.Exprs {
			s.arithmetic(x)
		}
	case *syntax.CStyleLoop:
		for _, x := range []syntax.ArithmExpr{n.Init, n.Cond, n.Post} {
			s.arithmetic(x)
		}
	case *syntax.ParamExp:
		s.parameter(n)
	case *syntax.UnaryTest:
		if n.Op == syntax.TsVarSet || n.Op == syntax.TsRefVar {
			s.doubt("[[ %s ]] can run what a variable holds", n.Op)
		}
	case *syntax.BinaryTest:
		s.compare(n)
	case *syntax.WordIter:
		s.variable(n.Name.Value)
	case *syntax.TestDecl:
		s.doubt("it has a form that is not followed")
	}
	return s.count < maxSteps
}

// redirect looks at a redirection.
func (s *script) redirect(r *syntax.Redirect) {
	if r.N != nil && strings.HasPrefix(r.N.Value, "{") {
		s.variable(strings.Trim(r.N.Value, "{}"))
	}
	if r.Word == nil {
		return
	}
	w := wordOf(r.Word)
	switch r.Op {
	case syntax.RdrIn:
		if network(w) {
			s.doubt("reading from %s may reach the network", shown(w.text))
		}
		s.reads = append(s.reads, w)
	case syntax.DplIn, syntax.DplOut:
		if w.lit && descriptor(w.text) {
			return
		}
		s.writes = append(s.writes, w)
	case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
	default:
		if !w.lit || !sink(w.text) {
			s.writes = append(s.writes, w)
		}
	}
}

// network reports whether reading a word may open a connection: bash does so for /dev/tcp/HOST/PORT.
func network(w word) bool {
	for _, dev := range []string{"/dev/tcp/", "/dev/udp/"} {
		if w.lit && strings.HasPrefix(w.text, dev) || !w.lit && (strings.HasPrefix(dev, w.lead) || strings.HasPrefix(w.lead, dev)) {
			return true
		}
	}
	return false
}

// descriptor reports whether the target of >& or <& is a descriptor, as in 2>&1.
func descriptor(s string) bool {
	s = strings.TrimSuffix(s, "-")
	return !strings.ContainsFunc(s, func(r rune) bool { return r < '0' || r > '9' })
}

// sink reports whether writing there changes nothing.
func sink(p string) bool {
	if rest, ok := strings.CutPrefix(p, "/dev/fd/"); ok {
		return rest != "" && descriptor(rest)
	}
	return p == "/dev/null" || p == "/dev/stdout" || p == "/dev/stderr" || p == "/dev/tty"
}

// call looks at a simple command.
func (s *script) call(n *syntax.CallExpr) {
	c := &step{}
	for _, a := range n.Assigns {
		if len(n.Args) == 0 {
			s.variable(a.Name.Value)
		} else if !harmlessVariable(a.Name.Value) {
			c.assigns = append(c.assigns, assignment(a))
		}
	}
	if len(n.Args) == 0 {
		return
	}
	for _, w := range n.Args {
		c.words = append(c.words, wordOf(w))
	}
	s.steps = append(s.steps, c)
	s.look(c)
}

func assignment(a *syntax.Assign) word {
	if a.Append || a.Index != nil || a.Array != nil {
		return unknown(source(a))
	}
	value := word{lit: true}
	if a.Value != nil {
		value = wordOf(a.Value)
	}
	if !value.lit {
		return unknown(source(a))
	}
	return literal(a.Name.Value + "=" + value.text)
}

// add looks at a command that a wrapper runs.
func (s *script) add(outer *step, at int, c *step) {
	outer.at = at
	if len(c.words) == 0 {
		return
	}
	outer.inner = append(outer.inner, c)
	if s.depth >= maxDepth {
		s.doubt("it nests commands too deep to follow")
		return
	}
	s.depth++
	s.look(c)
	s.depth--
}

// look finds out what a command does.
func (s *script) look(c *step) {
	if s.count++; s.count >= maxSteps {
		s.unread = "it has too many commands to judge one by one"
		return
	}
	first := c.words[0]
	if !first.lit || first.text == "" {
		s.doubt("which command %q is can only be told when it runs", shown(first.text))
		return
	}
	name, plain := program(first.text)
	if !plain {
		// A program of that name somewhere else: only deny rules look into it.
		name = path.Base(first.text)
		if wrapper(name) != nil {
			s.guests(c)
		}
		return
	}
	if f := wrapper(name); f != nil {
		f(s, c)
	} else if why := obscure(name); why != "" {
		s.doubt("%s %s", name, why)
	} else if f := known(name); f != nil {
		f(s, c)
	}
}

// program gives the name of a program that is found in PATH or where systems keep theirs.
func program(s string) (name string, plain bool) {
	if !strings.Contains(s, "/") {
		return s, true
	}
	switch path.Dir(s) {
	case "/bin", "/usr/bin", "/sbin", "/usr/sbin":
		return path.Base(s), true
	}
	return s, false
}

// guests adds every command that the words could hold, for deny rules.
func (s *script) guests(c *step) {
	c.guest = true
	for i := 1; i < len(c.words) && i <= maxRights; i++ {
		if w := c.words[i]; w.lit && !w.option() {
			g := &step{words: c.words[i:]}
			s.quietly(g)
			c.inner = append(c.inner, g)
		}
	}
}

// quietly looks at a command that is perhaps none, without doubts of the whole script.
func (s *script) quietly(c *step) {
	if s.depth >= maxDepth-2 || s.count >= maxSteps-1 {
		return
	}
	t := &script{depth: s.depth + 2, count: s.count}
	t.look(c)
	s.count = t.count
}

// obscure says why no rule can tell what a builtin does, "" for all others.
func obscure(name string) string {
	switch name {
	case "source", ".":
		return "runs a file that could be any"
	case "alias", "unalias", "enable", "hash":
		return "changes what later names mean"
	case "shopt":
		return "changes how the shell reads"
	case "complete", "bind", "mapfile", "readarray", "fc", "compgen":
		return "can run commands"
	}
	return ""
}

// walk gives every step with those inside it.
func walk(steps []*step, f func(*step) bool) bool {
	return !slices.ContainsFunc(steps, func(c *step) bool { return !f(c) || !walk(c.inner, f) })
}
