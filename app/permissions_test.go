package app_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"carrel/agent/model/fakewire"
	"carrel/app"
)

// sh is a call of bash.
func sh(script string) fakewire.Call {
	return fakewire.Call{Name: "bash", Input: fmt.Sprintf(`{"script":%q,"display_name":"Test"}`, script)}
}

// asking makes a house that asks, where the sandbox is off unless the environment says otherwise.
func asking(t *testing.T, steps []fakewire.Reply, environ ...string) (*house, app.Workspace) {
	t.Helper()
	server := fakewire.New(t, fakewire.Steps(steps...))
	h := newHouse(t, append([]string{"ANTHROPIC_BASE_URL=" + server.URL, "ANTHROPIC_API_KEY=sk-test-key", "CARREL_MODE="}, environ...)...)
	_, w := h.desk(app.NewWorkspace{Name: "careful", Model: "anthropic:claude-sonnet-5-5"})
	return h, w
}

// question waits for the next question that is not the one before.
func (h *house) question(w app.Workspace, before string) app.Question {
	h.t.Helper()
	var q app.Question
	h.wait("a question", func(e app.Event) bool {
		c, ok := e.(app.ConversationChanged)
		if ok && c.Workspace == w.ID && c.Status.Activity == app.Waiting && c.Status.Question != nil && c.Status.Question.Call != before {
			q = *c.Status.Question
			return true
		}
		return false
	})
	return q
}

func (h *house) answer(w app.Workspace, q app.Question, a app.Answer, text string) {
	h.t.Helper()
	err := h.api.Permissions.Answer(context.Background(), app.AnswerQuestion{Workspace: w.ID, Call: q.Call, Answer: a, Text: text})
	if err != nil {
		h.t.Fatal(err)
	}
}

func TestACommandAsksAndRunsOnceAllowed(t *testing.T) {
	ctx := context.Background()
	h, w := asking(t, []fakewire.Reply{
		{Calls: []fakewire.Call{sh("ls")}},
		{Calls: []fakewire.Call{sh("git init made && ls > list")}},
		{Calls: []fakewire.Call{sh("git init made && ls > list")}},
		{Calls: []fakewire.Call{sh("touch other")}},
		{Text: "Done."},
	})
	h.send(w, "Go")
	q := h.question(w, "")
	want := []app.Right{{Kind: "command", What: "git init made"}, {Kind: "write", What: "list"}}
	if !slices.Equal(q.Rights, want) || !slices.Equal(q.Always, []string{"Bash(git init made)", "Edit(./list)"}) || q.Outside {
		t.Errorf("%+v", q)
	}
	if got := h.listed(w.ID); got.Activity != app.Waiting || got.Mode != "ask" {
		t.Errorf("the sidebar is told of %s in mode %s", got.Activity, got.Mode)
	}
	if _, err := os.Stat(filepath.Join(w.Dir, "made")); err == nil {
		t.Error("it ran before")
	}
	h.answer(w, q, app.AnswerAlways, "")
	second := h.question(w, q.Call) // the third call runs by the saved rules
	h.answer(w, second, app.AnswerNo, "not that one")
	h.wait("the end", ended(w.ID, app.Done))
	for name, there := range map[string]bool{"made": true, "list": true, "other": false} {
		if _, err := os.Stat(filepath.Join(w.Dir, name)); (err == nil) != there {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := h.api.Permissions.Answer(ctx, app.AnswerQuestion{Workspace: w.ID, Call: q.Call, Answer: app.AnswerOnce}); code(err) != "answered" {
		t.Error(err)
	}
	text, err := os.ReadFile(h.root.Path("projects", w.ProjectID, "sandbox.jsonc"))
	if err != nil || !strings.Contains(string(text), "Bash(git init made)") {
		t.Errorf("%s %v", text, err)
	}
	now, err := h.api.Permissions.Get(ctx, app.ByID{ID: w.ID})
	if err != nil || len(now.Rules) != 2 || now.Rules[0].List != "allow_outside" || now.Rules[0].From != "project" {
		t.Errorf("%+v %v", now, err)
	}
	if err := h.api.Permissions.Revoke(ctx, app.RevokeRule{Workspace: w.ID, List: "allow_outside", Rule: "Bash(git init made)"}); err != nil {
		t.Error(err)
	}
	if now, err = h.api.Permissions.Get(ctx, app.ByID{ID: w.ID}); err != nil || len(now.Rules) != 1 {
		t.Errorf("%+v %v", now.Rules, err)
	}
}

func TestTheModeAndThePersonsRulesDecide(t *testing.T) {
	ctx := context.Background()
	edit := func(name string) fakewire.Call {
		return fakewire.Call{Name: "file_edit_insert", Input: fmt.Sprintf(`{"path":%q,"content":"x\n"}`, name)}
	}
	h, w := asking(t, []fakewire.Reply{
		{Calls: []fakewire.Call{edit("a"), edit("denied/b"), sh("rm -rf denied"), sh("touch granted")}},
		{Calls: []fakewire.Call{edit(".git/hooks/pre-commit")}},
		{Text: "Done."},
	})
	settings := `{"permissions": {"deny": ["Edit(denied/**)", "Bash(rm:*)"], "ask": ["Bash((("]}}`
	if err := os.WriteFile(h.root.Path("settings.jsonc"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := h.api.Conversations.SetMode(ctx, app.SetMode{Workspace: w.ID, Mode: "accept-edits"}); err != nil {
		t.Fatal(err)
	}
	if err := h.api.Conversations.SetMode(ctx, app.SetMode{Workspace: w.ID, Mode: "yes"}); code(err) != "bad_request" {
		t.Error(err)
	}
	if err := h.api.Permissions.Grant(ctx, app.GrantRules{Workspace: w.ID, Allow: []string{"Bash(a; b)"}}); code(err) != "bad_rule" {
		t.Error(err)
	}
	if err := h.api.Permissions.SetSandbox(ctx, app.SetSandbox{Workspace: w.ID, Mode: "none"}); code(err) != "bad_request" {
		t.Error(err)
	}
	h.send(w, "Go")
	q := h.question(w, "") // touch: an ask rule that can't be read asks for every command
	if q.Tool != "bash" || !strings.Contains(q.Rule, "can't be read") {
		t.Errorf("%+v", q)
	}
	h.answer(w, q, app.AnswerOnce, "")
	hook := h.question(w, q.Call) // what git runs asks though edits are accepted and the sandbox is off
	if hook.Tool != "file_edit_insert" || hook.Always != nil {
		t.Errorf("%+v", hook)
	}
	h.answer(w, hook, app.AnswerNo, "")
	h.wait("the end", ended(w.ID, app.Done))
	var tools []string
	for _, e := range h.snapshot(w).Entries {
		if e.Tool != nil {
			tools = append(tools, e.Tool.Name+" "+string(e.Tool.Status))
		}
	}
	if want := []string{"file_edit_insert ok", "file_edit_insert failed", "bash failed", "bash ok"}; !slices.Equal(tools[:4], want) {
		t.Error(tools)
	}
	if _, err := os.Stat(filepath.Join(w.Dir, "granted")); err != nil {
		t.Error(err)
	}
}

func TestAnInterruptEndsAQuestion(t *testing.T) {
	h, w := asking(t, []fakewire.Reply{{Calls: []fakewire.Call{sh("touch made")}}})
	h.send(w, "Go")
	q := h.question(w, "")
	if err := h.api.Conversations.Interrupt(context.Background(), app.ByID{ID: w.ID}); err != nil {
		t.Fatal(err)
	}
	c := h.snapshot(w)
	if c.Status.Activity != app.Interrupted || c.Status.Question != nil || c.Entries[len(c.Entries)-2].Tool.Status != app.ToolInterrupted {
		t.Errorf("%+v", c.Status)
	}
	err := h.api.Permissions.Answer(context.Background(), app.AnswerQuestion{Workspace: w.ID, Call: q.Call, Answer: app.AnswerAlways})
	if code(err) != "answered" {
		t.Error(err)
	}
}

// outside is a call of bash that asks to leave the sandbox.
func outside(script string) fakewire.Call {
	return fakewire.Call{Name: "bash", Input: fmt.Sprintf(`{"script":%q,"display_name":"Test","dangerouslyDisableSandbox":true}`, script)}
}

func TestConfinedCommandsRunByThemselvesAndLeaveTheSandboxOnlyByConsent(t *testing.T) {
	ctx := context.Background()
	away := t.TempDir()
	target := filepath.Join(away, "x")
	h, w := asking(t, []fakewire.Reply{
		{Calls: []fakewire.Call{sh("echo in > inside && cat inside; echo $CARREL_WORKSPACE_NAME")}},
		{Calls: []fakewire.Call{sh("echo out > " + target)}},
		{Calls: []fakewire.Call{outside("echo out > " + target)}},
		{Calls: []fakewire.Call{sh("git init -q nested && echo x > nested/.git/hooks/post-merge; git status --short")}},
		{Text: "Done."},
	}, "CARREL_SANDBOX=", "CARREL_MODE=auto")
	now, err := h.api.Permissions.Get(ctx, app.ByID{ID: w.ID})
	if err != nil {
		t.Fatal(err)
	}
	if !now.Sandbox.On {
		t.Fatalf("nothing confines commands here: %s", now.Sandbox.Why)
	}
	if err := os.WriteFile(h.root.Path("settings.jsonc"), []byte(`{"sandbox": {"auto_allow": true}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	h.send(w, "Go")
	q := h.question(w, "")
	if !q.Outside || q.Rights[0].Kind != "outside" {
		t.Errorf("%+v", q)
	}
	if _, err := os.Stat(target); err == nil {
		t.Error("the sandbox let it write outside")
	}
	h.answer(w, q, app.AnswerOnce, "")
	h.wait("the end", ended(w.ID, app.Done))
	if text, err := os.ReadFile(target); err != nil || string(text) != "out\n" {
		t.Errorf("%q %v", text, err)
	}
	var outputs []string
	for _, e := range h.snapshot(w).Entries {
		if e.Tool != nil {
			outputs = append(outputs, string(e.Tool.Status)+" "+e.Tool.Output)
		}
	}
	if len(outputs) != 4 || !strings.HasPrefix(outputs[0], "ok in\ncareful\n") || !strings.HasPrefix(outputs[1], "failed") || !strings.Contains(outputs[3], "quarantine") {
		t.Errorf("%q", outputs)
	}
	if _, err := os.Lstat(filepath.Join(w.Dir, "nested", ".git", "hooks", "post-merge")); err == nil {
		t.Error("a planted hook stayed")
	}
	if err := h.api.Conversations.SetMode(ctx, app.SetMode{Workspace: w.ID, Mode: "plan"}); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(w.Dir, "inside")); err != nil {
		t.Fatal(err)
	}
	h.forgetEvents()
	h.send(w, "Plan") // the model does the same again
	h.answer(w, h.question(w, ""), app.AnswerNo, "")
	h.wait("the end", ended(w.ID, app.Done))
	if _, err := os.Stat(filepath.Join(w.Dir, "inside")); err == nil {
		t.Error("plan mode wrote")
	}
}
