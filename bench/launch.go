package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// launchKey marks a launcher: this program started again to run one command. A process inherits the
// peak memory of the one that started it, so a small one has to start what is measured.
const launchKey = "CARREL_BENCH_LAUNCH"

// launchReport is what a launcher says on descriptor 3.
type launchReport struct {
	Wall, CPU time.Duration
	Peak      int64
	Code      int
}

// launched is a launcher's whole life; elsewhere it does nothing.
func launched() {
	if os.Getenv(launchKey) == "" || len(os.Args) < 2 {
		return
	}
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), launchKey+"=")
	began := time.Now()
	err := cmd.Run()
	if cmd.ProcessState == nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	r := launchReport{Wall: time.Since(began), Code: cmd.ProcessState.ExitCode()}
	r.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		r.Peak = u.Maxrss
		if runtime.GOOS != "darwin" { // which counts bytes
			r.Peak *= 1024
		}
	}
	if err := json.NewEncoder(os.NewFile(3, "report")).Encode(r); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// command is a process to measure.
type command struct {
	argv []string
	dir  string
	env  []string
}

// run runs the command in a launcher. Its output is thrown away unless it fails.
func (c command) run(ctx context.Context) (sample, error) {
	self, err := os.Executable()
	if err != nil {
		return sample{}, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return sample{}, err
	}
	defer func() { _ = r.Close() }()
	cmd := exec.CommandContext(ctx, self, c.argv...)
	var said bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = c.dir, append(c.env, launchKey+"=1"), &said, &said
	cmd.ExtraFiles = []*os.File{w}
	err = cmd.Start()
	_ = w.Close()
	if err != nil {
		return sample{}, err
	}
	var report launchReport
	decoded := json.NewDecoder(r).Decode(&report)
	if err := cmd.Wait(); err != nil || decoded != nil || report.Code != 0 {
		return sample{}, fmt.Errorf("run %q: exit code %d, %v, %v: %s", c.argv, report.Code, err, decoded, said.String())
	}
	return sample{wall: report.Wall, cpu: report.CPU, peak: report.Peak}, nil
}
