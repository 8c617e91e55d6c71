package search_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"carrel/agent/model"
	"carrel/agent/search"
	"carrel/agent/transcript"
	"carrel/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// history is a data root with conversations.
type history struct {
	t    *testing.T
	root *store.Root

	mu       sync.Mutex
	sessions []search.Session
}

func newHistory(t *testing.T) *history {
	t.Helper()
	r, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return &history{t: t, root: r}
}

func (h *history) list(context.Context) ([]search.Session, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.sessions), nil
}

// index opens the index as another process would.
func (h *history) index() *search.Index {
	h.t.Helper()
	x := search.New(search.Options{Root: h.root, Sessions: h.list})
	h.t.Cleanup(func() {
		if err := x.Close(); err != nil {
			h.t.Error(err)
		}
	})
	return x
}

// say appends records to a conversation, which is new unless it is known.
func (h *history) say(workspace, project string, records ...transcript.Record) {
	h.t.Helper()
	h.mu.Lock()
	if s := (search.Session{Workspace: workspace, Project: project}); !slices.Contains(h.sessions, s) {
		h.sessions = append(h.sessions, s)
	}
	h.mu.Unlock()
	dir, err := h.root.SessionDir(workspace)
	if err != nil {
		h.t.Fatal(err)
	}
	log, err := transcript.Open(dir)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, r := range records {
		if _, err := log.Append(r); err != nil {
			h.t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		h.t.Fatal(err)
	}
}

func (h *history) drop(workspace string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sessions = slices.DeleteFunc(h.sessions, func(s search.Session) bool { return s.Workspace == workspace })
}

func user(text string) transcript.Record {
	return transcript.Record{Kind: transcript.User, Message: &model.Message{Role: model.User,
		Parts: []model.Part{{Kind: model.Text, Text: text}}}}
}

func assistant(parts ...model.Part) transcript.Record {
	return transcript.Record{Kind: transcript.Assistant, StepSeq: 1, Message: &model.Message{Role: model.Assistant, Parts: parts}}
}

func said(text string) model.Part { return model.Part{Kind: model.Text, Text: text} }

func result(text string) transcript.Record {
	return transcript.Record{Kind: transcript.ToolEnd, StepSeq: 1, CallID: "c1",
		Result: &model.Part{Kind: model.ToolResult, Parts: []model.Part{said(text)}}}
}

func syncAll(t *testing.T, x *search.Index) {
	t.Helper()
	if err := x.Sync(context.Background()); err != nil {
		t.Fatal(err)
	}
}

func find(t *testing.T, x *search.Index, q search.Query) search.Answer {
	t.Helper()
	a, err := x.Find(context.Background(), q)
	if err != nil {
		t.Fatalf("%+v: %v", q, err)
	}
	return a
}

// hits shows each hit as workspace/seq role: snippet, in an order of its own.
func hits(a search.Answer) []string {
	out := []string{}
	for _, h := range a.Hits {
		s := fmt.Sprintf("%s/%d %s: ", h.Workspace, h.Seq, h.Role)
		if h.Left {
			s += "(left) "
		}
		for _, p := range h.Snippet {
			if p.Hit {
				s += "[" + p.Text + "]"
			} else {
				s += p.Text
			}
		}
		out = append(out, s)
	}
	slices.Sort(out)
	return out
}

func expect(t *testing.T, x *search.Index, q search.Query, want ...string) {
	t.Helper()
	if d := cmp.Diff(append([]string{}, want...), hits(find(t, x, q))); d != "" {
		t.Errorf("%+v (-want +got)\n%s", q, d)
	}
}

func TestWhatWasSaidIsFound(t *testing.T) {
	h := newHistory(t)
	h.say("alpha", "harbor", user("Please mend the crane"),
		assistant(said("I look at the crane."), model.Part{Kind: model.Reasoning, Text: "crane secrets"},
			model.Part{Kind: model.ToolCall, CallID: "c1", Name: "bash", Input: `{"script":"grep\ncrane_motor *.go"}`}),
		result("crane.go:12: crane motor stuck\n"+strings.Repeat("x ", 40<<10)+"the last line"))
	h.say("beta", "", user("A crane flies, Été"))
	x := h.index()
	syncAll(t, x)
	expect(t, x, search.Query{Text: "mend"}, "alpha/1 user: Please [mend] the crane")
	expect(t, x, search.Query{Text: "ETE"}, "beta/1 user: A crane flies, [Été]")
	expect(t, x, search.Query{Text: `"crane motor"`, Project: "harbor", Role: search.Tool},
		`alpha/2 tool: {"script":"grep [crane_motor] *.go"}`,
		"alpha/3 tool: crane.go:12: [crane motor] stuck "+strings.Repeat("x ", 104)+"x …")
	expect(t, x, search.Query{Text: "crane", Workspace: "beta"}, "beta/1 user: A [crane] flies, Été")
	expect(t, x, search.Query{Text: "crane -please -motor", Workspace: "alpha"}, "alpha/2 assistant: I look at the [crane].")
	expect(t, x, search.Query{Text: "fli*"}, "beta/1 user: A crane [flies], Été")
	expect(t, x, search.Query{Text: "secrets"})
	expect(t, x, search.Query{Text: "crane", Workspace: "nobody"})
	expect(t, x, search.Query{Text: "crane", Project: "nobody"})
	if a := find(t, x, search.Query{Text: `"the last line"`}); len(a.Hits) != 1 || a.Hits[0].CallID != "c1" || a.Hits[0].Part != -1 {
		t.Errorf("the end of a long output: %+v", a)
	}
	if a := find(t, x, search.Query{Text: "grep"}); len(a.Hits) != 1 || a.Hits[0].CallID != "c1" || a.Hits[0].Part != 2 || a.Hits[0].StepSeq != 1 {
		t.Errorf("a call: %+v", a)
	}
	if _, err := x.Find(context.Background(), search.Query{Text: "-"}); !errors.Is(err, search.ErrNothing) {
		t.Errorf("got %v", err)
	}
	if n, known := x.Behind(); n != 0 || !known {
		t.Errorf("%d bytes behind, %v", n, known)
	}
}

func TestAPassThatIsCutShortLeavesTheRestBehind(t *testing.T) {
	h := newHistory(t)
	long := user(strings.Repeat("many words ", 5000))
	h.say("a", "", slices.Repeat([]transcript.Record{long}, 60)...) // more than one batch
	ctx, cancel := context.WithCancel(context.Background())
	x := search.New(search.Options{Root: h.root, Sessions: h.list, Pause: func(context.Context, time.Duration) { cancel() }})
	defer func() { _ = x.Close() }()
	if err := x.Sync(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if n, known := x.Behind(); n == 0 || !known {
		t.Errorf("%d bytes behind, %v", n, known)
	}
	syncAll(t, x)
	if n, known := x.Behind(); n != 0 || !known {
		t.Errorf("at the end %d bytes behind, %v", n, known)
	}
}

func TestOnlyWhatIsNewIsRead(t *testing.T) {
	h := newHistory(t)
	h.say("a", "", user("first word"))
	x := h.index()
	syncAll(t, x)
	h.say("a", "", user("second word"), assistant(said("third word")))
	h.say("b", "", user("fourth word"))
	if err := x.Sync(context.Background(), "a"); err != nil {
		t.Fatal(err)
	}
	want := []string{"a/1 user: first [word]", "a/2 user: second [word]", "a/3 assistant: third [word]"}
	expect(t, x, search.Query{Text: "word"}, want...)
	syncAll(t, h.index()) // as another process
	expect(t, x, search.Query{Text: "word"}, append(want, "b/1 user: fourth [word]")...)
}

func TestHitsComeInPagesTheNewestFirst(t *testing.T) {
	h := newHistory(t)
	for i := range 7 {
		h.say("a", "", user(fmt.Sprint("word number", i)))
	}
	x := h.index()
	syncAll(t, x)
	var seqs []uint64
	q := search.Query{Text: "word", Limit: 3}
	for more := true; more; {
		a := find(t, x, q)
		for _, hit := range a.Hits {
			seqs = append(seqs, hit.Seq)
			q.Before = hit.ID
		}
		more = a.More
	}
	if d := cmp.Diff([]uint64{7, 6, 5, 4, 3, 2, 1}, seqs); d != "" {
		t.Error(d)
	}
}

func TestWhatAnEditLeftIsFoundAndMarked(t *testing.T) {
	h := newHistory(t)
	h.say("a", "", user("keep word"), user("old word"), assistant(said("old answer, word")))
	x := h.index()
	syncAll(t, x)
	replaced := user("new word")
	replaced.From = 2
	h.say("a", "", replaced, assistant(said("wrong word")), transcript.Record{Kind: transcript.Edit, From: 5}, assistant(said("right word")))
	want := []string{"a/1 user: keep [word]", "a/2 user: (left) old [word]", "a/3 assistant: (left) old answer, [word]",
		"a/4 user: new [word]", "a/5 assistant: (left) wrong [word]", "a/7 assistant: right [word]"}
	syncAll(t, x)
	expect(t, x, search.Query{Text: "word"}, want...)
	if err := os.Remove(h.root.Path("search.db")); err == nil { // under a process that has it open
		expect(t, x, search.Query{Text: "word"}, want...)
	}
}

func TestDeletedWorkspacesAreForgotten(t *testing.T) {
	h := newHistory(t)
	many := make([]transcript.Record, 1201)
	for i := range many {
		many[i] = user("word")
	}
	h.say("gone", "p", many...)
	h.say("here", "p", user("word"))
	x := h.index()
	syncAll(t, x)
	h.drop("gone")
	syncAll(t, x)
	h.say("gone", "p", user("word again")) // its log is still there
	h.drop("gone")
	expect(t, x, search.Query{Text: "word"}, "here/1 user: [word]")
	db := raw(t, h)
	var n int
	if err := db.QueryRow(`SELECT COUNT(*) FROM words WHERE words MATCH 'word'`).Scan(&n); err != nil || n != 1 {
		t.Errorf("%d words in the index, %v", n, err)
	}
}

func TestAnyQueryIsAnswered(t *testing.T) {
	h := newHistory(t)
	h.say("a", "", user("some words"))
	x := h.index()
	syncAll(t, x)
	for _, q := range []string{`"`, `some"`, `"some words"*`, `some*`, `some NOT`, `NEAR(some words, 2)`, `text:some`, `some AND OR`,
		`{text tags}: some`, `^some`, `some + words`, `(some`, `some\`, "some\x00words", `-some words`, `'some'`, strings.Repeat("some ", 500),
		"検索 some", "\xff some", `"some" "words" -"x y"`} {
		if _, err := x.Find(context.Background(), search.Query{Text: q}); err != nil && !errors.Is(err, search.ErrNothing) {
			t.Errorf("%q: %v", q, err)
		}
	}
}
