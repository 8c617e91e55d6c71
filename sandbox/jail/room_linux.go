package jail

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// thread is an operating system thread of the supervisor that is in a network namespace. Helpers
// are in the namespace of the thread that starts them and end with it, so it never ends.
type thread struct{ work chan func() }

// newThread makes a thread and its namespace.
func newThread(r Room) (*thread, error) {
	t := &thread{work: make(chan func())}
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		err := enter(r)
		done <- err
		for f := range t.work { // nobody closes it: the process ends
			f()
		}
	}()
	return t, <-done
}

// enter puts the calling thread into a fresh network namespace.
func enter(r Room) error {
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return failure("make network namespace", "", err)
	}
	if err := RaiseLoopback(); err != nil {
		return err
	}
	if r == Caught {
		return captureAll()
	}
	return nil
}

// in runs f on the thread and waits for it.
func (t *thread) in(f func()) {
	done := make(chan struct{})
	t.work <- func() { defer close(done); f() }
	<-done
}

// inRoom runs f in the room, which is made if it is the first time.
func (s *supervisor) inRoom(r Room, f func()) error {
	if r == Outside {
		f()
		return nil
	}
	t := s.rooms[r]
	if t == nil {
		var err error
		if t, err = newThread(r); err != nil {
			return err
		}
		s.rooms[r] = t
	}
	t.in(f)
	return nil
}
