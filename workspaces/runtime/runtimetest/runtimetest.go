// Package runtimetest is the conformance suite of runtimes: what tools and hooks rely on, whatever
// machine a workspace is on. Each implementation runs it in its tests.
package runtimetest

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"carrel/workspaces/runtime"
)

// Make gives a runtime of an empty workspace, at a place with sh and the usual tools.
type Make func(t *testing.T) runtime.Runtime

// Run runs the suite.
func Run(t *testing.T, make Make) {
	t.Run("commands", func(t *testing.T) { commands(t, make) })
	t.Run("files", func(t *testing.T) { fileTree(t, make) })
	t.Run("terminals", func(t *testing.T) { terminals(t, make) })
	t.Run("confinement", func(t *testing.T) { confinement(t, make) })
}

// Sh runs a shell script to its end and gives its output. It fails the test when the script can't
// be started or takes over 20 seconds.
func Sh(t *testing.T, rt runtime.Runtime, script string) (string, runtime.Exit) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	return Exec(t, ctx, rt, runtime.Command{Argv: []string{"sh", "-c", script}})
}

// Exec runs a command to its end and gives its output.
func Exec(t *testing.T, ctx context.Context, rt runtime.Runtime, c runtime.Command) (string, runtime.Exit) {
	t.Helper()
	var out Buffer
	c.Output = &out
	p, err := rt.Start(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	exit, err := p.Wait()
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), exit
}

// Read gives a file's content.
func Read(t *testing.T, f runtime.Files, path string) string {
	t.Helper()
	file, _, err := f.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Buffer collects output that may be looked at while it grows. Wrote, when not nil, gets a value
// after each write.
type Buffer struct {
	mu    sync.Mutex
	buf   bytes.Buffer
	Wrote chan struct{}
}

// Write appends.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	n, err := b.buf.Write(p)
	b.mu.Unlock()
	if b.Wrote != nil {
		b.Wrote <- struct{}{}
	}
	return n, err
}

// String gives what was written so far.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// Lines gives the lines of s without the last line end.
func Lines(s string) []string { return strings.Split(strings.TrimSuffix(s, "\n"), "\n") }
