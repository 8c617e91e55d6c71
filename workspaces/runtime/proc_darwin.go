package runtime

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// zombie is the state SZOMB of sys/proc.h.
const zombie = 5

// findProc looks up a process. Its start time is in microseconds.
func findProc(pid int) (proc, bool) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(k.Proc.P_pid) != pid {
		return proc{}, false
	}
	return fromKinfo(k), true
}

func fromKinfo(k *unix.KinfoProc) proc {
	p := proc{pid: int(k.Proc.P_pid), group: int(k.Eproc.Pgid), dead: k.Proc.P_stat == zombie}
	p.session, _ = unix.Getsid(p.pid)
	p.start = uint64(k.Proc.P_starttime.Sec)*1e6 + uint64(k.Proc.P_starttime.Usec)
	return p
}

// allProcs lists this user's living processes.
func allProcs() []proc {
	ks, err := unix.SysctlKinfoProcSlice("kern.proc.uid", os.Getuid())
	if err != nil {
		return nil
	}
	var all []proc
	for i := range ks {
		if p := fromKinfo(&ks[i]); !p.dead {
			all = append(all, p)
		}
	}
	return all
}

// environ gives a process's arguments and environment, NUL-separated; empty when the system does
// not tell, as for its own protected programs.
func environ(pid int) []byte {
	b, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil {
		return nil
	}
	return b
}

func signalProc(p proc, sig syscall.Signal) {
	if now, ok := findProc(p.pid); ok && now.start == p.start {
		_ = unix.Kill(p.pid, sig)
	}
}

// dirOf is the directory that a process is in; macOS tells it to few.
func dirOf(int) string { return "" }
