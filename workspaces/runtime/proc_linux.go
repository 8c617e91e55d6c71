package runtime

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// findProc looks up a process. Its start time is in clock ticks since boot.
func findProc(pid int) (proc, bool) {
	stat, err := readProc(pid, "stat", 1<<10)
	if err != nil {
		return proc{}, false
	}
	// The name is in brackets and may hold anything; the fields after it are counted from 3.
	_, rest, ok := bytes.Cut(stat[max(0, bytes.LastIndexByte(stat, ')')):], []byte(") "))
	f := strings.Fields(string(rest))
	if !ok || len(f) < 20 {
		return proc{}, false
	}
	p := proc{pid: pid, dead: f[0] == "Z" || f[0] == "X"}
	p.group, _ = strconv.Atoi(f[2])
	p.session, _ = strconv.Atoi(f[3])
	p.start, _ = strconv.ParseUint(f[19], 10, 64)
	return p, true
}

// allProcs lists the living processes that this one may see.
func allProcs() []proc {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer func() { _ = dir.Close() }()
	names, _ := dir.Readdirnames(-1)
	var all []proc
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if p, ok := findProc(pid); ok && !p.dead {
			all = append(all, p)
		}
	}
	return all
}

// environ gives a process's environment as it was when the program started, NUL-separated; empty
// when this process may not read it.
func environ(pid int) []byte {
	env, err := readProc(pid, "environ", 16<<10)
	if err != nil {
		return nil
	}
	return env
}

// readProc reads a file of a process, which is mostly of about that size. All processes are looked at one
// after another, and this takes half the system calls of os.ReadFile.
func readProc(pid int, name string, size int) ([]byte, error) {
	fd, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/"+name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unix.Close(fd) }()
	text := make([]byte, 0, size)
	for {
		n, err := unix.Read(fd, text[len(text):cap(text)])
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return nil, err
		case n == 0:
			return text, nil
		}
		if text = text[:len(text)+max(n, 0)]; len(text) == cap(text) {
			text = slices.Grow(text, cap(text))
		}
	}
}

// signalProc signals exactly this process, even if its id is reused at this moment.
func signalProc(p proc, sig syscall.Signal) {
	fd, err := unix.PidfdOpen(p.pid, 0)
	if err != nil {
		if now, ok := findProc(p.pid); ok && now.start == p.start {
			_ = unix.Kill(p.pid, sig)
		}
		return
	}
	defer func() { _ = unix.Close(fd) }()
	if now, ok := findProc(p.pid); ok && now.start == p.start {
		_ = unix.PidfdSendSignal(fd, sig, nil, 0)
	}
}

// dirOf is the directory that a process is in, "" when that can't be told.
func dirOf(pid int) string {
	dir, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/cwd")
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(dir, " (deleted)")
}
