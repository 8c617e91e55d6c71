package terminal_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"carrel/workspaces/runtime"
	"carrel/workspaces/terminal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// desk starts terminals in a folder of its own.
type desk struct {
	t     *testing.T
	place runtime.Runtime
}

func newDesk(t *testing.T) desk {
	t.Helper()
	rt, err := runtime.NewLocal(runtime.Worktree, t.TempDir(), runtime.Options{Tag: "desk"})
	if err != nil {
		t.Fatal(err)
	}
	return desk{t, rt}
}

// open starts a program, by default a plain shell.
func (d desk) open(argv ...string) *terminal.Terminal {
	d.t.Helper()
	if len(argv) == 0 {
		argv = []string{"bash", "--norc", "--noprofile"}
	}
	env := runtime.TerminalEnv([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + d.place.Dir(), "PS1=$ ", "HISTFILE="})
	term, err := terminal.Start(d.t.Context(), d.place, terminal.Options{Command: runtime.TerminalCommand{Argv: argv, Env: env, Cols: 80, Rows: 24}})
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := term.Close(ctx); err != nil {
			d.t.Error(err)
		}
	})
	return term
}

// reader collects what a view gets.
type reader struct {
	t    *testing.T
	view *terminal.View
	text strings.Builder
	exit *runtime.Exit
	size [2]int
}

func look(t *testing.T, term *terminal.Terminal, cols, rows int) *reader {
	r := &reader{t: t, view: term.Attach(cols, rows)}
	t.Cleanup(r.view.Close)
	return r
}

// until reads until what came satisfies ok.
func (r *reader) until(ok func(r *reader) bool) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), 60*time.Second)
	defer cancel()
	for !ok(r) {
		rec, err := r.view.Next(ctx)
		if err != nil {
			r.t.Fatalf("%v after %q", err, tail(r.text.String()))
		}
		switch rec.Kind {
		case terminal.Output:
			r.text.Write(rec.Data)
		case terminal.Snapshot:
			r.text.Reset()
			r.text.Write(rec.Data)
			r.size = [2]int{rec.Cols, rec.Rows}
		case terminal.Size:
			r.size = [2]int{rec.Cols, rec.Rows}
		case terminal.End:
			r.exit = rec.Exit
		}
	}
}

func (r *reader) see(want string) {
	r.t.Helper()
	r.until(func(r *reader) bool { return strings.Contains(r.text.String(), want) })
}

func (r *reader) typeIn(text string) {
	r.t.Helper()
	if err := r.view.Type(r.t.Context(), []byte(text)); err != nil {
		r.t.Fatal(err)
	}
}

func tail(s string) string { return s[max(0, len(s)-300):] }

func TestAViewThatAttachesLaterSeesTheScreen(t *testing.T) {
	term := newDesk(t).open()
	first := look(t, term, 100, 30)
	first.typeIn("echo one $((1+1)); printf '\\033[?1049hfull\\033[31m screen'; sed s/y/z/\n")
	first.see("full\x1b[31m screen")
	first.view.Close()
	first.typeIn("xyx\n") // a view that is closed types nothing that it could see
	second := look(t, term, 100, 30)
	second.see("full\x1b[0;31m screen")
	if !strings.Contains(second.text.String(), "one 2") {
		t.Errorf("the normal screen is lost: %q", second.text.String())
	}
	second.see("xzx")
}

func TestAProgramRunsAtFullSpeedWhenNobodyLooks(t *testing.T) {
	term := newDesk(t).open("sh", "-c", "yes | head -c 20000000; echo the end")
	<-term.Ended()
	r := look(t, term, 80, 24)
	r.until(func(r *reader) bool { return r.exit != nil })
	if r.exit.Code != 0 || !strings.Contains(r.text.String(), "the end") || r.text.Len() > 400<<10 {
		t.Errorf("%+v, %d bytes: %q", r.exit, r.text.Len(), tail(r.text.String()))
	}
}

// O-TERM-01: what a view does not take is not read, and Ctrl-C silences the program.
func TestAFloodWaitsForItsView(t *testing.T) {
	d := newDesk(t)
	term := d.open()
	r := look(t, term, 80, 24)
	r.see("$ ")
	r.typeIn("yes | tee count\n")
	r.see("y\r\ny\r\ny\r\n")
	size := func() int64 {
		info, err := os.Stat(filepath.Join(d.place.Dir(), "count"))
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	settled := func() int64 { // nothing tells that a program stands still
		for last := int64(-1); ; time.Sleep(50 * time.Millisecond) {
			if now := size(); now == last {
				return now
			} else {
				last = now
			}
		}
	}
	before := settled()
	if read := int64(r.text.Len()); before > read+(1<<20) {
		t.Errorf("%d bytes were written, %d read", before, read)
	}
	came := r.text.Len()
	r.typeIn("\x03")
	r.see("^C")
	if after := r.text.Len() - came; after > 256<<10 {
		t.Errorf("%d bytes came after Ctrl-C", after)
	}
}

// The view that is used last gives the size; the others follow, in the order of the output.
func TestTwoViewsHaveTheSizeOfTheOneInUse(t *testing.T) {
	term := newDesk(t).open()
	small, large := look(t, term, 60, 20), look(t, term, 120, 40)
	small.see("$ ")
	large.see("$ ")
	small.typeIn("stty size\n")
	small.see("20 60")
	large.until(func(r *reader) bool { return r.size == [2]int{60, 20} })
	large.typeIn("stty size\n")
	large.see("40 120")
	small.until(func(r *reader) bool { return r.size == [2]int{120, 40} })
	small.view.Resize(50, 10) // it does not lead: nothing changes
	large.view.Close()
	small.until(func(r *reader) bool { return r.size == [2]int{50, 10} })
	small.view.Resize(0, 0) // hidden: O-TERM-02
	small.view.Resize(2, 1)
	small.typeIn("clear; stty size\n")
	small.see("10 50")
}

func TestAViewThatFallsBehindGetsTheScreenAgain(t *testing.T) {
	term := newDesk(t).open()
	slow, fast := look(t, term, 80, 24), look(t, term, 80, 24)
	slow.see("$ ")
	fast.typeIn("seq 1 300000; echo th''e end\n")
	fast.see("the end") // it does not wait for the other view
	slow.see("the end")
	if slow.text.Len() > 600<<10 {
		t.Errorf("the slow view got %d bytes", slow.text.Len())
	}
	if !strings.Contains(slow.text.String(), "299999\r\n300000\r\n") {
		t.Errorf("%q", tail(slow.text.String()))
	}
}

// O-TERM-03: a long paste arrives whole, also while the same terminal is flooded.
func TestALongPasteArrivesWhole(t *testing.T) {
	d := newDesk(t)
	var b strings.Builder
	for i := range 25_000 {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	for name, flood := range map[string]string{"quiet": ":", "flooded": "yes & p=$!"} {
		t.Run(name, func(t *testing.T) {
			term := d.open("bash", "-c", flood+"; stty -echo; echo go''ing; cat > "+name+"; kill $p; echo do''ne")
			r := look(t, term, 80, 24)
			r.see("going")
			var typing sync.WaitGroup
			typing.Go(func() { r.typeIn(b.String() + "\x04") })
			r.see("done")
			typing.Wait()
			got, err := os.ReadFile(filepath.Join(d.place.Dir(), name))
			if err != nil || sha256.Sum256(got) != sha256.Sum256([]byte(b.String())) {
				t.Errorf("%d of %d bytes arrived, %v", len(got), b.Len(), err)
			}
		})
	}
}

func TestAKilledShellEndsItsTerminal(t *testing.T) {
	term := newDesk(t).open()
	r := look(t, term, 80, 24)
	r.see("$ ")
	r.typeIn("kill -9 $$\n")
	r.until(func(r *reader) bool { return r.exit != nil })
	if r.exit.Code != 128+int(syscall.SIGKILL) {
		t.Errorf("%+v", r.exit)
	}
	if err := r.view.Type(t.Context(), []byte("x")); !errors.Is(err, terminal.ErrEnded) {
		t.Errorf("typing after the end: %v", err)
	}
	if _, err := r.view.Next(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("after the end: %v", err)
	}
}

func TestStateTellsTitleDirectoryAndWhatRuns(t *testing.T) {
	d := newDesk(t)
	changed := make(chan struct{}, 1000)
	env := runtime.TerminalEnv([]string{"PATH=" + os.Getenv("PATH"), "HOME=/", "PS1=$ "})
	term, err := terminal.Start(t.Context(), d.place, terminal.Options{Changed: func() { changed <- struct{}{} },
		Command: runtime.TerminalCommand{Argv: []string{"bash", "--norc", "--noprofile"}, Env: env}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = term.Close(context.Background()) }()
	until := func(what string, ok func(terminal.State) bool) {
		t.Helper()
		for !ok(term.State()) {
			select {
			case <-changed:
			case <-time.After(20 * time.Second):
				t.Fatalf("%s: %+v", what, term.State())
			}
		}
	}
	typeIn := func(text string) { _ = term.Type(t.Context(), []byte(text)) }
	typeIn("printf '\\033]0;a \\033[31mname\\007\\a\\033]133;D;7\\007'; mkdir sub; cd sub; cat\n")
	until("title", func(s terminal.State) bool { return s.Title == "a" || s.Title == "a [31mname" })
	until("bell and code", func(s terminal.State) bool { return s.Bells >= 1 && s.LastCode == 7 })
	until("busy", func(s terminal.State) bool { return s.Busy && s.Dir == filepath.Join(d.place.Dir(), "sub") })
	typeIn("\x04")
	until("idle", func(s terminal.State) bool { return !s.Busy })
	typeIn("exit 5\n")
	until("exit", func(s terminal.State) bool { return s.Exit != nil && s.Exit.Code == 5 })
}

// A question is answered once, also when two views look.
func TestAQuestionHasOneAnswer(t *testing.T) {
	term := newDesk(t).open("bash", "-c", `stty raw -echo; printf '\033[6n\033[c'; head -c 13 | od -An -c; stty sane; timeout 0.3 head -c 1 | wc -c; echo end`)
	r, _ := look(t, term, 80, 24), look(t, term, 80, 24)
	r.see("end")
	text := strings.Join(strings.Fields(r.text.String()), "")
	if !strings.Contains(text, "033[1;1R033[?1;2c") || !strings.Contains(text, "0end") {
		t.Errorf("%q", r.text.String())
	}
}

func TestManyTerminalsAndAStormOfSizes(t *testing.T) {
	d := newDesk(t)
	var all sync.WaitGroup
	for i := range 64 {
		term := d.open("sh", "-c", fmt.Sprintf("read x; seq 1 200; echo last-%d", i))
		all.Go(func() {
			r := look(t, term, 80, 24)
			go func() {
				for n := range 50 {
					r.view.Resize(40+n, 10+n)
				}
				_ = r.view.Type(t.Context(), []byte("\n"))
			}()
			r.until(func(r *reader) bool { return r.exit != nil })
			if !strings.Contains(r.text.String(), fmt.Sprintf("last-%d", i)) {
				t.Errorf("%q", tail(r.text.String()))
			}
		})
	}
	all.Wait()
}
