package plan

import "strconv"

// Bwrap is the plan as arguments of bubblewrap, up to and including "--" and then what it starts, which
// adds Landlock and seccomp. They may be many: hand them over with --args. The environment is what
// bubblewrap is started with. The network namespace is made unless the network is open.
func (p Plan) Bwrap(then ...string) []string {
	args := []string{
		"--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
		"--die-with-parent", "--new-session", "--cap-drop", "ALL",
	}
	if p.Network != "allow" {
		args = append(args, "--unshare-net")
	}
	for _, m := range p.Mounts {
		args = append(args, m.bwrap()...)
	}
	if p.Dir != "" {
		args = append(args, "--chdir", p.Dir)
	}
	return append(append(args, "--"), then...)
}

// bwrap is one step.
func (m Mount) bwrap() []string {
	mode := []string{"--perms", "0" + strconv.FormatUint(uint64(m.Mode), 8)}
	switch m.Kind {
	case KindRoot:
		return []string{"--ro-bind", "/", "/"}
	case KindProc:
		return []string{"--proc", m.Target}
	case KindDev:
		return []string{"--dev", m.Target}
	case KindTmpfs:
		return append(mode, "--tmpfs", m.Target)
	case KindDir:
		return append(mode, "--dir", m.Target)
	case KindSeal:
		return []string{"--remount-ro", m.Target}
	case KindLink:
		return []string{"--symlink", m.Link, m.Target}
	case KindRO:
		return []string{"--ro-bind", m.Source, m.Target}
	case KindRW, KindPin:
		return []string{"--bind", m.Source, m.Target}
	case KindOverlay:
		return []string{"--overlay-src", m.Source, "--overlay", m.Upper, m.Work, m.Target}
	case KindMask:
		if m.Dir {
			return []string{"--perms", "0000", "--tmpfs", m.Target, "--remount-ro", m.Target}
		}
		return []string{"--ro-bind", "/dev/null", m.Target}
	}
	return nil
}
