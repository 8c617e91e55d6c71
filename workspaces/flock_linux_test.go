package workspaces

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// A process that is being started has every open file for a moment, until it runs its program.
func TestALockThatIsLetGoIsFreeWhileAProcessStarts(t *testing.T) {
	path := filepath.Join(realTemp(t), "lock")
	unlock, err := tryLock(path)
	if err != nil {
		t.Fatal(err)
	}
	links, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	copies := 0
	for _, link := range links {
		if to, err := os.Readlink(link); err != nil || to != path {
			continue // some are closed by now
		}
		fd, err := strconv.Atoi(filepath.Base(link))
		if err != nil {
			t.Fatal(err)
		}
		child, err := unix.Dup(fd)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = unix.Close(child) }()
		copies++
	}
	unlock()
	again, err := tryLock(path)
	if err != nil || copies == 0 {
		t.Fatalf("%d copies, %v", copies, err)
	}
	again()
}
