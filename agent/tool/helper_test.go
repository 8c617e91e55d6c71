package tool_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"carrel/agent/tool"
	"carrel/workspaces/runtime"
)

// desk is a workspace in which tools are called.
type desk struct {
	t   *testing.T
	dir string
	env tool.Env
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	home := t.TempDir()
	rt, err := runtime.NewLocal(runtime.Worktree, t.TempDir(), runtime.Options{
		Tag: "test",
		Env: runtime.BaseEnv([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1",
			"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b.c", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b.c"}),
	})
	if err != nil {
		t.Fatal(err)
	}
	return &desk{t: t, dir: rt.Dir(), env: tool.Env{Runtime: rt, SpillDir: filepath.Join(home, "spill")}}
}

// in is the input of a call.
type in map[string]any

// call runs a tool.
func (d *desk) call(name string, input in) tool.Result {
	d.t.Helper()
	found, ok := tool.Find(tool.Builtin(), name)
	if !ok {
		d.t.Fatalf("no tool %s", name)
	}
	raw, err := json.Marshal(input)
	if err != nil {
		d.t.Fatal(err)
	}
	return found.Run(d.t.Context(), tool.Call{ID: "call_1", Input: raw, Env: d.env})
}

// ok runs a tool that must succeed, and gives its text.
func (d *desk) ok(name string, input in) string {
	d.t.Helper()
	r := d.call(name, input)
	if r.IsError {
		d.t.Fatalf("%s failed: %s", name, text(r))
	}
	return text(r)
}

// fails runs a tool that must fail with a text that holds each of the words.
func (d *desk) fails(name string, input in, words ...string) {
	d.t.Helper()
	r := d.call(name, input)
	for _, w := range words {
		if !r.IsError || !strings.Contains(text(r), w) {
			d.t.Errorf("%s: want an error with %q, got %v: %s", name, w, r.IsError, text(r))
		}
	}
}

func (d *desk) path(name string) string { return filepath.Join(d.dir, name) }

func (d *desk) write(name, data string) {
	d.t.Helper()
	if err := os.MkdirAll(filepath.Dir(d.path(name)), 0o755); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(d.path(name), []byte(data), 0o644); err != nil {
		d.t.Fatal(err)
	}
}

// holds checks a file's bytes.
func (d *desk) holds(name, want string) {
	d.t.Helper()
	data, err := os.ReadFile(d.path(name))
	if err != nil {
		d.t.Fatal(err)
	}
	if string(data) != want {
		d.t.Errorf("%s is %q, want %q", name, data, want)
	}
}

// bash runs a script that must succeed, and gives its output without the last line.
func (d *desk) bash(script string) string {
	d.t.Helper()
	out := d.ok("bash", in{"script": script, "display_name": "test"})
	return out[:strings.LastIndex(out, "[")]
}

func text(r tool.Result) string {
	var b strings.Builder
	for _, p := range r.Parts {
		b.WriteString(p.Text)
	}
	return b.String()
}
