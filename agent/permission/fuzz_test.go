package permission_test

import (
	"strings"
	"testing"
	"time"

	"carrel/agent/permission"
)

func seeds(f *testing.F) {
	for _, s := range []string{"ls", "rm x", "git status", "a; b", "a | b && c", "$(x)", "`x`", "<(x)", "cat <<E\nx\nE", "x() { y; }; x", "if a; then b; fi",
		"x=1 y", "> a", "[[ -v x ]]", "((x))", "${x@P}", "find . -exec a {} +", "xargs -I{} a {}", "env -S 'a b'", "sh -c 'a'", "sed s/a/b/w", "# a", "\\", "'",
		"case x in a) b;; esac", "{a,b}", "~a/b", "$'\\x41'", "a[$(b)]=c", "|", "&& a", ") ; a (", "<<E", "}", "E", "fi", "done", "* x", "[ x", "a=(1 2)"} {
		f.Add(s)
	}
}

// FuzzAnythingIsJudged: no script makes the judge panic or take long, and what it says is complete.
func FuzzAnythingIsJudged(f *testing.F) {
	seeds(f)
	e := engine(f, "Bash(git status)", "Bash(make:*)")
	e.Rules.Deny = rules(f, "Bash(rm:*)", "Edit(.git)")
	f.Fuzz(func(t *testing.T, script string) {
		for _, mode := range permission.Modes() {
			v := e.Judge(mode, permission.Request{Tool: "bash", Command: script, Sandboxed: true})
			if (v.Decision == permission.Ask) != (len(v.Rights) > 0) || v.Decision == permission.Deny && (v.Reason == "" || v.Hint == "") {
				t.Errorf("%q in %s: %+v", script, mode, v)
			}
			if v.Decision != permission.Ask || v.Always() == nil {
				continue
			}
			again := engine(t, append(v.Always(), "Bash(git status)", "Bash(make:*)")...)
			again.Rules.Deny = e.Rules.Deny
			if w := again.Judge(mode, permission.Request{Tool: "bash", Command: script, Sandboxed: true}); mode == permission.ModeAsk && w.Decision != permission.Allow {
				t.Errorf("%q: %v does not allow it: %+v", script, v.Always(), w)
			}
		}
	})
}

// FuzzMoreIsNeverAllowedThanAlone: a command that is not allowed alone is not allowed behind others.
func FuzzMoreIsNeverAllowedThanAlone(f *testing.F) {
	seeds(f)
	e := engine(f, "Bash(git status)", "Bash(make:*)", "Edit(out/**)")
	f.Fuzz(func(t *testing.T, script string) {
		if judged(e, script).Decision == permission.Allow {
			return
		}
		for _, before := range []string{"git status", "make a", "cd sub", "ls > out/a", "x=1", "f() { ls; }", "set -e", "bash -c 'ls'", "for x in a; do ls; done"} {
			for _, sep := range []string{"\n", "; ", " && ", " || ", " | ", " & "} {
				if v := judged(e, before+sep+script); v.Decision == permission.Allow {
					t.Errorf("%q is allowed behind %q", script, before+sep)
				}
			}
		}
	})
}

// FuzzRulesAreReadOrRefused: a rule that is read means the same when it is written down.
func FuzzRulesAreReadOrRefused(f *testing.F) {
	for _, s := range []string{"Bash", "Bash(a:*)", "Bash(a b)", "Edit(a/**)", "Read(~/x)", "WebFetch(domain:a)", "x*", "Bash(", "Bash()", "Bash($x)", "Edit([)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := permission.ParseRule(text)
		if err != nil {
			return
		}
		if _, err := permission.ParseRule(r.String()); err != nil {
			t.Errorf("%q: %v", r, err)
		}
		e := engine(t)
		e.Rules.Allow = []permission.Rule{r}
		judged(e, "a b")
		e.Judge(permission.ModeAsk, permission.Request{Tool: "file_edit_insert", Paths: []string{"a/b"}})
	})
}

func TestHostileScriptsAreJudgedSoon(t *testing.T) {
	e := engine(t)
	for _, part := range []string{"if ", "! ", "time ", "while ", "coproc ", "case x in a) ", "(", "{ ", "$(", "`", "${a:-", "$((", "((", "[[ ( ", "f() ", "<(", "a=(", "\"$(", "a[", "-", "{a,", "a|", "a&&", "<<E ", "\\", "sh -c ", "env ", "find -exec ", "xargs ", "$[", "@(", "for x in a; do "} {
		begin := time.Now()
		for _, n := range []int{100, 1900, 32<<10/len(part) - 1} {
			judged(e, strings.Repeat(part, n))
		}
		// Generous: what this finds is a parser whose time grows with the square or worse.
		if took := time.Since(begin); took > 10*time.Second {
			t.Errorf("%q took %v", part, took)
		}
	}
}
