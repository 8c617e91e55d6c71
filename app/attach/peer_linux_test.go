package attach

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// asNobody connects to a socket as user 65534 and returns what it got to read.
func asNobody(path string) (string, error) {
	type result struct {
		text string
		err  error
	}
	done := make(chan result)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with its user
		text, err := func() (string, error) {
			if _, _, errno := syscall.RawSyscall(unix.SYS_SETRESUID, ^uintptr(0), 65534, ^uintptr(0)); errno != 0 {
				return "", errno
			}
			fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
			if err != nil {
				return "", err
			}
			defer func() { _ = unix.Close(fd) }()
			if err := unix.Connect(fd, &unix.SockaddrUnix{Name: path}); err != nil {
				return "", err
			}
			_, _ = unix.Write(fd, []byte(`{"op":"hello"}`+"\n")) // it may have hung up already
			buf := make([]byte, 1000)
			n, _ := unix.Read(fd, buf)
			return string(buf[:max(n, 0)]), nil
		}()
		done <- result{text, err}
	}()
	r := <-done
	return r.text, r.err
}

func TestAnotherUserIsNotAnswered(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to become another user")
	}
	dir, err := os.MkdirTemp("", "carrel-peer-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	root := openRoot(t, filepath.Join(dir, "root"))
	f := &fakeCore{hello: Hello{Token: "secret"}, closed: make(chan struct{})}
	s, err := Serve(t.Context(), root, f, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	path := root.Path("run", socketName)
	if _, err := asNobody(path); !errors.Is(err, unix.EACCES) {
		t.Errorf("the root's mode lets others in: %v", err)
	}
	for _, p := range []string{dir, root.Dir(), root.Path("run"), path} { // even if it did
		if err := os.Chmod(p, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	text, err := asNobody(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text, "secret") || text != "" {
		t.Errorf("another user was told %q", text)
	}
}
