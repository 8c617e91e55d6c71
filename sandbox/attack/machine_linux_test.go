package attack

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"golang.org/x/sys/unix"

	"carrel/sandbox/jail"
)

// The machine's people and places.
const (
	uid       = 1000
	homes     = "/home" // of this machine alone
	home      = homes + "/user"
	project   = home + "/code/project"
	worktree  = home + "/code/wt"
	outside   = home + "/code/outside"
	template  = "/home/.template"
	dataRoot  = "/home/carrel"
	rigBin    = homes + "/rig/bin"
	rigLog    = homes + "/rig/log"
	shmKey    = 4711
	hostPort  = 18080
	udpPort   = 18081
	proxyPort = 14001
	goCache   = homes + "/go-build" // the Go cache of whoever runs the tests
	firstPID  = 20000               // of what lives outside of sandboxes, so that no process inside has its number
)

// machine is the inside of one set of namespaces.
type machine struct {
	services *services
	victim   *exec.Cmd
	victim2  *exec.Cmd
	address  string // of the secret in the victim's memory
}

// machineMain serves jobs, one JSON line each, until its input ends. Its argument in the environment
// is a folder on disk that becomes the machine's /home and /tmp.
func machineMain() int {
	base, exe, carrel := os.Getenv("RIG_BASE"), os.Getenv("RIG_EXE"), os.Getenv("RIG_CARREL")
	m := &machine{}
	if err := setUp(base, exe, carrel); err != nil {
		return fail("set up the machine: %v", err)
	}
	var err error
	if m.services, err = serve(); err != nil {
		return fail("serve: %v", err)
	}
	if err := buildHome(); err != nil {
		return fail("build the home: %v", err)
	}
	if cache := os.Getenv("RIG_GOCACHE"); cache != "" {
		if err := lend(cache, goCache); err != nil {
			fmt.Fprintln(os.Stderr, "rig: compiling everything anew:", err)
		}
	}
	in := bufio.NewReader(os.Stdin)
	out := json.NewEncoder(os.Stdout)
	for {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return 0
		}
		var j job
		if err == nil {
			err = json.Unmarshal(line, &j)
		}
		if err != nil {
			return fail("read a job: %v", err)
		}
		r, err := m.run(j)
		if err != nil {
			r.Err = err.Error()
		}
		if err := out.Encode(r); err != nil {
			return fail("answer: %v", err)
		}
	}
}

// setUp makes what the user sees: own /home, /tmp, /run, /dev/shm and /proc, the same programs.
func setUp(base, exe, carrel string) error {
	steps := []struct {
		what string
		do   func() error
	}{
		{"private mounts", func() error { return unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "") }},
		{"folders", func() error { return makeDirs(base) }},
		{"programs", func() error { return programs(base, exe, carrel) }},
		{"/home", func() error { return unix.Mount(filepath.Join(base, "home"), "/home", "", unix.MS_BIND, "") }},
		{"/run", func() error { return unix.Mount("tmpfs", "/run", "tmpfs", unix.MS_NOSUID, "mode=755") }},
		{"/etc/resolv.conf", nameServer},
		{"/tmp", func() error { return unix.Mount(filepath.Join(base, "tmp"), "/tmp", "", unix.MS_BIND, "") }},
		{"/dev/shm", func() error {
			return unix.Mount("tmpfs", "/dev/shm", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=1777")
		}},
		{"/dev/fuse", fuseDevice},
		{"/proc", func() error {
			return unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
		}},
		{"/sys", kernelSetting},
		{"cgroups", delegatedGroup},
		{"network", network},
		{"process numbers", func() error {
			return os.WriteFile("/proc/sys/kernel/ns_last_pid", []byte(fmt.Sprint(firstPID)), 0)
		}},
	}
	for _, s := range steps {
		if err := s.do(); err != nil {
			return fmt.Errorf("%s: %w", s.what, err)
		}
	}
	return nil
}

func makeDirs(base string) error {
	for _, d := range []struct {
		name string
		mode fs.FileMode
		own  bool
	}{
		{"home", 0o755, false}, {"tmp", 0o777 | fs.ModeSticky, false}, {"home/user", 0o755, true},
		{"home/carrel", 0o700, true}, {"home/rig", 0o755, false}, {"home/rig/bin", 0o755, false}, {"home/rig/log", 0o777, false},
	} {
		path := filepath.Join(base, d.name)
		if err := os.MkdirAll(path, 0o755); err != nil {
			return err
		}
		if err := os.Chmod(path, d.mode); err != nil {
			return err
		}
		if d.own {
			if err := os.Chown(path, uid, uid); err != nil {
				return err
			}
		}
	}
	return nil
}

// programs puts the rig's own programs where the user can run them.
func programs(base, exe, carrel string) error {
	bin := filepath.Join(base, "home/rig/bin")
	for _, p := range []struct {
		from, name string
		mode       fs.FileMode
	}{{exe, "rig", 0o755}, {exe, "px", 0o755}, {exe, "fusermount", 0o755 | fs.ModeSetuid}, {carrel, "carrel", 0o755}} {
		if err := copyFile(p.from, filepath.Join(bin, p.name), p.mode); err != nil {
			return err
		}
	}
	return nil
}

func copyFile(from, to string, mode fs.FileMode) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o700)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err == nil {
		err = out.Chmod(mode)
	}
	if closing := out.Close(); err == nil {
		err = closing
	}
	return err
}

func nameServer() error {
	if err := os.WriteFile("/run/resolv.conf", []byte("nameserver 127.0.0.53\noptions timeout:1 attempts:1\n"), 0o644); err != nil {
		return err
	}
	target, err := filepath.EvalSymlinks("/etc/resolv.conf")
	if err != nil {
		return nil // it leads into /run, which is ours now, or is not there
	}
	return unix.Mount("/run/resolv.conf", target, "", unix.MS_BIND, "")
}

// fuseDevice is open to everybody, as on most machines.
func fuseDevice() error {
	if err := unix.Mknod("/run/fuse", unix.S_IFCHR|0o666, int(unix.Mkdev(10, 229))); err != nil {
		return err
	}
	if err := os.Chmod("/run/fuse", 0o666); err != nil {
		return err
	}
	return unix.Mount("/run/fuse", "/dev/fuse", "", unix.MS_BIND, "")
}

// kernelSetting makes one of the kernel's settings writable for the user, as they are for an
// application that runs as root in a container.
func kernelSetting() error {
	if err := os.WriteFile("/run/ksm", []byte("0\n"), 0o644); err != nil {
		return err
	}
	if err := os.Chown("/run/ksm", uid, uid); err != nil {
		return err
	}
	return unix.Mount("/run/ksm", "/sys/kernel/mm/ksm/run", "", unix.MS_BIND, "")
}

// delegatedGroup is a control group that the user may write, as systemd delegates them.
func delegatedGroup() error {
	if err := unix.Mount("tmpfs", "/sys/fs/cgroup", "tmpfs", unix.MS_NOSUID, "mode=755"); err != nil {
		return err
	}
	dir := "/sys/fs/cgroup/user.slice"
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(dir+"/cgroup.procs", nil, 0o644); err != nil {
		return err
	}
	return errors.Join(os.Chown(dir, uid, uid), os.Chown(dir+"/cgroup.procs", uid, uid))
}

// network brings the loopback up; every address leads to it. None of them is an address of one of the
// machine's interfaces, which no name may lead to.
func network() error {
	return errors.Join(jail.RaiseLoopback(), jail.RouteToSelf(unix.AF_INET))
}
