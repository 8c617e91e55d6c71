//go:build !unix

package runtime

import (
	"io/fs"
	"os"
	"syscall"
)

const (
	nonblock   = 0
	folderOnly = 0
)

func ownSession() *syscall.SysProcAttr { return nil }

func exitCode(s *os.ProcessState) int {
	if s == nil {
		return -1
	}
	return s.ExitCode()
}

func readNow(*os.File, []byte) int { return 0 }

func signalGroup(leader proc, _ syscall.Signal, _ func(proc) bool) {
	if p, err := os.FindProcess(leader.pid); err == nil {
		_ = p.Kill()
	}
}

func groupGone(int) bool { return true }

func owner(fs.FileInfo) (uid, gid int, ok bool) { return 0, 0, false }

func busy(error) bool { return false }
