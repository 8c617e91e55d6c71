package app_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"carrel/agent/model/fakewire"
	"carrel/app"
)

func TestAPrefixIsSavedWhereThePersonSawItAndCanBeTakenBack(t *testing.T) {
	ctx := context.Background()
	h, w := asking(t, []fakewire.Reply{
		{Calls: []fakewire.Call{sh("git add README.md")}},
		{Calls: []fakewire.Call{sh("git add .")}},
		{Calls: []fakewire.Call{sh("git add --chmod=+x .")}},
		{Text: "Done."},
	})
	h.send(w, "Go")
	q := h.question(w, "")
	if !slices.Equal(q.Always, []string{"Bash(git add README.md)"}) || !slices.Equal(q.Broad, []string{"Bash(git add:*)"}) {
		t.Fatalf("%+v", q)
	}
	answer := app.AnswerQuestion{Workspace: w.ID, Call: q.Call, Answer: app.AnswerAlways, Rules: []string{"Bash"}}
	if err := h.api.Permissions.Answer(ctx, answer); code(err) != "bad_request" {
		t.Errorf("a rule that was not offered: %v", err)
	}
	answer.Rules = q.Broad
	if err := h.api.Permissions.Answer(ctx, answer); err != nil {
		t.Fatal(err)
	}
	h.wait("the end", ended(w.ID, app.Done)) // the others run by the prefix

	saved, err := h.api.Permissions.Saved(ctx)
	file := h.root.Path("projects", w.ProjectID, "sandbox.jsonc")
	if err != nil || len(saved) != 1 || saved[0].Rule != "Bash(git add:*)" || saved[0].Project != w.ProjectID || saved[0].List != "allow_outside" || saved[0].File != file {
		t.Fatalf("%+v %v", saved, err)
	}
	if err := h.api.Permissions.Revoke(ctx, app.RevokeRule{Workspace: w.ID, Rule: "Bash(git add:*)"}); err != nil {
		t.Fatal(err)
	}
	h.forgetEvents()
	h.send(w, "Again")
	h.question(w, q.Call) // the model does the same again
	if err := h.api.Conversations.Interrupt(ctx, app.ByID{ID: w.ID}); err != nil {
		t.Fatal(err)
	}
}

func TestSavedRulesAreListedFromEverywhereAndRemoved(t *testing.T) {
	ctx := context.Background()
	h, w := asking(t, nil)
	settings := "{\"permissions\": {\n// mine\n\"allow\": [\"Bash(ls:*)\"], \"ask\": [\"Bash(((\"], \"deny\": [\"Bash(rm:*)\"]}}"
	if err := os.WriteFile(h.root.Path("settings.jsonc"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	for list, text := range map[string]string{"allow": "Edit(./a)", "allow_outside": "Bash(make)", "allowed_domains": "example.org"} {
		if err := h.root.Grant(w.ProjectID, list, text); err != nil {
			t.Fatal(err)
		}
	}
	listed := func() string {
		saved, err := h.api.Permissions.Saved(ctx)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, s := range saved {
			where := "settings"
			if s.Project != "" {
				where = "project"
			}
			if s.Problem != "" {
				where += " broken"
			}
			out = append(out, s.List+" "+s.Rule+" "+where)
		}
		return strings.Join(out, "; ")
	}
	want := "deny Bash(rm:*) settings; ask Bash((( settings broken; allow Bash(ls:*) settings; allow Edit(./a) project; allow_outside Bash(make) project; allowed_domains example.org project"
	if got := listed(); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	for _, r := range []app.RevokeRule{{List: "ask", Rule: "Bash((("}, {List: "allow", Rule: "Bash(ls:*)"}, {Project: w.ProjectID, List: "allowed_domains", Rule: "example.org"}, {Project: w.ProjectID, Rule: "Bash(make)"}} {
		if err := h.api.Permissions.Revoke(ctx, r); err != nil {
			t.Errorf("%+v: %v", r, err)
		}
	}
	if got := listed(); got != "deny Bash(rm:*) settings; allow Edit(./a) project" {
		t.Error(got)
	}
	text, err := os.ReadFile(h.root.Path("settings.jsonc"))
	if err != nil || !strings.Contains(string(text), "// mine") {
		t.Errorf("%s %v", text, err)
	}
	for _, r := range []app.RevokeRule{{List: "allow_outside", Rule: "x"}, {Project: w.ProjectID, List: "deny", Rule: "x"}} {
		if err := h.api.Permissions.Revoke(ctx, r); code(err) != "bad_request" {
			t.Errorf("%+v: %v", r, err)
		}
	}
}

func TestThePolicyIsToldInFull(t *testing.T) {
	h, w := asking(t, nil, "CARREL_SANDBOX=")
	s, err := h.api.Sandbox.Status(context.Background(), app.ByID{ID: w.ID})
	if err != nil {
		t.Fatal(err)
	}
	names := ""
	for _, g := range s.Guards {
		if g.Why == "" {
			t.Errorf("%v are guarded without a reason", g.Names)
		}
		names += " " + strings.Join(g.Names, " ")
	}
	for _, name := range []string{".git/hooks", ".git/config", ".vscode", ".claude", ".envrc", ".husky", ".carrel", ".bashrc"} {
		if !strings.Contains(names, name) {
			t.Errorf("%s is not among what is guarded:%s", name, names)
		}
	}
	if !strings.HasSuffix(s.Temp, "/tmp") || len(s.DenyRead) == 0 || len(s.Caches) == 0 {
		t.Errorf("%+v", s)
	}
	var holds []string
	for _, one := range s.Holds {
		holds = append(holds, string(one.Runner)+": "+one.Text)
	}
	want := []string{"hook: Runs outside of the sandbox: you trusted this project.", "terminal: Runs outside of the sandbox: it is your own terminal."}
	if len(holds) != 3 || !slices.Equal(holds[1:], want) || !strings.HasPrefix(holds[0], "agent: Confined: tier ") {
		t.Error(holds)
	}
}
