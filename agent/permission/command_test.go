package permission_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"carrel/agent/permission"
)

// rules parses rules that must be right.
func rules(t testing.TB, texts ...string) []permission.Rule {
	t.Helper()
	var out []permission.Rule
	for _, text := range texts {
		r, err := permission.ParseRule(text)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

func engine(t testing.TB, allow ...string) *permission.Engine {
	t.Helper()
	return &permission.Engine{Dir: "/h/me/app", Home: "/h/me", Rules: permission.Rules{Allow: rules(t, allow...)}}
}

// judged is what becomes of a script in the sandbox, in ask mode.
func judged(e *permission.Engine, script string) permission.Verdict {
	return e.Judge(permission.ModeAsk, permission.Request{Tool: "bash", Command: script, Sandboxed: true})
}

// table reads scripts, one a line.
func table(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// each judges scripts, one a line; ␤ stands for a new line in one.
func each(t *testing.T, e *permission.Engine, want permission.Decision, scripts string) {
	t.Helper()
	for script := range strings.SplitSeq(strings.TrimSpace(scripts), "\n") {
		script = strings.ReplaceAll(strings.TrimSpace(script), "␤", "\n")
		if v := judged(e, script); v.Decision != want {
			t.Errorf("%-50s %s, want %s (%s %v)", script, v.Decision, want, v.Reason, v.Rights)
		}
	}
}

// O-TRUST-03
func TestOnlyTheAllowedCommandItselfRunsUnasked(t *testing.T) {
	e := engine(t, "Bash(git status)")
	e.Rules.Deny = rules(t, "Bash(rm:*)")
	each(t, e, permission.Allow, table(t, "one_allow.txt"))
	each(t, e, permission.Ask, table(t, "one_ask.txt"))
	each(t, e, permission.Deny, table(t, "one_deny.txt"))
}

func TestRulesOfTwoWordsSeeThroughOptionsBetweenThem(t *testing.T) {
	e := engine(t, "Bash(git:*)")
	e.Rules.Deny = rules(t, "Bash(git push:*)")
	each(t, e, permission.Deny, `
		git push
		git push origin main
		git -C /tmp push
		git --no-pager push
		git -c color.ui=never -C x push
		/usr/bin/git push`)
	each(t, e, permission.Allow, `
		git fetch origin
		git commit -m "push"
		git log push`)
	each(t, e, permission.Ask, `
		git $X
		git "$(cat x)"`)
}

func TestAPrefixStopsAtAWordsEnd(t *testing.T) {
	e := engine(t, "Bash(npm run test:*)", "Bash(go test *)", "Bash(make)")
	each(t, e, permission.Allow, table(t, "prefix_allow.txt"))
	each(t, e, permission.Ask, table(t, "prefix_ask.txt"))
}

func TestOptionsThatWriteOrRunCountAsThat(t *testing.T) {
	e := engine(t, "Bash(sort:*)", "Bash(git:*)", "Bash(tar:*)", "Bash(rg:*)", "Bash(find:*)", "Bash(sed:*)", "Bash(awk:*)", "Bash(curl:*)",
		"Bash(tee:*)", "Bash(dd:*)", "Bash(xargs:*)", "Bash(env:*)", "Bash(timeout:*)", "Bash(bash:*)", "Bash(sudo:*)", "Bash(wget:*)",
		"Bash(uniq:*)", "Bash(date:*)", "Bash(fd:*)", "Bash(rsync:*)", "Bash(man:*)", "Bash(yq:*)")
	each(t, e, permission.Allow, table(t, "options_allow.txt"))
	each(t, e, permission.Ask, table(t, "options_ask.txt"))
}

func TestWhatOnlyReadsRunsUnasked(t *testing.T) {
	e := engine(t)
	each(t, e, permission.Allow, table(t, "reads_allow.txt"))
	each(t, e, permission.Ask, table(t, "reads_ask.txt"))
}

func TestWhatTheShellCantReadAsks(t *testing.T) {
	e := engine(t, "Bash(ls:*)")
	each(t, e, permission.Ask, `
		ls (
		ls "
		ls $(
		ls; fi
		ls )
		ls &&
		ls ;;`)
	for _, script := range []string{"ls " + strings.Repeat("a", 64<<10), "ls " + strings.Repeat("$(", 3000), "ls \xff", "ls \x01", "ls a\r", strings.Repeat("ls;", 1000)} {
		if v := judged(e, script); v.Decision != permission.Ask || len(v.Always()) > 0 {
			t.Errorf("%.20q: %s %v", script, v.Decision, v.Always())
		}
	}
}

func TestAlwaysAllowsTheSameCommandAndNoOther(t *testing.T) {
	for _, script := range []string{"npm test", "go build -o 'a b' ./...", "FOO='x y' make \"it's\"", "rm *.o", "make && ls > out.txt", "sudo make install",
		"find . -name x -exec rm {} +", "git -c core.pager=less log", "npm run test:unit", "echo x | xargs rm -f", "timeout 5 npm test", "bash -c 'npm test; ls'", "mkdir -p a/b"} {
		e := engine(t)
		v := judged(e, script)
		granted := v.Always()
		if v.Decision != permission.Ask || len(granted) == 0 {
			t.Errorf("%s: %s %v %v", script, v.Decision, v.Rights, granted)
			continue
		}
		e.Rules.Allow = rules(t, granted...)
		if v := judged(e, script); v.Decision != permission.Allow {
			t.Errorf("%s: still %s with %v: %v", script, v.Decision, granted, v.Rights)
		}
		for _, other := range []string{script + "; rm -rf ~", script + " && mine", "mine | " + script, "env PATH=/tmp mine " + script} {
			if v := judged(e, other); v.Decision == permission.Allow {
				t.Errorf("%s is allowed by %v", other, granted)
			}
		}
	}
	for _, script := range []string{"make $X", "$X", "eval make", "make > \"$X\"", "if", "xargs -I{} {}", "npm run test:*"} {
		if v := judged(engine(t), script); v.Decision != permission.Ask || v.Always() != nil {
			t.Errorf("%s: %s %v", script, v.Decision, v.Always())
		}
	}
}

func TestOutOfTheSandboxIsAPersonsDecision(t *testing.T) {
	ask := func(e *permission.Engine, mode permission.Mode, script string) permission.Decision {
		return e.Judge(mode, permission.Request{Tool: "bash", Command: script, Sandboxed: true, Unsandboxed: true}).Decision
	}
	e := engine(t, "Bash(npm ci)", "Bash")
	e.AutoAllow = true
	for _, mode := range []permission.Mode{permission.ModeAsk, permission.ModeAcceptEdits, permission.ModePlan, permission.ModeAuto} {
		for _, script := range []string{"ls", "npm test", "npm ci && ls"} {
			if d := ask(e, mode, script); d != permission.Ask {
				t.Errorf("%s in %s: %s", script, mode, d)
			}
		}
		want := permission.Allow
		if mode == permission.ModePlan {
			want = permission.Ask
		}
		if d := ask(e, mode, "npm ci"); d != want {
			t.Errorf("npm ci in %s: %s", mode, d)
		}
	}
	if d := ask(e, permission.ModeBypass, "npm test"); d != permission.Allow {
		t.Errorf("bypass: %s", d)
	}
	e.Rules.Allow = []permission.Rule{rules(t, "Bash(npm ci)")[0].Inside()}
	if d := ask(e, permission.ModeAsk, "npm ci"); d != permission.Ask {
		t.Errorf("what was granted in the sandbox lets it out: %s", d)
	}
	if v := judged(e, "npm ci"); v.Decision != permission.Allow {
		t.Errorf("what was granted in the sandbox: %s", v.Decision)
	}
}
