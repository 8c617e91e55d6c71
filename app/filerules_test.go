package app_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"carrel/agent/model/fakewire"
	"carrel/app"
)

// read and change are calls of file tools.
func readCall(path string) fakewire.Call {
	return fakewire.Call{Name: "file_read", Input: fmt.Sprintf(`{"path":%q}`, path)}
}

func change(path string) fakewire.Call {
	return fakewire.Call{Name: "file_edit_insert", Input: fmt.Sprintf(`{"path":%q,"content":"planted\n"}`, path)}
}

// furnish puts files, links and a rule into a workspace, and gives a folder outside to which a link leads.
func furnish(t *testing.T, h *house, w app.Workspace) string {
	t.Helper()
	for _, dir := range []string{"secret", "deep", "sub", "SECRET", ".VSCode", ".Git/hooks"} {
		if err := os.MkdirAll(filepath.Join(w.Dir, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(w.Dir, "secret", "key"), "the key\n")
	write(t, filepath.Join(w.Dir, "SECRET", "key"), "the key\n")
	write(t, filepath.Join(w.Dir, "plain"), "plain\n")
	away := t.TempDir()
	for name, to := range map[string]string{"link": "secret", "deep/link": "../secret/key", "hooks": ".git/hooks", "repo": ".", "up": away} {
		if err := os.Symlink(to, filepath.Join(w.Dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	settings := fmt.Sprintf(`{"sandbox": {"deny_read": [%q]}}`, filepath.Join(w.Dir, "secret"))
	if err := os.WriteFile(h.root.Path("settings.jsonc"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	return away
}

// What the policy keeps from commands it keeps from file tools, by whatever name the file is called.
// O-TRUST-02
func TestFileToolsFollowTheRulesOfCommands(t *testing.T) {
	reads := func(dir string) []string {
		return []string{"secret/key", "./secret/../secret/key", dir + "/secret/key", "link/key", "deep/link", "/proc/self/root" + dir + "/secret/key",
			"/proc/self/cwd/secret/key", "SECRET/key", "/etc/shadow", "../" + filepath.Base(dir) + "/secret/key"}
	}
	writes := func(dir string) []string {
		return []string{".git/hooks/pre-commit", "hooks/pre-commit", "repo/.git/config", dir + "/.git/hooks/post-merge", "/proc/self/root" + dir + "/.vscode/tasks.json",
			".VSCode/tasks.json", ".Git/hooks/x", "sub/.claude/settings.json", ".envrc", "sub/.envrc", "/tmp/elsewhere", "up/x"}
	}
	h, w := asking(t, nil, "CARREL_SANDBOX=", "CARREL_MODE=accept-edits")
	away := furnish(t, h, w)
	steps := []fakewire.Reply{{Calls: []fakewire.Call{readCall("plain"), change("fine"), change("sub/fine")}}}
	for _, p := range reads(w.Dir) {
		steps = append(steps, fakewire.Reply{Calls: []fakewire.Call{readCall(p)}})
	}
	for _, p := range writes(w.Dir) {
		steps = append(steps, fakewire.Reply{Calls: []fakewire.Call{change(p)}})
	}
	server := fakewire.New(t, fakewire.Steps(append(steps, fakewire.Reply{Text: "Done."})...))
	h.stop()
	h.forgetEvents()
	h.start("ANTHROPIC_BASE_URL="+server.URL, "ANTHROPIC_API_KEY=sk-test-key", "CARREL_SANDBOX=", "CARREL_MODE=accept-edits")
	h.send(w, "Go")
	seen := map[string]bool{}
	for range writes(w.Dir) { // each asks, and is refused
		var q app.Question
		h.wait("the next question", func(e app.Event) bool {
			c, ok := e.(app.ConversationChanged)
			if !ok || c.Status.Question == nil || seen[c.Status.Question.Call] {
				return false
			}
			q = *c.Status.Question
			return true
		})
		if q.Rights[0].Kind != "write" {
			t.Errorf("%+v", q)
		}
		seen[q.Call] = true
		h.answer(w, q, app.AnswerNo, "")
	}
	h.wait("the end", ended(w.ID, app.Done))
	n := 0
	for _, e := range h.snapshot(w).Entries {
		if e.Tool == nil {
			continue
		}
		n++
		fine := n <= 3
		if ok := e.Tool.Status == app.ToolOK; ok != fine || strings.Contains(e.Tool.Output, "the key") {
			t.Errorf("%s: %s %s", e.Tool.Input, e.Tool.Status, e.Tool.Output)
		}
	}
	if n != 3+len(reads("/x"))+len(writes("/x")) {
		t.Errorf("%d calls", n)
	}
	left, err := os.ReadDir(away)
	if err != nil || len(left) != 0 {
		t.Errorf("written outside: %v %v", left, err)
	}
}
