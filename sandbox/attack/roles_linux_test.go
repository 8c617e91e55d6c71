package attack

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TestMain lets the test binary be everything that the rig needs on its machine.
func TestMain(m *testing.M) {
	if len(os.Args) > 0 {
		switch filepath.Base(os.Args[0]) {
		case "px":
			os.Exit(px(os.Args[1:]))
		case "fusermount":
			os.Exit(fusermount(os.Args[1:]))
		}
	}
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "rig-init":
			os.Exit(initMain())
		case "rig-machine":
			os.Exit(machineMain())
		case "rig-victim":
			victimMain()
		case "rig-app":
			os.Exit(appMain(os.Args[2:]))
		}
	}
	os.Exit(m.Run())
}

func fail(format string, args ...any) int {
	fmt.Fprintf(os.Stderr, "rig: "+format+"\n", args...)
	return 120
}

// initMain is the machine's first process. It starts the machine as root, then becomes the user, so
// that the user's programs may look at it as on a desktop where the session is the user's own.
func initMain() int {
	cmd := exec.Command("/proc/self/exe", "rig-machine")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = os.Environ()
	if err := cmd.Start(); err != nil {
		return fail("start the machine: %v", err)
	}
	if err := become(uid); err != nil {
		return fail("become the user: %v", err)
	}
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		if err == nil && pid == cmd.Process.Pid {
			return status.ExitStatus()
		}
		if err != nil && err != syscall.EINTR {
			return fail("wait: %v", err)
		}
	}
}

func become(id int) error {
	if err := syscall.Setgroups(nil); err != nil {
		return err
	}
	if err := syscall.Setgid(id); err != nil {
		return err
	}
	if err := syscall.Setuid(id); err != nil {
		return err
	}
	return unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0)
}

// secretMemory is what the victim holds in its memory.
var secretMemory = []byte("SECRET-MEM of the victim, in memory only")

// victimMain is a process of the user outside of every sandbox: it holds a secret in its memory, its
// environment, its arguments, and on descriptor 7 the user's key.
func victimMain() {
	_ = unix.Prctl(unix.PR_SET_PTRACER, ^uintptr(0), 0, 0, 0) // as if nothing but the sandbox restricted tracing
	if err := shareMemory(); err != nil {
		os.Exit(fail("share memory: %v", err))
	}
	if _, err := unix.AddKey("user", "carrel-rig", []byte("SECRET-KEYRING"), unix.KEY_SPEC_USER_KEYRING); err != nil {
		os.Exit(fail("add a key: %v", err))
	}
	fmt.Printf("%x\n", uintptr(unsafe.Pointer(&secretMemory[0])))
	_ = os.Stdout.Close()
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGTERM)
	<-c
	os.Exit(0)
}

// shareMemory makes the user's System V segment.
func shareMemory() error {
	id, err := unix.SysvShmGet(shmKey, 4096, unix.IPC_CREAT|0o600)
	if err != nil {
		return err
	}
	mem, err := unix.SysvShmAttach(id, 0, 0)
	if err != nil {
		return err
	}
	copy(mem, "SECRET-SHM")
	return nil
}

// appMain stands in for the application when there is no sandbox: it has the secrets in its
// environment, starts a shell and hands everything on.
func appMain(argv []string) int {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.ExtraFiles = []*os.File{nil, nil, nil, nil, nil, os.NewFile(8, "8"), os.NewFile(9, "9")}
	err := cmd.Run()
	if cmd.ProcessState == nil {
		return fail("start the shell: %v", err)
	}
	if code := cmd.ProcessState.ExitCode(); code >= 0 {
		return code
	}
	return 128
}

// fusermount stands in for the set-user-id program of that name: it mounts a FUSE file system for
// whoever calls it.
func fusermount(args []string) int {
	if args[0] == "--probe" { // says whether it has its rights
		return map[bool]int{true: 3, false: 1}[os.Geteuid() == 0]
	}
	dev, err := unix.Open("/dev/fuse", unix.O_RDWR, 0)
	if err != nil {
		return fail("open the device: %v", err)
	}
	data := fmt.Sprintf("fd=%d,rootmode=40000,user_id=%d,group_id=%d", dev, os.Getuid(), os.Getgid())
	if err := unix.Mount("x", args[len(args)-1], "fuse", unix.MS_NOSUID|unix.MS_NODEV, data); err != nil {
		return fail("mount: %v", err)
	}
	_ = unix.Unmount(args[len(args)-1], unix.MNT_DETACH)
	return 0
}

// leaked are the descriptors that the application under test has open: a connection and a folder.
func leaked(outside string) ([]*os.File, error) {
	dir, err := os.Open(outside)
	if err != nil {
		return nil, err
	}
	conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", hostPort))
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return nil, fmt.Errorf("a %T", conn)
	}
	sock, err := tcp.File()
	if err != nil {
		return nil, err
	}
	return []*os.File{nil, nil, nil, nil, nil, sock, dir}, nil
}
