package runtime_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"carrel/workspaces/runtime"
	"carrel/workspaces/runtime/runtimetest"
)

// family is a script that leaves children in its group, in the background and in a session apart.
// The script itself says who they are: what a child writes after the script's end may be too late.
const family = `sleep 1000 & echo $!; setsid sleep 1001 & echo $!; `

// core is a process that starts commands with a reaper, prints their ids and waits for its end.
func core(args []string) {
	ctx := context.Background()
	reaper := runtime.NewReaper([]string{os.Args[0], "reap"})
	rt, err := runtime.NewLocal(runtime.Worktree, args[0], runtime.Options{Reaper: reaper, Tag: "core"})
	if err != nil {
		panic(err)
	}
	for _, script := range []string{family + "wait", family} {
		if _, err := rt.Start(ctx, runtime.Command{Argv: []string{"sh", "-c", script}, Output: os.Stdout}); err != nil {
			panic(err)
		}
	}
	if err := reaper.Err(); err != nil {
		panic(err)
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	if err := reaper.Close(); err != nil {
		panic(err)
	}
}

// startCore starts a core and returns once its commands run.
func startCore(t *testing.T) (cmd *exec.Cmd, in io.Closer, pids []int) {
	t.Helper()
	cmd = exec.Command(os.Args[0], "core", t.TempDir())
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	for len(pids) < 4 && lines.Scan() {
		pid, err := strconv.Atoi(lines.Text())
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	return cmd, stdin, pids
}

// running reports whether a process runs. It may be a zombie that nobody waits for.
func running(pid int) bool {
	out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && !bytes.HasPrefix(out, []byte("Z"))
}

// gone waits until none of the processes runs. There is no event for the end of another's child.
func gone(t *testing.T, pids []int) {
	t.Helper()
	deadline := time.Now().Add(60 * time.Second)
	for _, pid := range pids {
		for running(pid) {
			if time.Now().After(deadline) {
				t.Fatalf("process %d still runs", pid)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
}

// O-BASH-03 (e)
func TestReaperKillsEverythingWhenTheCoreIsKilled(t *testing.T) {
	cmd, _, pids := startCore(t)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	gone(t, pids)
}

// O-BASH-03 (d)
func TestReaperCloseEndsWhatIsLeft(t *testing.T) {
	cmd, in, pids := startCore(t)
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	for _, pid := range pids {
		if running(pid) {
			t.Errorf("process %d runs after Close", pid)
		}
	}
}

// O-BASH-03 (e): PID reuse is guarded by start time.
func TestReaperSparesAReusedID(t *testing.T) {
	stranger := exec.Command("sleep", "1000")
	stranger.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := stranger.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stranger.Wait() }()
	defer func() { _ = stranger.Process.Kill() }()
	reap := exec.Command(os.Args[0], "reap")
	reap.Stdin = strings.NewReader(fmt.Sprintf("owner x\nadd %d 12345 w/x/1\n", stranger.Process.Pid))
	if err := reap.Run(); err != nil {
		t.Fatal(err)
	}
	if !running(stranger.Process.Pid) {
		t.Fatal("it killed a process that it did not know")
	}
}

func TestReaperIsStartedAgainWhenItDied(t *testing.T) {
	reaper := runtime.NewReaper([]string{"sh", "-c", "read owner; exit 1"})
	rt := newLocal(t, runtime.Options{Reaper: reaper})
	for range 20 {
		if out, _ := runtimetest.Sh(t, rt, "echo x"); out != "x\n" {
			t.Fatalf("got %q", out)
		}
	}
	_ = reaper.Close() // its helper ended with 1, on purpose
}

func TestCommandsRunWithoutAReaper(t *testing.T) {
	reaper := runtime.NewReaper([]string{"/no/such/program"})
	if out, _ := runtimetest.Sh(t, newLocal(t, runtime.Options{Reaper: reaper}), "echo x"); out != "x\n" || reaper.Err() == nil {
		t.Fatalf("got %q, %v", out, reaper.Err())
	}
}

func TestKillTaggedEndsOneWorkspaceOnly(t *testing.T) {
	mine, other := newLocal(t, runtime.Options{Tag: "mine"}), newLocal(t, runtime.Options{Tag: "mine2"})
	pids := func(rt runtime.Runtime) (ids []int) {
		out := &runtimetest.Buffer{Wrote: make(chan struct{}, 10)}
		if _, err := rt.Start(t.Context(), runtime.Command{Argv: []string{"sh", "-c", family}, Output: out}); err != nil {
			t.Fatal(err)
		}
		for strings.Count(out.String(), "\n") < 2 {
			<-out.Wrote
		}
		for _, line := range runtimetest.Lines(out.String()) {
			pid, err := strconv.Atoi(line)
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, pid)
		}
		return ids
	}
	ours, theirs := pids(mine), pids(other)
	if err := runtime.KillTagged(t.Context(), "mine"); err != nil {
		t.Fatal(err)
	}
	for i := range ours {
		if running(ours[i]) || !running(theirs[i]) {
			t.Errorf("ours %v, theirs %v", running(ours[i]), running(theirs[i]))
		}
	}
	if err := runtime.KillTagged(t.Context(), "mine2"); err != nil {
		t.Fatal(err)
	}
}
