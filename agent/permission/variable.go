package permission

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// harmlessVariable reports whether setting an environment variable changes nothing but how a program
// speaks. Every other one may make some program run or load something.
func harmlessVariable(name string) bool {
	switch name {
	case "LANG", "LANGUAGE", "TZ", "CI", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "LINES",
		"GOOS", "GOARCH", "CGO_ENABLED", "RUST_BACKTRACE", "NODE_ENV", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE",
		"DEBIAN_FRONTEND", "GIT_OPTIONAL_LOCKS", "GIT_TERMINAL_PROMPT":
		return true
	}
	return strings.HasPrefix(name, "LC_") && name != "LC_ALL_"
}

// variable looks at a variable of the shell's own that is set: one that other programs see, or that the
// shell obeys, is a doubt.
func (s *script) variable(name string) {
	if harmlessVariable(name) || ownVariable(name) {
		return
	}
	s.doubt("it sets the variable %s, which could change what later commands do", shown(name))
}

// ownVariable reports whether a name is hardly one that is exported already: exported ones are in
// capitals, but for those of proxies.
func ownVariable(name string) bool {
	if name == "" || strings.HasSuffix(name, "_proxy") {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') && (r < '0' || r > '9') })
}

// declare looks at export, declare, local, readonly.
func (s *script) declare(n *syntax.DeclClause) {
	exports := n.Variant.Value == "export"
	for _, a := range n.Args {
		switch {
		case a.Naked && a.Name == nil:
			w := wordOf(a.Value)
			switch {
			case !w.lit:
				s.doubt("what %s sets can only be told when it runs", n.Variant.Value)
			case strings.HasPrefix(w.text, "-"):
				if strings.Trim(w.text, "-parA") != "" {
					s.doubt("%s %s can change what variables do", n.Variant.Value, shown(w.text))
				}
			default:
				s.doubt("%s of %q is not followed", n.Variant.Value, shown(w.text))
			}
		case exports && !harmlessVariable(a.Name.Value):
			s.doubt("it exports the variable %s, which could change what later commands do", shown(a.Name.Value))
		default:
			s.variable(a.Name.Value)
		}
	}
}

// arithmetic looks at an expression: names in it are evaluated again, and a value such as a[$(id)]
// runs a command.
func (s *script) arithmetic(x syntax.ArithmExpr) {
	switch x := x.(type) {
	case nil:
	case *syntax.Word:
		if w := wordOf(x); !w.lit || !number(w.text) {
			s.doubt("arithmetic with variables can run what they hold")
		}
	case *syntax.BinaryArithm:
		s.arithmetic(x.X)
		s.arithmetic(x.Y)
	case *syntax.UnaryArithm:
		s.arithmetic(x.X)
	case *syntax.ParenArithm:
		s.arithmetic(x.X)
	default:
		s.doubt("arithmetic of a kind that is not followed")
	}
}

func number(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r < '0' || r > '9' })
}

// subscript looks at the index of an array.
func (s *script) subscript(x syntax.ArithmExpr) { s.arithmetic(x) }

// compare looks at a comparison of [[ ]]: those of numbers are arithmetic.
func (s *script) compare(n *syntax.BinaryTest) {
	switch n.Op {
	case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
	default:
		return
	}
	for _, x := range []syntax.TestExpr{n.X, n.Y} {
		if w, ok := x.(*syntax.Word); !ok || !number(wordOf(w).text) {
			s.doubt("comparing numbers that are in variables can run what they hold")
		}
	}
}

// parameter looks at the expansion of a variable.
func (s *script) parameter(p *syntax.ParamExp) {
	if p.Excl || p.Names != 0 {
		s.doubt("%s names a variable by another", shown(source(p)))
	}
	if p.Index != nil {
		if w, ok := p.Index.(*syntax.Word); !ok || wordOf(w).text != "@" && wordOf(w).text != "*" {
			s.subscript(p.Index)
		}
	}
	if p.Slice != nil {
		s.arithmetic(p.Slice.Offset)
		s.arithmetic(p.Slice.Length)
	}
	if p.Exp == nil {
		return
	}
	switch p.Exp.Op {
	case syntax.AssignUnset, syntax.AssignUnsetOrNull:
		if p.Param != nil {
			s.variable(p.Param.Value)
		}
	case syntax.OtherParamOps:
		s.doubt("%s can run what the variable holds", shown(source(p)))
	default:
	}
}
