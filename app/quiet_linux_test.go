package app_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"carrel/agent/model"
	"carrel/agent/model/fakewire"
	"carrel/agent/transcript"
	"carrel/app"
)

// longSession writes a conversation of so many messages, two to a turn, of 10 tokens in and 3 out each.
func longSession(t *testing.T, dir string, messages int) {
	t.Helper()
	log, err := transcript.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	add := func(r transcript.Record) uint64 {
		r, err := log.Append(r)
		if err != nil {
			t.Fatal(err)
		}
		return r.Seq
	}
	say := func(role model.Role, text string) *model.Message {
		return &model.Message{Role: role, Parts: []model.Part{{Kind: model.Text, Text: text}}}
	}
	for n := range messages / 2 {
		turn := fmt.Sprint("turn-", n)
		add(transcript.Record{Kind: transcript.User, Turn: turn, Message: say(model.User, "and then?")})
		add(transcript.Record{Kind: transcript.TurnStart, Turn: turn, Model: "anthropic:claude-sonnet-5-5"})
		step := add(transcript.Record{Kind: transcript.StepStart, Turn: turn, Step: 1})
		m := say(model.Assistant, "then this")
		m.Usage = model.Usage{Input: 10, Output: 3}
		add(transcript.Record{Kind: transcript.Assistant, Turn: turn, Step: 1, StepSeq: step, Message: m})
		add(transcript.Record{Kind: transcript.TurnEnd, Turn: turn, End: transcript.Done})
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
}

// accesses watches a folder's files, and gives a function that counts how often they have been opened,
// read, written, made or removed since it was called last.
func accesses(t *testing.T, dir string) func() int {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	if _, err := unix.InotifyAddWatch(fd, dir, unix.IN_ALL_EVENTS); err != nil {
		t.Fatal(err)
	}
	return func() int {
		buf := make([]byte, 64<<10)
		n, err := unix.Read(fd, buf)
		if err != nil && err != unix.EAGAIN {
			t.Fatal(err)
		}
		return max(n, 0) / unix.SizeofInotifyEvent // names make it a few more
	}
}

// pipe makes a named pipe and opens it, so that nobody waits for the other end.
func pipe(t *testing.T, path string) *os.File {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func TestNothingIsDoneWhileACommandSleepsInALongSession(t *testing.T) { // O-DATA-05
	dir := t.TempDir()
	ask, answer := pipe(t, filepath.Join(dir, "ask")), pipe(t, filepath.Join(dir, "answer"))
	// Each time it is asked to, the command sleeps for a while.
	script := fmt.Sprintf("echo begun; while read -r x; do sleep 0.4; echo slept >%s/answer; done <%s/ask", dir, dir)
	server := fakewire.New(t, fakewire.Steps(fakewire.Reply{Calls: []fakewire.Call{
		{Name: "bash", Input: fmt.Sprintf(`{"script":%q,"timeout_secs":600,"display_name":"Sleep"}`, script)}}}))
	path, gitCalls := countedGit(t)
	t.Setenv("PATH", path)
	h := newHouse(t, "ANTHROPIC_API_KEY=key", "ANTHROPIC_BASE_URL="+server.URL)
	_, w := h.desk(app.NewWorkspace{Name: "patient", Model: "anthropic:claude-sonnet-5-5"})
	session, err := h.root.SessionDir(w.ID)
	if err != nil {
		t.Fatal(err)
	}
	const messages = 4_000
	longSession(t, session, messages)
	h.send(w, "Wait")
	h.wait("the command to begin", func(e app.Event) bool {
		c, ok := e.(app.EntryGrew)
		return ok && c.Workspace == w.ID && strings.Contains(c.Text, "begun")
	})

	touched := accesses(t, session)
	events := func() int {
		h.mu.Lock()
		defer h.mu.Unlock()
		return len(h.events)
	}
	// What the start of the turn told may still be on its way; a few naps in a row are quiet soon.
	quiet, last := 0, ""
	for range 30 {
		toldBefore, gitBefore := events(), gitCalls()
		touched()
		if _, err := ask.WriteString("nap\n"); err != nil {
			t.Fatal(err)
		}
		if _, err := answer.Read(make([]byte, 16)); err != nil {
			t.Fatal(err)
		}
		told, files, calls := events()-toldBefore, touched(), gitCalls()-gitBefore
		last = fmt.Sprintf("%d events, %d accesses to the log's folder, %d calls of git", told, files, calls)
		if quiet++; told+files+calls > 0 {
			quiet = 0
		}
		if quiet == 3 {
			break
		}
	}
	if quiet < 3 {
		t.Errorf("while the command slept: %s", last)
	}
	c := h.snapshot(w)
	if c.Status.Activity != app.RunningTools || c.Status.Usage.Input < 10*messages/2 || c.Status.Usage.Output < 3*messages/2 || c.Status.Usage.Output > 4*messages/2 {
		t.Errorf("%s after %+v", c.Status.Activity, c.Status.Usage)
	}
}
