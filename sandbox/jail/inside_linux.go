package jail

import (
	"errors"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// The program's name and its roles, the first argument.
const (
	Program        = "carrel-sandbox"
	RoleSupervisor = "supervise"
	RoleHelper     = "inside"
)

// helper is the first process of a command's namespaces.
type helper struct {
	conn  *Conn
	guard *guard
	whole func() error // fences in further, before the command starts
	runs  chan order
	mu    sync.Mutex
	pid   int // of the command while it runs
	begun bool
	lost  []string
}

// order is a Run message with its streams.
type order struct {
	start *Start
	files []int
}

// Inside runs a helper: it prepares the namespaces, runs one command and ends with it. It must be
// called first of all, on the main goroutine: the thread under it is the one that is fenced in.
func Inside() error {
	runtime.LockOSThread()
	if err := closeOthers(); err != nil {
		return err
	}
	conn, err := NewConn(control)
	if err != nil {
		return err
	}
	if err := Hide(); err != nil {
		return conn.Send(answer(err))
	}
	// Commands may signal us; we are not theirs to end. What they start gets no disposition of ours.
	signal.Notify(make(chan os.Signal, 1))
	m, files, err := conn.Receive()
	if err != nil {
		return nil // nobody wants us any more
	}
	h := &helper{conn: conn, runs: make(chan order)}
	sockets, have, err := h.prepare(m, files)
	reply := answer(err)
	reply.Endpoints = have
	serr := conn.Send(reply, sockets...)
	CloseAll(sockets)
	if serr != nil || err != nil {
		return serr
	}
	go h.listen()
	if h.guard != nil {
		go h.watch()
	}
	o := <-h.runs
	err = h.run(o)
	if err != nil {
		return conn.Send(answer(err))
	}
	exit := h.reap()
	return conn.Send(Message{Kind: Ended, Exit: exit})
}

// prepare does everything that does not depend on the command. It gives the listening sockets that
// were asked for.
func (h *helper) prepare(m Message, overlays []int) (sockets []int, have []Endpoint, err error) {
	if m.Kind != Ready || m.Plan == nil {
		CloseAll(overlays)
		return nil, nil, failure("prepare", string(m.Kind), errors.New("a plan was expected"))
	}
	if sockets, have, err = listenAll(m.Endpoints); err != nil {
		return nil, nil, err
	}
	if err := h.enclose(m, overlays); err != nil {
		CloseAll(sockets)
		return nil, nil, err
	}
	return sockets, have, nil
}

// enclose makes the mounts, gives up all rights and fences the thread in.
func (h *helper) enclose(m Message, overlays []int) (err error) {
	if !m.Confine.Mounted {
		if err := Mount(m.Plan.Mounts, overlays); err != nil {
			return err
		}
	}
	if len(m.Plan.Watch) > 0 {
		if h.guard, err = newGuard(m.Plan); err != nil {
			return err
		}
	}
	if err := dropEverywhere(); err != nil {
		return err
	}
	h.whole = func() error { return fenceWhole(m.Plan, m.Confine) }
	return fence(m.Plan, m.Confine)
}

// listen takes messages until the application is gone, and then everything ends.
func (h *helper) listen() {
	for {
		m, files, err := h.conn.Receive()
		if err != nil {
			h.end()
			return
		}
		switch {
		case m.Kind == Run && m.Run != nil && len(files) == 3:
			h.runs <- order{m.Run, files}
			continue
		case m.Kind == Signal:
			h.signal(syscall.Signal(m.Signal))
		}
		CloseAll(files)
	}
}

// end leaves this namespace at once; the kernel kills what is in it.
func (h *helper) end() { unix.Exit(0) }

// signal reaches the command's process group.
func (h *helper) signal(s syscall.Signal) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.pid > 0 {
		_ = unix.Kill(-h.pid, s) // it may have ended
	}
}

// run starts the command.
func (h *helper) run(o order) error {
	defer CloseAll(o.files)
	program, err := lookPath(o.start.Argv, o.start.Env, o.start.Dir)
	if err != nil {
		return err
	}
	if err := setLimits(o.start.Limits); err != nil {
		return err
	}
	if fromOutside(o.files) {
		if err := h.whole(); err != nil {
			return err
		}
	}
	attr := &syscall.ProcAttr{
		Dir: o.start.Dir, Env: o.start.Env,
		Files: []uintptr{uintptr(o.files[0]), uintptr(o.files[1]), uintptr(o.files[2])},
		Sys:   &syscall.SysProcAttr{Setsid: true, Setctty: o.start.Terminal},
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.lost) > 0 {
		return failure("start", program, errors.New("a guard was replaced before the start"))
	}
	pid, err := syscall.ForkExec(program, o.start.Argv, attr)
	if err != nil {
		return startFailure(program, o.start.Dir, err)
	}
	Limit(pid, o.start.Limits)
	h.pid, h.begun = pid, true
	return h.conn.Send(Message{Kind: Done, PID: pid})
}

// startFailure says whether the program or the folder was in the way.
func startFailure(program, dir string, err error) error {
	var st unix.Stat_t
	if derr := unix.Stat(dir, &st); derr != nil {
		return failure("enter", dir, derr)
	}
	return failure("start", program, err)
}

// reap waits for the command, ends what it left, and waits for that too.
func (h *helper) reap() Exit {
	var exit Exit
	for {
		var ws syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &ws, 0, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil {
			break // there is nobody left
		}
		h.mu.Lock()
		if pid == h.pid {
			h.pid = 0
			if ws.Signaled() {
				exit.Signal = int(ws.Signal())
			} else {
				exit.Code = ws.ExitStatus()
			}
		}
		over := h.pid == 0
		h.mu.Unlock()
		if over {
			_ = unix.Kill(-1, unix.SIGKILL) // all but ourselves
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	exit.Lost = h.lost
	return exit
}

// watch ends the command when a guard is lost.
func (h *helper) watch() {
	lost := h.guard.wait()
	h.mu.Lock()
	h.lost = lost
	begun := h.begun
	h.mu.Unlock()
	if !begun {
		// Nothing has run yet, and nothing will: the application takes another helper.
		_ = h.conn.Send(Message{Kind: Ended, Exit: Exit{Lost: lost}})
		return
	}
	_ = unix.Kill(-1, unix.SIGKILL)
}

// lookPath finds the program as the command would see it.
func lookPath(argv, env []string, dir string) (string, error) {
	if len(argv) == 0 || argv[0] == "" {
		return "", failure("start", "", errors.New("no program given"))
	}
	name := argv[0]
	if strings.Contains(name, "/") {
		return name, nil
	}
	var last error = unix.ENOENT
	for _, v := range env {
		list, ok := strings.CutPrefix(v, "PATH=")
		if !ok {
			continue
		}
		for _, d := range strings.Split(list, ":") {
			if !strings.HasPrefix(d, "/") {
				continue // never from where the command happens to be
			}
			file := d + "/" + name
			var st unix.Stat_t
			if unix.Stat(file, &st) != nil || st.Mode&unix.S_IFMT == unix.S_IFDIR {
				continue
			}
			if err := unix.Access(file, unix.X_OK); err != nil {
				last = err
				continue
			}
			return file, nil
		}
	}
	return "", failure("start", name, last)
}
