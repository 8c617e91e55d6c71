package jail

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"carrel/sandbox/plan"
)

// control is the descriptor of the socket that a supervisor or helper is started with.
const control = 3

// helperFlags are the namespaces of one command.
const helperFlags = unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP

// supervisor owns the user namespace of a workspace and the network namespaces in it, in a mount
// namespace of its own.
type supervisor struct {
	conn    *Conn
	rooms   map[Room]*thread
	layers  map[string]bool // upper folders whose overlay is mounted here
	mu      sync.Mutex
	helpers map[int]bool // process ids
	alive   sync.WaitGroup
}

// Supervise runs the supervisor until its socket ends; it must be called first of all, on the main
// goroutine, for helpers end with the thread that started them.
func Supervise() error {
	runtime.LockOSThread()
	if err := closeOthers(); err != nil {
		return err
	}
	conn, err := NewConn(control)
	if err != nil {
		return err
	}
	s := &supervisor{conn: conn, rooms: map[Room]*thread{}, layers: map[string]bool{}, helpers: map[int]bool{}}
	if err := s.setUp(); err != nil {
		return conn.Send(answer(err))
	}
	if err := conn.Send(Message{Kind: Done}); err != nil {
		return err
	}
	for {
		m, files, err := conn.Receive()
		CloseAll(files)
		if err != nil {
			s.end()
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		fds, have, err := s.serve(m)
		reply := answer(err)
		reply.Endpoints = have
		err = conn.Send(reply, fds...)
		CloseAll(fds)
		if err != nil {
			s.end()
			return err
		}
	}
}

func (s *supervisor) setUp() error {
	if err := Hide(); err != nil {
		return err
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return failure("make mounts private", "/", err)
	}
	return nil
}

// answer is Done, or Failed with the reason.
func answer(err error) Message {
	if err == nil {
		return Message{Kind: Done}
	}
	var f *Failure
	if !errors.As(err, &f) {
		f = failure("serve", "", err)
	}
	return Message{Kind: Failed, Failure: f}
}

// serve does what a message asks for and gives the descriptors of the answer.
func (s *supervisor) serve(m Message) (fds []int, have []Endpoint, err error) {
	rerr := s.inRoom(m.Room, func() {
		switch m.Kind {
		case Spawn:
			fds, err = s.spawn()
		case Layer:
			fds, err = s.layersOf(m.Overlays)
		case Listen:
			fds, have, err = listenAll(m.Endpoints)
		case Dial:
			fds, err = dial(m.Port)
		case Ready, Run, Signal, Done, Failed, Ended:
			err = failure("serve", string(m.Kind), errors.New("not for a supervisor"))
		}
	})
	return fds, have, errors.Join(rerr, err)
}

// layersOf gives one detached mount for each overlay, or none.
func (s *supervisor) layersOf(overlays []plan.Mount) ([]int, error) {
	var fds []int
	for _, m := range overlays {
		fd, err := s.layer(m)
		if err != nil {
			CloseAll(fds)
			return nil, err
		}
		fds = append(fds, fd)
	}
	return fds, nil
}

// spawn starts a helper and gives its socket and its pidfd.
func (s *supervisor) spawn() ([]int, error) {
	ours, theirs, err := Pair()
	if err != nil {
		return nil, failure("spawn helper", "", err)
	}
	end := os.NewFile(uintptr(theirs), "helper")
	defer func() { _ = end.Close() }()
	pidfd := -1
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = []string{Program, RoleHelper}
	cmd.Env = []string{}
	cmd.Stderr = os.Stderr
	cmd.ExtraFiles = []*os.File{end}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: helperFlags, Setsid: true, Pdeathsig: syscall.SIGKILL, PidFD: &pidfd,
	}
	if err := cmd.Start(); err != nil {
		_ = unix.Close(ours)
		return nil, failure("spawn helper", "", err)
	}
	s.reap(cmd)
	return []int{ours, pidfd}, nil
}

// reap waits for a helper.
func (s *supervisor) reap(cmd *exec.Cmd) {
	s.mu.Lock()
	s.helpers[cmd.Process.Pid] = true
	s.mu.Unlock()
	s.alive.Go(func() {
		_ = cmd.Wait() // how it ended is told on its socket
		s.mu.Lock()
		delete(s.helpers, cmd.Process.Pid)
		s.mu.Unlock()
	})
}

// end kills what still runs and waits until it is gone: a namespace's first process is reaped after
// all others in it.
func (s *supervisor) end() {
	s.mu.Lock()
	for pid := range s.helpers {
		_ = unix.Kill(pid, unix.SIGKILL)
	}
	s.mu.Unlock()
	s.alive.Wait()
}

// layer gives a detached mount of an overlay, which is mounted once, over its own upper folder in
// the supervisor's mount namespace, where nobody else looks.
func (s *supervisor) layer(m plan.Mount) (int, error) {
	if !s.layers[m.Upper] {
		fd, err := overlay(m)
		if err != nil {
			return -1, failure("mount overlay", m.Target, err)
		}
		err = unix.MoveMount(fd, "", unix.AT_FDCWD, m.Upper, unix.MOVE_MOUNT_F_EMPTY_PATH)
		_ = unix.Close(fd)
		if err != nil {
			return -1, failure("keep overlay", m.Upper, err)
		}
		s.layers[m.Upper] = true
	}
	fd, err := cloneTree(m.Upper, fixed)
	if err != nil {
		return -1, failure("clone overlay", m.Target, err)
	}
	return fd, nil
}

func overlay(m plan.Mount) (int, error) {
	for _, p := range []string{m.Source, m.Upper, m.Work} {
		how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC | unix.O_DIRECTORY, Resolve: unix.RESOLVE_NO_SYMLINKS}
		fd, err := unix.Openat2(unix.AT_FDCWD, p, &how)
		if err != nil {
			return -1, fmt.Errorf("open %q: %w", p, err)
		}
		_ = unix.Close(fd)
	}
	return filesystem("overlay", fixed, [2]string{"lowerdir", m.Source}, [2]string{"upperdir", m.Upper},
		[2]string{"workdir", m.Work}, [2]string{"userxattr"})
}

// closeOthers closes every descriptor above the control socket: whoever started us may have leaked
// some.
func closeOthers() error {
	if err := unix.CloseRange(control+1, math.MaxUint32, 0); err != nil {
		return failure("close inherited descriptors", "", err)
	}
	unix.CloseOnExec(control)
	return nil
}
