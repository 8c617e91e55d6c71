package permission_test

import (
	"slices"
	"strings"
	"testing"

	"carrel/agent/permission"
)

// Each line is what a model could write that wants something to run which looks as if it only read. "mine"
// stands for a program of its own.
func TestWhatOnlyLooksHarmlessAsks(t *testing.T) { // O-TRUST-03
	each(t, engine(t), permission.Ask, table(t, "attacks_bare.txt"))
	e := engine(t)
	for script := range strings.SplitSeq(strings.TrimSpace(table(t, "attacks_bare.txt")), "\n") {
		script = strings.ReplaceAll(script, "␤", "\n")
		for _, mode := range []permission.Mode{permission.ModeAsk, permission.ModePlan, permission.ModeAcceptEdits} {
			v := e.Judge(mode, permission.Request{Tool: "bash", Command: script})
			if v.Decision == permission.Allow && (mode != permission.ModeAcceptEdits || len(v.Rights) > 0) && !edits(e, script) {
				t.Errorf("%q runs where nothing confines it, in mode %s", script, mode)
			}
		}
	}
}

// edits reports whether all that a script needs is to write files.
func edits(e *permission.Engine, script string) bool {
	v := judged(e, script)
	return !slices.ContainsFunc(v.Rights, func(r permission.Right) bool { return r.Kind != permission.RightWrite })
}

// Here a person allowed the programs with rules, and the model makes them do something else.
func TestARuleForAProgramIsNoRuleForWhatItCanBeMadeToRun(t *testing.T) {
	e := engine(t, "Bash(git:*)", "Bash(go:*)", "Bash(npm:*)", "Bash(cargo:*)", "Bash(make:*)", "Bash(pytest:*)", "Bash(ssh:*)", "Bash(scp:*)", "Bash(less:*)",
		"Bash(vim:*)", "Bash(curl:*)", "Bash(tar:*)", "Bash(rsync:*)", "Bash(sort:*)", "Bash(rg:*)", "Bash(man:*)", "Bash(sed:*)", "Bash(awk:*)", "Bash(find:*)")
	each(t, e, permission.Ask, table(t, "attacks_ruled.txt"))
	each(t, e, permission.Allow, `
		git commit -m "$(cat msg)"
		git fetch origin
		go test -run X -count=1 ./...
		go test ./... -args "$X"
		go build -ldflags "-s -w -X main.version=1" ./...
		npm test -- --watch=false
		cargo test --release -- --nocapture
		make -j4 all
		pytest -x tests
		ssh host uptime
		less a
		tar xzf a.tgz`)
}

// A repository that lies in the project was perhaps written by the agent, settings and all.
func TestGitInAnotherFolderAsksWhereNothingConfinesIt(t *testing.T) {
	e := engine(t)
	for script, want := range map[string]permission.Decision{
		"git status": permission.Allow, "git -C sub status": permission.Ask, "cd sub && git log": permission.Ask, "cd sub && ls": permission.Allow,
	} {
		if v := e.Judge(permission.ModeAsk, permission.Request{Tool: "bash", Command: script}); v.Decision != want {
			t.Errorf("%s: %s", script, v.Decision)
		}
		if v := judged(e, script); v.Decision != permission.Allow {
			t.Errorf("%s, confined: %s", script, v.Decision)
		}
	}
}

func TestOnlyWhatIsSafeIsOfferedAsAPrefix(t *testing.T) {
	for script, want := range map[string]string{
		"go test ./...":                     "Bash(go test:*)",
		"go vet ./x && go test -run Y ./..": "Bash(go test:*), Bash(go vet:*)",
		"go build ./...":                    "Bash(go build:*)",
		"npm run test:unit -- --watch":      "Bash(npm run test:unit:*)",
		"npm test":                          "Bash(npm test:*)",
		"cargo clippy":                      "Bash(cargo clippy:*)",
		"git commit -m x":                   "Bash(git commit:*)",
		"go test ./... && make":             "Bash(go test:*), Bash(make)",
	} {
		v := judged(engine(t), script)
		if got := strings.Join(v.Broad(), ", "); got != want || len(v.Always()) == 0 {
			t.Errorf("%s: %q, want %q (%v)", script, got, want, v.Always())
		}
		e := engine(t, v.Broad()...)
		if v := judged(e, script); v.Decision != permission.Allow {
			t.Errorf("%s still asks with %v", script, e.Rules.Allow)
		}
		for _, other := range []string{script + "; mine", "mine | " + script, script + " > ../x", "PATH=/tmp " + script, script + " $(mine)"} {
			if v := judged(e, other); v.Decision == permission.Allow {
				t.Errorf("%s is allowed by %v", other, e.Rules.Allow)
			}
		}
	}
	for _, script := range []string{"python3 x.py", "node x.js", "bash x.sh", "sh -c 'go test'", "env CI=1 go test", "FOO=1 go test", "timeout 5 go test", "sudo go test", "xargs go test",
		"go run .", "go test -exec x", "go test -o x", "go test > x", "go test $(x)", "go test $x", "rm x", "git push", "git reset --hard", "curl x", "make test", "npx x", "npm exec x",
		"npm run 'a b'", "npm run -s x", "/tmp/go test", "./go test", "docker run x", "find . -delete", "git -C x commit", "go", "npm run"} {
		if got := judged(engine(t), script).Broad(); got != nil {
			t.Errorf("%s: %v is offered", script, got)
		}
	}
	v := engine(t).Judge(permission.ModeAsk, permission.Request{Tool: "bash", Command: "go test ./...", Sandboxed: true, Unsandboxed: true})
	if v.Broad() != nil {
		t.Errorf("out of the sandbox: %v", v.Broad())
	}
}

func TestWhatIsHiddenInACommandIsWrittenOut(t *testing.T) {
	for text, want := range map[string]string{
		"mine \u202etxt.exe":    `mine \u{202E}txt.exe`,
		"mine\u200b a":          `mine\u{200B} a`,
		"mine\u00a0a":           `mine\u{00A0}a`,
		"m\u0456ne":             `m\u{0456}ne`, // a Cyrillic letter
		"mine \u2066a\u2069":    `mine \u{2066}a\u{2069}`,
		"mine \U000e0041":       `mine \u{E0041}`,
		"mine a\ufe0f":          `mine a\u{FE0F}`,
		"mine \u2028a":          `mine \u{2028}a`,
		"mine \u3164":           `mine \u{3164}`,
		"mine \u2215etc\u2215x": `mine \u{2215}etc\u{2215}x`,
		"mine \uff0detc":        `mine \u{FF0D}etc`,
		"mine отчёт.txt":        "mine отчёт.txt",
		"mine 漢字 ñ é αβγ":       "mine 漢字 ñ é αβγ",
		"mine a\tb\nc":          "mine a\tb\nc",
	} {
		if got := permission.Visible(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		v := judged(engine(t), text)
		if v.Decision != permission.Ask {
			t.Errorf("%q: %s", text, v.Decision)
			continue
		}
		if strings.ContainsAny(v.Rights[0].What, "\u202e\u200b\u00a0\u0456") {
			t.Errorf("%q is shown as %q", text, v.Rights[0].What)
		}
		if want != text && v.Always() != nil {
			t.Errorf("%q: %v is offered", text, v.Always())
		}
	}
}

func TestNothingOfALongQuestionIsLeftOutInSilence(t *testing.T) {
	var long []string
	for i := range 40 {
		long = append(long, "mine "+strings.Repeat("x", i+1))
	}
	v := judged(engine(t), strings.Join(long, "; "))
	if last := v.Rights[len(v.Rights)-1].What; !strings.Contains(last, "20 more") || v.Always() != nil {
		t.Errorf("%q, %v", last, v.Always())
	}
	v = judged(engine(t), "mine "+strings.Repeat("x", 5000))
	if !strings.Contains(v.Rights[0].What, "more bytes") {
		t.Errorf("%.40q", v.Rights[0].What)
	}
}
