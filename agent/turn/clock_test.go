package turn_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"carrel/agent/model"
	"carrel/agent/tool"
	"carrel/agent/transcript"
	"carrel/agent/turn"
)

// memory is a queue without a database, for tests whose clock is not real.
type memory struct {
	mu   sync.Mutex
	rows []turn.Queued
}

func (m *memory) List(context.Context) ([]turn.Queued, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.rows), nil
}

func (m *memory) Add(_ context.Context, q turn.Queued) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rows = append(m.rows, q)
	return nil
}

func (m *memory) Change(_ context.Context, q turn.Queued) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.rows {
		if m.rows[i].ID == q.ID {
			m.rows[i] = q
		}
	}
	return nil
}

func (m *memory) Order(_ context.Context, ids []string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	slices.SortFunc(m.rows, func(a, b turn.Queued) int { return slices.Index(ids, a.ID) - slices.Index(ids, b.ID) })
	return nil
}

func (m *memory) Remove(_ context.Context, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rows = slices.DeleteFunc(m.rows, func(q turn.Queued) bool { return q.ID == id })
	return nil
}

// inTime runs a test with a clock that goes on when everything waits for it.
func inTime(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

// clockDesk is a desk for inTime, whose failed requests are tried again.
func clockDesk(t *testing.T, tools ...tool.Tool) *desk {
	t.Helper()
	d := &desk{t: t, dir: t.TempDir(), model: &script{}, grew: make(chan struct{})}
	d.cfg = turn.Config{
		Workspace: "w", Queue: &memory{}, Tools: tools, Choice: turn.Choice{Model: "fake:one"},
		Env:     func(context.Context) (tool.Env, error) { return tool.Env{}, nil },
		Resolve: func(_ context.Context, c turn.Choice) (turn.Endpoint, error) { return d.endpoint(c), nil },
		System:  func(context.Context) string { return "be good" },
		Events:  d.record,
	}
	d.start()
	t.Cleanup(d.stop)
	return d
}

// settle waits until nothing happens without the clock, and gives the state.
func (d *desk) settle() turn.Snapshot {
	d.t.Helper()
	synctest.Wait()
	return d.now()
}

// until lets the time go on until the conversation is in that state, ten minutes at most.
func (d *desk) until(s turn.State) turn.Snapshot {
	d.t.Helper()
	for start := time.Now(); time.Since(start) < 10*time.Minute; time.Sleep(100 * time.Millisecond) {
		if now := d.settle(); now.State == s {
			return now
		}
	}
	d.t.Fatalf("it is %q, not %q: %s", d.now().State, s, strings.Join(d.story(), ", "))
	return turn.Snapshot{}
}

func busy() reply { return fails(&model.Error{Kind: model.ErrOverloaded, Message: "overloaded"}) }

// breaks streams a text and then fails.
func breaks(text string) reply {
	return func(ctx context.Context, emit func(model.Event)) (*model.Message, error) {
		m, _ := says(text)(ctx, emit)
		m.Stop = model.StopError
		return m, &model.Error{Kind: model.ErrNetwork, Message: "connection lost", MidStream: true}
	}
}

// said gives the messages of a request in short.
func said(r *model.Request) string {
	var out []string
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			switch p.Kind {
			case model.Text:
				out = append(out, string(m.Role)+" "+p.Text)
			case model.ToolCall, model.ToolResult:
				out = append(out, string(p.Kind)+" "+p.CallID)
			case model.Reasoning, model.File, model.Native:
				out = append(out, string(p.Kind))
			}
		}
	}
	return strings.Join(out, ", ")
}

func (d *desk) last() *model.Request {
	d.t.Helper()
	all := d.model.seen()
	if len(all) == 0 {
		d.t.Fatal("no request")
	}
	return all[len(all)-1]
}

func (d *desk) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

// seqOf gives the seq of the User record with that text.
func (d *desk) seqOf(text string) uint64 {
	d.t.Helper()
	for _, r := range d.records() {
		if r.Kind == transcript.User && r.Message.Parts[0].Text == text {
			return r.Seq
		}
	}
	d.t.Fatalf("no message %q", text)
	return 0
}

// onePixel is a picture.
func onePixel(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// copyTree copies a folder in which somebody may be at work, as a kill would leave it.
func copyTree(t testing.TB, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		at := filepath.Join(to, strings.TrimPrefix(path, from))
		if e.IsDir() {
			return os.MkdirAll(at, 0o700)
		}
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		return os.WriteFile(at, data, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
}
