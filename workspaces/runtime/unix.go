//go:build unix

package runtime

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// nonblock keeps Open from waiting for the writer of a fifo.
const nonblock = unix.O_NONBLOCK

// folderOnly makes opening anything but a folder fail.
const folderOnly = unix.O_DIRECTORY

// ownSession gives a command a session of its own: no controlling terminal, own process group.
func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func exitCode(s *os.ProcessState) int {
	if s == nil {
		return -1
	}
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return s.ExitCode()
}

// readNow reads what the pipe holds, without waiting: 0 when it holds nothing.
func readNow(f *os.File, buf []byte) int {
	conn, err := f.SyscallConn()
	if err != nil {
		return 0
	}
	n := 0
	err = conn.Read(func(fd uintptr) bool {
		n, _ = unix.Read(int(fd), buf)
		return true
	})
	if err != nil {
		return 0
	}
	return n
}

// signalGroup signals the group that leader started, unless its id now belongs to another process.
// member reports whether a process that is left in the group is one of ours.
func signalGroup(leader proc, sig syscall.Signal, member func(proc) bool) {
	now, ok := findProc(leader.pid)
	if ok && leader.start != 0 && now.start != leader.start {
		return
	}
	if !ok && leader.start != 0 && !anyProc(func(q proc) bool { return q.group == leader.pid && member(q) }) {
		return
	}
	_ = unix.Kill(-leader.pid, sig)
}

// groupGone reports whether a process group is empty. A zombie in it counts as a member.
func groupGone(id int) bool { return errors.Is(unix.Kill(-id, 0), unix.ESRCH) }

// owner gives the ids of a file's owner and group.
func owner(info fs.FileInfo) (uid, gid int, ok bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return int(s.Uid), int(s.Gid), true
}

// busy reports that an executable is running, which does not keep us from replacing it.
func busy(err error) bool { return errors.Is(err, unix.ETXTBSY) }
