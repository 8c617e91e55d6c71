package jail

import (
	"slices"

	"golang.org/x/sys/unix"

	"carrel/sandbox/landlock"
	"carrel/sandbox/plan"
	"carrel/sandbox/policy"
	"carrel/sandbox/seccomp"
)

// fence applies Landlock and seccomp to the calling thread, which has no rights. Everything that it starts inherits
// them; the rest of the process does not need them, for nothing can reach it.
func fence(p *plan.Plan, c Confine) error {
	rules := fenceRules(p, c)
	rules.Light = seesAll(p.Access)
	if err := restrict(rules, c); err != nil {
		return err
	}
	return filter(p.Network, p.Unix)
}

// fenceWhole fences the thread in further, for a command that holds a file or folder on a mount of the
// host's, where no mount of the plan holds: through /proc/self/fd it could be emptied, or left for what
// lies beside it. Nor may the command pass it on to one whose fence is light.
func fenceWhole(p *plan.Plan, c Confine) error {
	if err := restrict(fenceRules(p, c), c); err != nil || !p.Unix {
		return err
	}
	return filter(p.Network, false)
}

// fenceRules are Landlock's for a plan.
func fenceRules(p *plan.Plan, c Confine) landlock.Ruleset {
	return landlock.Ruleset{Rules: Rules(p.Access), Scope: c.Landlock >= landlock.MinScope}
}

func restrict(rules landlock.Ruleset, c Confine) error {
	if len(rules.Rules) == 0 || c.Landlock < landlock.MinAny { // mounts hold alone, as the plan says
		return nil
	}
	if err := rules.Restrict(c.Landlock); err != nil {
		return failure("apply Landlock", "", err)
	}
	return nil
}

// filter applies seccomp. Whether commands may make Unix sockets is said apart.
func filter(network policy.Network, sockets bool) error {
	inet := seccomp.InetOpen
	if Isolated(network) {
		inet = seccomp.InetOwn
	}
	if err := seccomp.Install(seccomp.Rules{Inet: inet, Unix: sockets}); err != nil {
		return failure("apply seccomp", "", err)
	}
	return nil
}

// seesAll reports whether a plan's mounts alone say what can be read.
func seesAll(access []plan.Access) bool {
	return slices.ContainsFunc(access, func(a plan.Access) bool { return a.Path == "/" && a.Rights&plan.Read != 0 })
}

// fromOutside reports whether a stream is a folder, or a file that is open for reading only. One that is open for
// writing can be emptied anyway.
func fromOutside(streams []int) bool {
	return slices.ContainsFunc(streams, func(fd int) bool {
		var st unix.Stat_t
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
		if err != nil || unix.Fstat(fd, &st) != nil {
			return true
		}
		switch st.Mode & unix.S_IFMT {
		case unix.S_IFIFO, unix.S_IFSOCK, unix.S_IFCHR:
			return false
		case unix.S_IFREG:
			return flags&unix.O_ACCMODE == unix.O_RDONLY
		}
		return true
	})
}
