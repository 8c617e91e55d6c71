package permission_test

import (
	"path"
	"slices"
	"strings"
	"testing"

	"carrel/agent/permission"
)

func edit(p string) permission.Request {
	return permission.Request{Tool: "file_edit_insert", Paths: []string{p}, Sandboxed: true}
}

func TestModesDecideWhatRunsByItself(t *testing.T) {
	run := func(script string, boxed bool) permission.Request {
		return permission.Request{Tool: "bash", Command: script, Sandboxed: boxed}
	}
	e := engine(t, "Bash(go test:*)")
	e.AutoAllow = true
	e.Guarded = func(p string) bool { return strings.HasPrefix(p, "/h/me/app/.git") }
	for _, c := range []struct {
		what    string
		r       permission.Request
		by      string // plan, ask, accept-edits, auto, bypass
		because string
	}{
		{"a read", permission.Request{Tool: "file_read", Paths: []string{"a.go"}}, "yyyyy", ""},
		{"a todo list", permission.Request{Tool: "todo_write", Harmless: true}, "yyyyy", ""},
		{"another tool", permission.Request{Tool: "mcp__x__y"}, "????y", ""},
		{"an edit", edit("a.go"), "n?yyy", ""},
		{"an edit that nothing holds", permission.Request{Tool: "file_edit_insert", Paths: []string{"a.go"}}, "n?y?y", ""},
		{"an edit outside", edit("../b.go"), "n???y", ""},
		{"an edit of a guarded file", edit(".git/config"), "n???y", ""},
		{"ls", run("ls", true), "yyyyy", ""},
		{"ls, not confined", run("ls", false), "yyyyy", ""},
		{"cat outside, confined", run("cat /etc/passwd", true), "yyyyy", ""},
		{"cat outside", run("cat /etc/passwd", false), "????y", ""},
		{"cat outside by a folder", run("cd / && cat etc/passwd", false), "????y", ""},
		{"cat of home", run("cat ~/.ssh/id", false), "????y", ""},
		{"cat of what is not known", run("cat $x", false), "????y", ""},
		{"cat of a pattern", run("cat *", false), "????y", ""},
		{"an option with a path", run("grep -f/etc/passwd x a", false), "????y", ""},
		{"an allowed command", run("go test ./...", true), "yyyyy", ""},
		{"an allowed command that nothing holds", run("go test ./...", false), "?yyyy", ""},
		{"a command", run("npm test", true), "???yy", ""},
		{"a command that nothing holds", run("npm test", false), "????y", ""},
		{"a command that writes", run("ls > a", true), "n?yyy", ""},
		{"a command that writes outside", run("ls > ../a", true), "n??yy", ""},
		{"a command that writes a guarded file", run("ls > .git/config", true), "n??yy", ""},
		{"a command that makes files", run("mkdir -p a && touch a/b", true), "n?yyy", ""},
		{"a command that edits in place", run("sed -i s/a/b/ a", true), "n?yyy", ""},
		{"a command that can't be read", run("$x", true), "???yy", ""},
	} {
		for i, mode := range permission.Modes() {
			want := map[byte]permission.Decision{'y': permission.Allow, '?': permission.Ask, 'n': permission.Deny}[c.by[i]]
			if v := e.Judge(mode, c.r); v.Decision != want {
				t.Errorf("%s in mode %s: %s, want %s (%s %v)", c.what, mode, v.Decision, want, v.Reason, v.Rights)
			}
		}
	}
}

func TestWithoutAutoAllowASandboxedCommandAsksInAutoModeToo(t *testing.T) {
	v := engine(t).Judge(permission.ModeAuto, permission.Request{Tool: "bash", Command: "make", Sandboxed: true})
	if v.Decision != permission.Ask {
		t.Error(v)
	}
}

func TestRulesBindEveryMode(t *testing.T) {
	e := engine(t)
	e.AutoAllow = true
	e.Rules.Deny = rules(t, "Bash(rm:*)", "Edit(secret/**)", "Read(.env)", "mcp__x__*", "WebFetch(domain:*.evil.org)")
	e.Rules.Ask = rules(t, "Bash(git push:*)", "Edit(docs)", "WebFetch")
	for _, mode := range permission.Modes() {
		for _, r := range []permission.Request{
			{Tool: "bash", Command: "rm x", Sandboxed: true},
			{Tool: "bash", Command: "rm x", Unsandboxed: true},
			{Tool: "bash", Command: "ls > secret/a", Sandboxed: true},
			{Tool: "bash", Command: "cd secret; ls > a", Sandboxed: true},
			{Tool: "bash", Command: "cat sub/.env", Sandboxed: true},
			{Tool: "bash", Command: "wc < .env", Sandboxed: true},
			edit("secret/a/b"), edit("/h/me/app/secret/a"), edit("x/../secret/a"),
			{Tool: "file_read", Paths: []string{"a/b/.env"}},
			{Tool: "mcp__x__y"},
			{Tool: "web_fetch", Paths: []string{"a.Evil.org"}},
		} {
			if v := e.Judge(mode, r); v.Decision != permission.Deny || v.Rule == "" {
				t.Errorf("%+v in mode %s: %+v", r, mode, v)
			}
		}
		for _, r := range []permission.Request{
			{Tool: "bash", Command: "git push", Sandboxed: true},
			{Tool: "web_fetch", Paths: []string{"good.org"}},
			{Tool: "bash", Command: "$x y", Sandboxed: true},
			{Tool: "bash", Command: "eval \"$x\"", Sandboxed: true},
			{Tool: "bash", Command: "ls | sh", Sandboxed: true},
		} {
			if v := e.Judge(mode, r); v.Decision != permission.Ask {
				t.Errorf("%+v in mode %s: %+v", r, mode, v)
			}
		}
	}
	if v := e.Judge(permission.ModeBypass, edit("docs/a")); v.Decision != permission.Ask || v.Rule != "Edit(docs)" {
		t.Errorf("%+v", v)
	}
}

// O-TRUST-02
func TestALinkCountsAsWhereItLeads(t *testing.T) {
	e := engine(t, "Edit(src/**)")
	e.Rules.Deny = rules(t, "Edit(/tmp/out/**)")
	links := map[string]string{"/h/me/app/out": "/tmp/out", "/h/me/app/src/l": "/tmp/else", "/h/me/app/sub/l": "/tmp/out"}
	e.Resolve = func(p string) string {
		for from, to := range links {
			if p == from || strings.HasPrefix(p, from+"/") {
				return path.Join(to, strings.TrimPrefix(p, from))
			}
		}
		return p
	}
	for _, c := range []struct {
		r    permission.Request
		want permission.Decision
	}{
		{edit("src/a"), permission.Allow},
		{edit("src/l/a"), permission.Ask},
		{edit("out/a"), permission.Deny},
		{edit("a"), permission.Allow},
		{permission.Request{Tool: "bash", Command: "ls > out/x", Sandboxed: true}, permission.Deny},
		{permission.Request{Tool: "bash", Command: "cd sub; ls > l/x", Sandboxed: true}, permission.Deny},
		{permission.Request{Tool: "bash", Command: "ls > src/l/x", Sandboxed: true}, permission.Ask},
		{permission.Request{Tool: "bash", Command: "cat out/x"}, permission.Ask},
		{permission.Request{Tool: "bash", Command: "cat src/x"}, permission.Allow},
	} {
		if v := e.Judge(permission.ModeAcceptEdits, c.r); v.Decision != c.want {
			t.Errorf("%+v: %+v, want %s", c.r, v, c.want)
		}
	}
}

func TestHiddenFilesAreNotRead(t *testing.T) {
	e := engine(t)
	e.Hidden = func(p string) bool { return strings.HasPrefix(p, "/h/me/app/keys") }
	read := permission.Request{Tool: "file_read", Paths: []string{"keys/a"}}
	if v := e.Judge(permission.ModeAsk, read); v.Decision != permission.Deny || v.Hint == "" {
		t.Errorf("%+v", v)
	}
	if v := e.Judge(permission.ModeAsk, permission.Request{Tool: "bash", Command: "cat keys/a"}); v.Decision != permission.Ask {
		t.Errorf("%+v", v)
	}
}

func TestHeadlessRefusesWithAHint(t *testing.T) {
	e := engine(t, "Bash(npm ci)")
	e.Headless = true
	v := judged(e, "npm test")
	if v.Decision != permission.Deny || !strings.Contains(v.Hint, "--allow-rule 'Bash(npm test)'") || len(v.Rights) != 1 {
		t.Errorf("%+v", v)
	}
	v = e.Judge(permission.ModeAsk, permission.Request{Tool: "bash", Command: "npm ci", Sandboxed: true, Unsandboxed: true})
	if v.Decision != permission.Allow {
		t.Errorf("a rule of the person does not cover a run out of the sandbox: %+v", v)
	}
}

func TestRulesAreReadOrSayWhatIsWrong(t *testing.T) {
	for _, text := range []string{"", "Bash(", "Bash()", "Bash(a; b)", "Bash(a | b)", "Bash(a > b)", "Bash($x)", "Bash($(a))", "Bash(a $x)", "Bash(if)", "Nothing(a)", "a b",
		"WebFetch(example.org)", "Edit(~me/x)", "Bash(\"a)", "Read()", "Bash(eval:*", strings.Repeat("a", 5000)} {
		if r, err := permission.ParseRule(text); err == nil {
			t.Errorf("%q was read as %v", text, r)
		}
	}
	for _, text := range []string{"Bash", "bash(a)", "Write(a)", "Edit(/a/*)", "Read(~/x)", "todo_write", "mcp__x__*", "WebFetch(domain:*.example.org)", "Bash(*)", " Bash(a b:*) "} {
		if _, err := permission.ParseRule(text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestPathRulesNameFoldersAndPatterns(t *testing.T) {
	for _, c := range []struct {
		rule     string
		yes, not []string
	}{
		{"Edit(*.go)", []string{"a.go", "x/y/a.go"}, []string{"a.rs", "../a.go"}},
		{"Edit(src)", []string{"src/a", "x/src/b/c"}, []string{"srcs/a"}},
		{"Edit(./src)", []string{"src/a"}, []string{"x/src/a"}},
		{"Edit(src/*.go)", []string{"src/a.go"}, []string{"src/x/a.go", "y/src/a.go"}},
		{"Edit(src/**/a.go)", []string{"src/a.go", "src/x/y/a.go"}, []string{"src/b.go"}},
		{"Edit(/tmp/**)", []string{"/tmp/a/b"}, []string{"tmp/a", "/tmpx"}},
		{"Edit(~/notes/*)", []string{"~/notes/a", "/h/me/notes/b"}, []string{"notes/a"}},
		{"Edit([)", nil, []string{"a"}},
	} {
		e := engine(t, c.rule)
		for _, p := range append(slices.Clone(c.yes), c.not...) {
			if v := e.Judge(permission.ModeAsk, edit(p)); (v.Decision == permission.Allow) != slices.Contains(c.yes, p) {
				t.Errorf("%s, %s: %s", c.rule, p, v.Decision)
			}
		}
	}
}

// Where nothing confines a command, it asks for what it could read outside of the project without naming it.
func TestReadsThatNoWordNamesAsk(t *testing.T) {
	e := engine(t)
	for script, want := range map[string]string{
		"date -f /etc/shadow": "ask",
		"date -uf/etc/shadow": "ask",
		"date -u +%F":         "allow",
		"sort --files0=a":     "ask",
		"strings @a":          "ask",
		"grep -nR x .":        "ask",
		"grep -rn x .":        "allow",
		"diff -ur a b":        "ask",
		"rg --fol x":          "ask",
		"jq -n 'import \"config\" as $a {search:\"/h/me/.docker\"}; $a'": "ask",
		"jq -n '1/env.TOKEN'":          "ask",
		"jq -r '.env,.include' a.json": "allow",
		"ps axeww":                     "ask",
		"ps -ef":                       "allow",
	} {
		for _, mode := range []permission.Mode{permission.ModePlan, permission.ModeAsk} {
			if v := e.Judge(mode, permission.Request{Tool: "bash", Command: script}); string(v.Decision) != want {
				t.Errorf("%s in mode %s: %s", script, mode, v.Decision)
			}
		}
	}
	for script, want := range map[string]permission.Decision{
		"sort --files0-from=a": permission.Allow, "grep -R x .": permission.Allow, "base64 -d a -o b": permission.Ask, "tree --output b": permission.Ask,
	} {
		if v := judged(e, script); v.Decision != want {
			t.Errorf("%s, confined: %s", script, v.Decision)
		}
	}
}
