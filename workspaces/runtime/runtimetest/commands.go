package runtimetest

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"carrel/workspaces/runtime"
)

func commands(t *testing.T, make Make) {
	t.Run("StreamsInTheOrderWritten", func(t *testing.T) {
		out, exit := Sh(t, make(t), "for i in 1 2 3 4 5; do echo o$i; echo e$i >&2; done; exit 7")
		if want := "o1\ne1\no2\ne2\no3\ne3\no4\ne4\no5\ne5\n"; out != want || exit.Code != 7 || exit.Killed {
			t.Fatalf("got %q, %+v", out, exit)
		}
	})
	t.Run("EndsBySignalAs128PlusN", func(t *testing.T) {
		if _, exit := Sh(t, make(t), "kill -9 $$"); exit.Code != 137 || exit.Killed {
			t.Fatalf("got %+v", exit)
		}
	})
	t.Run("RunsInTheFolder", func(t *testing.T) {
		rt := make(t)
		Sh(t, rt, "mkdir -p 'a b'")
		out, _ := Exec(t, t.Context(), rt, runtime.Command{Argv: []string{"sh", "-c", `pwd; echo "$PWD"`}, Dir: "a b"})
		if want := rt.Dir() + "/a b\n"; out != want+want {
			t.Fatalf("got %q, want twice %q", out, want)
		}
	})
	t.Run("EnvironmentOfCommandWins", func(t *testing.T) {
		c := runtime.Command{Argv: []string{"sh", "-c", `echo "$GIT_PAGER"`}, Env: []string{"GIT_PAGER=mine"}}
		if out, _ := Exec(t, t.Context(), make(t), c); out != "mine\n" {
			t.Fatalf("got %q", out)
		}
	})
	t.Run("InputIsEmptyUnlessGiven", func(t *testing.T) {
		rt := make(t)
		c := runtime.Command{Argv: []string{"cat"}}
		if out, exit := Exec(t, t.Context(), rt, c); out != "" || exit.Code != 0 {
			t.Fatalf("got %q, %+v", out, exit)
		}
		c.Stdin = strings.NewReader("given")
		if out, _ := Exec(t, t.Context(), rt, c); out != "given" {
			t.Fatalf("got %q", out)
		}
		r, w := io.Pipe() // that nobody ever writes to
		defer func() { _ = w.Close() }()
		c.Argv, c.Stdin = []string{"true"}, r
		Exec(t, t.Context(), rt, c)
	})
	t.Run("LastOutputArrivesAtASlowReader", func(t *testing.T) { slowReader(t, make(t)) })
	t.Run("ContextEndsTheWholeGroup", func(t *testing.T) { cancelled(t, make(t)) })
	t.Run("ChildThatHoldsTheOutputDoesNotHoldWait", func(t *testing.T) { heldOutput(t, make(t)) })
	surroundings(t, make)
}

func surroundings(t *testing.T, make Make) {
	// O-BASH-04
	t.Run("HasNoTerminal", func(t *testing.T) {
		out, exit := Sh(t, make(t), "if (: </dev/tty) 2>/dev/null; then echo tty; else echo none; fi")
		if out != "none\n" {
			t.Fatalf("got %q, %+v", out, exit)
		}
	})
	t.Run("MissingProgramIsAnError", func(t *testing.T) {
		p, err := make(t).Start(t.Context(), runtime.Command{Argv: []string{"carrel-no-such-program"}})
		if err == nil {
			exit, _ := p.Wait() // a remote shell may only find out later
			if exit.Code != 127 {
				t.Fatalf("got %+v", exit)
			}
		}
	})
}

// slowWriter takes far longer for a write than children get after the end of the command.
type slowWriter struct{ n int }

func (s *slowWriter) Write(p []byte) (int, error) {
	if s.n == 0 {
		time.Sleep(300 * time.Millisecond) // the slowness is the point
	}
	s.n += len(p)
	return len(p), nil
}

func slowReader(t *testing.T, rt runtime.Runtime) {
	out := &slowWriter{}
	p, err := rt.Start(t.Context(), runtime.Command{Argv: []string{"sh", "-c", "head -c 90000 /dev/zero"}, Output: out})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Wait(); err != nil || out.n != 90000 {
		t.Fatalf("got %d bytes, %v", out.n, err)
	}
}

// O-BASH-03 (a), (b)
func cancelled(t *testing.T, rt runtime.Runtime) {
	ctx, cancel := context.WithCancel(t.Context())
	out := &Buffer{Wrote: make(chan struct{}, 10)}
	script := `sh -c 'trap "" TERM; echo $$; exec sleep 1000' & sh -c 'echo $$; exec sleep 1000' & sleep 1001`
	p, err := rt.Start(ctx, runtime.Command{Argv: []string{"sh", "-c", script}, Output: out})
	if err != nil {
		t.Fatal(err)
	}
	for len(Lines(out.String())) < 2 {
		<-out.Wrote
	}
	begin := time.Now()
	cancel()
	exit, err := p.Wait()
	if err != nil || !exit.Killed || exit.Code != 143 || time.Since(begin) > 5*time.Second {
		t.Fatalf("after %v: %+v, %v", time.Since(begin), exit, err)
	}
	for _, pid := range Lines(out.String()) {
		if state, _ := Sh(t, rt, "ps -o stat= -p "+pid); state != "" && !strings.HasPrefix(state, "Z") {
			t.Errorf("process %s is left: %s", pid, state)
		}
	}
}

// O-BASH-01
func heldOutput(t *testing.T, rt runtime.Runtime) {
	for _, script := range []string{
		"sleep 60 & echo $!",
		"sleep 60 >/dev/null 2>&1 & echo $!",
		"(setsid sleep 60 & echo $!)",
		"(while sleep 0.02; do echo noise; done) & echo $!",
	} {
		begin := time.Now()
		out, exit := Sh(t, rt, script)
		if took := time.Since(begin); took > 2*time.Second || exit.Code != 0 {
			t.Errorf("%s: took %v, %+v", script, took, exit)
		}
		if _, exit := Sh(t, rt, "kill -0 "+Lines(out)[0]); exit.Code != 0 {
			t.Errorf("%s: the child is gone", script)
		}
		Sh(t, rt, "kill "+Lines(out)[0])
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	begin := time.Now()
	_, exit := Exec(t, ctx, rt, runtime.Command{Argv: []string{"sh", "-c", "sleep 10 & wait"}})
	if took := time.Since(begin); !exit.Killed || took < time.Second || took > 4*time.Second {
		t.Errorf("took %v, %+v", took, exit)
	}
}
