package jail

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"

	"carrel/sandbox/landlock"
	"carrel/sandbox/plan"
	"carrel/sandbox/policy"
)

// Hide keeps others of the same user from reading this process's memory, environment and
// descriptors, and keeps it from leaving a core file.
func Hide() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return failure("hide process", "", err)
	}
	return nil
}

// DropRights gives up every capability on the calling thread, and the ways to get one: root's own
// included, who has none after the next program.
func DropRights() error {
	// Root gets all rights with each program, unless his number means nothing any more. Without
	// CAP_SETPCAP that can't be said; then the bounds below or no new privileges do.
	const noRoot = 1<<0 | 1<<1 | 1<<2 | 1<<3 // SECBIT_NOROOT, SECBIT_NO_SETUID_FIXUP, locked
	if err := unix.Prctl(unix.PR_SET_SECUREBITS, noRoot, 0, 0, 0); err != nil && !errors.Is(err, unix.EPERM) {
		return failure("give up root's rights", "", err)
	}
	for c := uintptr(0); c <= 63; c++ {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil {
			// EINVAL: the kernel's last one was before. EPERM: there are no rights to give up.
			if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EPERM) {
				break
			}
			return failure("drop capability bound", "", err)
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return failure("clear ambient capabilities", "", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return failure("set no new privileges", "", err)
	}
	return capset(func(trap, a1, a2, a3 uintptr) (uintptr, uintptr, syscall.Errno) {
		return syscall.Syscall(trap, a1, a2, a3)
	})
}

// dropEverywhere empties the capability sets of each thread; the calling one's ways back are gone.
func dropEverywhere() error {
	if err := DropRights(); err != nil {
		return err
	}
	return capset(syscall.AllThreadsSyscall)
}

// Isolated reports whether commands get a network namespace.
func Isolated(n policy.Network) bool { return n != policy.NetworkAllow }

// Rules turns a plan's grants into Landlock's.
func Rules(access []plan.Access) []landlock.Rule {
	rules := make([]landlock.Rule, len(access))
	for i, a := range access {
		rules[i].Path = a.Path
		for _, r := range []struct {
			plan plan.Rights
			ours landlock.Rights
		}{{plan.Read, landlock.Read}, {plan.Write, landlock.Write}, {plan.Device, landlock.Device}, {plan.List, landlock.List}, {plan.Socket, landlock.Socket}} {
			if a.Rights&r.plan != 0 {
				rules[i].Rights |= r.ours
			}
		}
	}
	return rules
}

// setLimits bounds this process, and so what it starts.
func setLimits(l Limits) error {
	set := func(name string, resource int, value int64) error {
		if value <= 0 && resource != unix.RLIMIT_CORE {
			return nil
		}
		var have unix.Rlimit
		if err := unix.Getrlimit(resource, &have); err != nil {
			return failure("read limit", name, err)
		}
		have.Max = min(have.Max, uint64(value))
		have.Cur = have.Max
		if err := unix.Setrlimit(resource, &have); err != nil {
			return failure("set limit", name, err)
		}
		return nil
	}
	return errors.Join(
		set("core", unix.RLIMIT_CORE, l.Core),
		set("file size", unix.RLIMIT_FSIZE, l.FileSize),
	)
}

// Limit bounds what would be in this process's own way. Processes are counted in the user
// namespace of the workspace.
func Limit(pid int, l Limits) {
	for _, r := range []struct {
		resource int
		value    int64
	}{{unix.RLIMIT_NOFILE, int64(l.OpenFiles)}, {unix.RLIMIT_NPROC, int64(l.Processes)}, {unix.RLIMIT_AS, l.Memory}} {
		var have unix.Rlimit
		if r.value <= 0 || unix.Prlimit(pid, r.resource, nil, &have) != nil { // the command may have ended
			continue
		}
		if bound := uint64(r.value); have.Max > bound || have.Cur > bound {
			have.Max = min(have.Max, bound)
			have.Cur = min(have.Cur, have.Max)
			_ = unix.Prlimit(pid, r.resource, &have, nil)
		}
	}
}
