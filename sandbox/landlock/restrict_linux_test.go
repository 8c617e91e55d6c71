package landlock

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// under runs f on a thread of its own that has the rules, and ends with it.
func under(t *testing.T, r Ruleset, f func()) {
	t.Helper()
	version, _ := Version()
	if version < MinScope {
		t.Fatalf("the kernel's Landlock has version %d: %d is needed to test it", version, MinScope)
	}
	done := make(chan error, 1)
	go onNewThread(func() {
		err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
		if err = errors.Join(err, r.Restrict(version)); err == nil {
			f()
		}
		done <- err
	})
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// onNewThread stays locked to its thread, which so ends with it; the process's first one never does.
func onNewThread(f func()) {
	runtime.LockOSThread()
	if unix.Gettid() != unix.Getpid() {
		f()
		return
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		runtime.LockOSThread()
		f()
	}()
	<-ended
	runtime.UnlockOSThread()
}

// tree makes a folder "in" with a file, beside a file, and gives their place.
func tree(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "in", "deep"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"in/deep/file", "out"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("text"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// deeds are what is tried, by name; each is given a place that is free and a file.
func deeds() map[string]func(free, file string) error {
	return map[string]func(free, file string) error{
		"read": func(_, file string) error { _, err := os.ReadFile(file); return err },
		"list": func(_, file string) error { _, err := os.ReadDir(filepath.Dir(file)); return err },
		"write": func(_, file string) error {
			f, err := os.OpenFile(file, os.O_WRONLY, 0)
			if err == nil {
				err = f.Close()
			}
			return err
		},
		"truncate": func(_, file string) error { return os.Truncate(file, 4) },
		"make":     func(free, _ string) error { return errors.Join(os.Mkdir(free, 0o755), os.Remove(free)) },
		"link":     func(free, file string) error { return errors.Join(os.Link(file, free), os.Remove(free)) },
		"device":   func(free, _ string) error { return unix.Mknod(free, unix.S_IFCHR|0o600, int(unix.Mkdev(1, 3))) },
	}
}

func TestOnlyWhatIsGrantedCanBeDone(t *testing.T) {
	dir := tree(t)
	all := []string{"read", "list", "write", "truncate", "make", "link"}
	for _, c := range []struct {
		what   string
		rules  Ruleset
		inside []string // that can be done in the granted folder; nothing can beside it
	}{
		{"nothing", Ruleset{}, nil},
		{"reading", Ruleset{Rules: []Rule{{filepath.Join(dir, "in"), Read}}}, []string{"read", "list"}},
		{"listing", Ruleset{Rules: []Rule{{filepath.Join(dir, "in"), List}}}, []string{"list"}},
		{"reading and writing", Ruleset{Rules: []Rule{{filepath.Join(dir, "in"), Read | Write}}}, all},
		{"one file", Ruleset{Rules: []Rule{{filepath.Join(dir, "in/deep/file"), Read | Write}}}, []string{"read", "write", "truncate"}},
		{"what is gone", Ruleset{Rules: []Rule{{filepath.Join(dir, "gone"), Read | Write}}}, nil},
	} {
		under(t, c.rules, func() {
			check(t, c.what+": inside", filepath.Join(dir, "in/deep/new"), filepath.Join(dir, "in/deep/file"), c.inside)
			check(t, c.what+": beside", filepath.Join(dir, "new"), filepath.Join(dir, "out"), nil)
		})
	}
	check(t, "another thread", filepath.Join(dir, "new"), filepath.Join(dir, "out"), all)
}

func TestLightLeavesReadingAndTruncatingToMounts(t *testing.T) {
	dir := tree(t)
	under(t, Ruleset{Light: true, Rules: []Rule{{filepath.Join(dir, "in"), Read | Write}}}, func() {
		check(t, "inside", filepath.Join(dir, "in/deep/new"), filepath.Join(dir, "in/deep/file"), []string{"read", "list", "write", "truncate", "make", "link"})
		check(t, "beside", filepath.Join(dir, "new"), filepath.Join(dir, "out"), []string{"read", "list", "truncate"})
	})
}

func check(t *testing.T, where, free, file string, can []string) {
	t.Helper()
	allowed := map[string]bool{}
	for _, name := range can {
		allowed[name] = true
	}
	for name, do := range deeds() {
		if err := do(free, file); name != "device" && (err == nil) != allowed[name] {
			t.Errorf("%s: %s: %v", where, name, err)
		} else if name == "device" && err == nil {
			_ = os.Remove(free)
			if where != "another thread" {
				t.Errorf("%s: a device was made", where)
			}
		}
	}
}

func TestFilesPassBetweenGrantedFoldersOnly(t *testing.T) {
	dir := tree(t)
	other := filepath.Join(dir, "other")
	if err := os.Mkdir(other, 0o755); err != nil {
		t.Fatal(err)
	}
	file, beside := filepath.Join(dir, "in/deep/file"), filepath.Join(dir, "taken")
	under(t, Ruleset{Rules: []Rule{{filepath.Join(dir, "in"), Read | Write}, {other, Read | Write}}}, func() {
		if err := os.Rename(file, beside); err == nil {
			t.Error("a file was moved out")
		}
		if err := os.Rename(file, filepath.Join(other, "file")); err != nil {
			t.Error(err)
		}
	})
}

func TestRulesFollowNoLink(t *testing.T) {
	dir := tree(t)
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(dir, "in"), link); err != nil {
		t.Fatal(err)
	}
	under(t, Ruleset{Rules: []Rule{{link, Read | Write}}}, func() {
		check(t, "where a link leads", filepath.Join(dir, "in/deep/new"), filepath.Join(dir, "in/deep/file"), nil)
	})
	version, _ := Version()
	done := make(chan error, 1)
	go onNewThread(func() {
		_ = unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
		done <- Ruleset{Rules: []Rule{{filepath.Join(link, "deep"), Read}}}.Restrict(version)
	})
	if err := <-done; !errors.Is(err, unix.ELOOP) {
		t.Errorf("a rule beyond a symbolic link: %v", err)
	}
}

func TestOnlyListedPortsAreReached(t *testing.T) {
	var ports []uint16
	for range 2 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Close() }()
		ports = append(ports, uint16(l.Addr().(*net.TCPAddr).Port))
	}
	dial := func(port uint16) error {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer func() { _ = unix.Close(fd) }()
		return unix.Connect(fd, &unix.SockaddrInet4{Port: int(port), Addr: [4]byte{127, 0, 0, 1}})
	}
	under(t, Ruleset{Ports: true, Connect: ports[:1]}, func() {
		if err := dial(ports[0]); err != nil {
			t.Error(err)
		}
		if err := dial(ports[1]); !errors.Is(err, unix.EACCES) {
			t.Errorf("a port that is not listed: %v", err)
		}
	})
}

func TestSignalsStayInside(t *testing.T) {
	self := unix.Getpid()
	under(t, Ruleset{Scope: true}, func() {
		if err := unix.Kill(unix.Getppid(), 0); !errors.Is(err, unix.EPERM) {
			t.Errorf("a signal to the parent: %v", err)
		}
		if err := unix.Tgkill(self, unix.Gettid(), 0); err != nil {
			t.Errorf("a signal to itself: %v", err)
		}
	})
}

func TestWhatTheKernelLacksIsAnError(t *testing.T) {
	for _, c := range []struct {
		rules   Ruleset
		version int
	}{{Ruleset{}, MinAny - 1}, {Ruleset{Ports: true}, MinPorts - 1}, {Ruleset{Scope: true}, MinScope - 1}} {
		if err := c.rules.Restrict(c.version); !errors.Is(err, unix.ENOSYS) {
			t.Errorf("%+v with version %d: %v", c.rules, c.version, err)
		}
	}
}

func TestRightsAreListedForPeople(t *testing.T) {
	if got := (Read | Write | Device).String(); got != "read,write,device" {
		t.Error(got)
	}
}
