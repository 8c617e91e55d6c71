package store_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"carrel/store"
)

// A process that is being started has every open file for a moment, until it runs its program.
func TestALockThatIsLetGoIsFreeWhileAProcessStarts(t *testing.T) {
	root, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	lock, err := root.Lock()
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range descriptors(t, root.Path("run", "core.lock")) {
		child, err := unix.Dup(fd)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = unix.Close(child) }()
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := root.Lock()
	if err != nil {
		t.Fatal(err)
	}
	_ = again.Close()
}

func TestALockIsWaitedForWhileAKilledHoldersChildStarts(t *testing.T) {
	root, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	path := root.Path("run", "core.lock")
	if err := os.WriteFile(path, fmt.Appendln(nil, dead.Process.Pid), 0o600); err != nil {
		t.Fatal(err)
	}
	child, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Flock(int(child.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(50*time.Millisecond, func() { _ = child.Close() })
	lock, err := root.Lock()
	if err != nil {
		t.Fatal(err)
	}
	_ = lock.Close()
}

// descriptors gives the descriptors that this process has of a file.
func descriptors(t *testing.T, path string) (fds []int) {
	t.Helper()
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	links, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range links {
		if to, err := os.Readlink(link); err != nil || to != path {
			continue // some are closed by now
		}
		fd, err := strconv.Atoi(filepath.Base(link))
		if err != nil {
			t.Fatal(err)
		}
		fds = append(fds, fd)
	}
	if len(fds) == 0 {
		t.Fatal("the lock is not open")
	}
	return fds
}
