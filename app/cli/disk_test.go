//go:build linux

package cli_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"carrel/agent/model/fakewire"
	"carrel/app"
)

// small puts the place's data root on a small disk of its own.
func (p *place) small(size string) {
	p.t.Helper()
	if err := os.MkdirAll(p.root, 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", p.root, "tmpfs", 0, "mode=0700,size="+size); err != nil {
		p.t.Skipf("a disk of its own needs root: %v", err)
	}
	p.t.Cleanup(func() {
		if err := unix.Unmount(p.root, unix.MNT_DETACH); err != nil {
			p.t.Error(err)
		}
	})
}

// fill writes until the disk is full.
func (p *place) fill() (free func()) {
	p.t.Helper()
	name := filepath.Join(p.root, "filler")
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		p.t.Fatal(err)
	}
	for size := 64 << 10; size > 0; {
		if _, err := f.Write(make([]byte, size)); errors.Is(err, syscall.ENOSPC) {
			size /= 2
		} else if err != nil {
			p.t.Fatal(err)
		}
	}
	_ = f.Close() // nobody reads it
	return func() {
		if err := os.Remove(name); err != nil {
			p.t.Fatal(err)
		}
	}
}

func TestAFullDiskDuringARunIsSaidAndLosesNothing(t *testing.T) {
	t.Parallel()
	full := make(chan struct{})
	turn := fakewire.Steps(
		fakewire.Reply{Text: "Before.", Calls: []fakewire.Call{bash("touch before; while [ ! -e after ]; do sleep 0.02; done")}},
		fakewire.Reply{Text: strings.Repeat("After the disk was full. ", 400)},
	)
	p := newPlace(t, func(r fakewire.Request) fakewire.Reply {
		if strings.Contains(r.Prompt(), "Go on") {
			return fakewire.Reply{Text: "Gone on."}
		}
		return turn(r)
	})
	p.small("2m")
	run := p.start("run", "--json", "Fill it")
	go func() {
		defer close(full)
		eventually(t, "the command", func() bool { _, err := os.Stat(filepath.Join(p.repo, "before")); return err == nil })
	}()
	<-full
	free := p.fill()
	if err := os.WriteFile(filepath.Join(p.repo, "after"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	lines := run.lines(t)
	_ = run.Wait() // its exit code tells
	if code := run.ProcessState.ExitCode(); code != 1 || !strings.Contains(run.errOut.String(), "Free some disk space") {
		t.Errorf("exit %d, said %s", code, run.errOut)
	}
	if last := parse[map[string]any](t, lines[len(lines)-1]); last["type"] != "error" || last["code"] != "log" {
		t.Errorf("the last line is %v", last)
	}

	// Nothing can be begun either, and that is said too.
	out, said, code := p.carrel("run", "--json", "Another")
	if failure := parse[map[string]string](t, out); code != 1 || failure["code"] != "disk_full" || !strings.Contains(said, "Free some space") || strings.Contains(said, "(13)") {
		t.Errorf("exit %d, %s%s", code, out, said)
	}

	free()
	var id string
	for _, w := range p.workspaces() {
		if w.Health != app.Ready {
			t.Errorf("%s is %s", w.Name, w.Health)
		}
		if w.Title == "Fill it" {
			id = w.ID
		}
	}
	if got := p.must("run", "--quiet", "--workspace", id, "Go on"); got != "Gone on.\n" {
		t.Errorf("it went on with %q", got)
	}
	if c := p.open(id); c.Damaged > 0 || len(c.Entries) < 3 || c.Entries[1].Text != "Before." {
		t.Errorf("%d damaged, %+v", c.Damaged, c.Entries)
	}
}

func TestAFirstRunOnAFullDiskNamesTheDisk(t *testing.T) {
	t.Parallel()
	p := newPlace(t, fakewire.Steps(fakewire.Reply{Text: "Yes."}))
	p.small("400k")
	free := p.fill()
	filler := filepath.Join(p.root, "filler")
	// It fails at another step with each page that is left.
	for _, left := range []int64{0, 4, 8, 16, 28, 40, 60} {
		if err := os.Truncate(filler, 400<<10-left<<10); err != nil {
			t.Fatal(err)
		}
		out, said, code := p.carrel("run", "--json", "hi")
		failure := parse[map[string]string](t, out)
		if code != 1 || failure["code"] != "disk_full" || !strings.Contains(said, "The disk that holds "+p.root) || !strings.Contains(said, "Free some space on it") {
			t.Errorf("%d KiB left: exit %d, %s%s", left, code, out, said)
		}
	}
	free()
	p.must("project", "list")
}

func TestADataRootThatCannotBeWrittenIsSaid(t *testing.T) {
	t.Parallel()
	p := newPlace(t, fakewire.Steps(fakewire.Reply{Text: "Yes."}))
	p.small("8m")
	p.must("run", "--quiet", "While it can")
	if err := unix.Mount("", p.root, "", unix.MS_REMOUNT|unix.MS_RDONLY, "mode=0700"); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"run", "--json", "hi"}, {"workspace", "list", "--json"}, {"project", "add", "--json", "."}, {"trust", "--json"}} {
		out, said, code := p.carrel(args...)
		failure := parse[map[string]string](t, out)
		if code != 1 || failure["code"] != "read_only" || !strings.Contains(said, "CARREL_ROOT") {
			t.Errorf("%v: exit %d, %s%s", args, code, out, said)
		}
	}
}
