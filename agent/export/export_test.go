package export_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"carrel/agent/export"
	"carrel/agent/model"
	"carrel/agent/tool"
	"carrel/agent/transcript"
)

var update = flag.Bool("update", false, "write the golden files again")

// write makes a log and gives its folder.
func write(t *testing.T, records ...transcript.Record) string {
	t.Helper()
	dir := t.TempDir()
	log, err := transcript.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if _, err := log.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func user(text string) transcript.Record {
	return transcript.Record{Kind: transcript.User, Turn: "t", Message: &model.Message{Role: model.User,
		Parts: []model.Part{{Kind: model.Text, Text: text}}}}
}

func assistant(parts ...model.Part) transcript.Record {
	return transcript.Record{Kind: transcript.Assistant, Turn: "t", StepSeq: 1, Message: &model.Message{Role: model.Assistant,
		Model: "demo:story", Parts: parts, Usage: model.Usage{Input: 10, Output: 2}}, Cost: 1200, CostKnown: true}
}

func text(s string) model.Part { return model.Part{Kind: model.Text, Text: s} }

func callOf(id, name, input string) model.Part {
	return model.Part{Kind: model.ToolCall, CallID: id, Name: name, Input: input}
}

func result(id, output string, d tool.Detail) transcript.Record {
	return transcript.Record{Kind: transcript.ToolEnd, Turn: "t", StepSeq: 1, CallID: id, Tool: "bash", Detail: &d,
		Result: &model.Part{Kind: model.ToolResult, CallID: id, Parts: []model.Part{text(output)}}}
}

// talk is a conversation with something of everything.
func talk() []transcript.Record {
	two := 2
	return []transcript.Record{
		user("before the border"),
		{Kind: transcript.Boundary, Border: transcript.Clear},
		user("Fix the *parser*\n<!-- and this -->"),
		{Kind: transcript.TurnStart, Turn: "t", Model: "demo:story"},
		{Kind: transcript.StepStart, Turn: "t", Step: 1},
		assistant(model.Part{Kind: model.Reasoning, Text: "I wonder.\nHow?"}, text("I look:\n\n```go\nfunc main() {"),
			callOf("a", "bash", "{\"script\":\"cat <<'E'\\n````\\nE\",\"display_name\":\"Look </summary>\"}"),
			callOf("b", "file_edit_replace_string", `{"path":"a.go","old_string":"x","new_string":"y"}`),
			callOf("c", "bash", `{"scr`)),
		result("b", "Replaced.", tool.Detail{Diff: "@@ -1 +1 @@\n-x\n+y\n", Added: 1, Removed: 1}),
		result("a", "````\n\x1b[31mred\x1b[0m", tool.Detail{ExitCode: &two}),
		assistant(text("Done <details> and done.")),
		{Kind: transcript.Note, Note: "A note\nof two lines", Level: "info"},
		{Kind: transcript.TurnEnd, Turn: "t", End: transcript.Failed, Code: "quota", Error: "Nothing is left."},
		user("left message"),
		assistant(text("left answer")),
		{Kind: transcript.User, Turn: "t", From: 12, Message: &model.Message{Role: model.User, Parts: []model.Part{
			text("edited message"), {Kind: model.File, Name: "a`b.png", Mime: "image/png", Blob: "00ff"}}}},
	}
}

var about = export.About{Workspace: "w", Name: "fix-it", Title: "Fix *it*", Project: "Harbor", Branch: "fix-it",
	CreatedAt: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), At: time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)}

func exported(t *testing.T, dir string, o export.Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := export.Write(context.Background(), &b, dir, about, o); err != nil {
		t.Fatal(err)
	}
	if !utf8.Valid(b.Bytes()) {
		t.Error("it is not UTF-8")
	}
	return b.String()
}

// times are those at which the test ran.
var times = regexp.MustCompile(`2\d{3}-\d\d-\d\d([ T])\d\d:\d\d:\d\d(\.\d+Z| UTC)`)

func TestExports(t *testing.T) {
	dir := write(t, talk()...)
	for name, o := range map[string]export.Options{
		"shown.md":   {Format: export.Markdown},
		"all.md":     {Format: export.Markdown, Reasoning: true, Left: true},
		"shown.json": {Format: export.JSON},
		"all.json":   {Format: export.JSON, Reasoning: true, Left: true},
	} {
		t.Run(name, func(t *testing.T) {
			got := times.ReplaceAllString(exported(t, dir, o), "TIME")
			if *update {
				if err := os.WriteFile("testdata/"+name, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile("testdata/" + name)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), got); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

func TestWhatWasLeftIsLeftOutUnlessAskedFor(t *testing.T) {
	dir := write(t, talk()...)
	for _, f := range []export.Format{export.Markdown, export.JSON} {
		shown, all := exported(t, dir, export.Options{Format: f}), exported(t, dir, export.Options{Format: f, Left: true})
		for _, s := range []string{"left message", "left answer", "before the border"} {
			if strings.Contains(shown, s) || !strings.Contains(all, s) {
				t.Errorf("%s: %q", f, s)
			}
		}
	}
}

func TestAnExportedDocumentIsJSON(t *testing.T) {
	for _, records := range [][]transcript.Record{nil, talk()} {
		var d struct {
			Format  string
			Version int
			Entries []struct {
				Seq  uint64
				Kind string
				Left bool
			}
		}
		if err := json.Unmarshal([]byte(exported(t, write(t, records...), export.Options{Format: export.JSON, Left: true})), &d); err != nil {
			t.Fatal(err)
		}
		if d.Format != "carrel-conversation" || d.Version != 1 || (len(d.Entries) > 0) != (len(records) > 0) {
			t.Errorf("got %+v", d)
		}
	}
}

// broken takes some bytes, then fails.
type broken struct{ left int }

func (b *broken) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		return 0, os.ErrClosed
	}
	return len(p), nil
}

func TestAnExportEndsWithItsReader(t *testing.T) {
	dir := write(t, talk()...)
	for _, o := range []export.Options{{Format: export.Markdown}, {Format: export.JSON, Left: true}} {
		if err := export.Write(context.Background(), &broken{300}, dir, about, o); !errors.Is(err, os.ErrClosed) {
			t.Errorf("%s: %v", o.Format, err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := export.Write(ctx, &broken{1 << 20}, dir, about, o); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", o.Format, err)
		}
	}
	if err := export.Write(context.Background(), &broken{1 << 20}, dir, about, export.Options{Format: "pdf"}); err == nil {
		t.Error("a format that there is not")
	}
}
