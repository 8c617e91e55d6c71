package cli

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// interrupts turns the signals that end a process into a first one, after which the turn is saved,
// and a second one, which ends the process at once.
type interrupts struct {
	first chan struct{} // closed by the first one
	once  sync.Once
	stop  func()
}

// listenInterrupts listens until close. A signal that was ignored when the process began stays so:
// that is how nohup and background jobs of a script ask for it.
func listenInterrupts(exit func(code int)) *interrupts {
	i := &interrupts{first: make(chan struct{})}
	signals, done := make(chan os.Signal, 2), make(chan struct{})
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	// With a listener, writing to a closed pipe is an error instead of the end; the turn is saved.
	closedPipe := make(chan os.Signal, 1)
	signal.Notify(closedPipe, syscall.SIGPIPE)
	i.stop = sync.OnceFunc(func() { signal.Stop(signals); close(done) })
	go func() {
		for n := 0; ; n++ {
			select {
			case <-done:
				return
			case <-signals:
			}
			if n > 0 {
				exit(exitInterrupted)
			}
			i.raise()
		}
	}()
	return i
}

// raise does what the first signal does.
func (i *interrupts) raise() { i.once.Do(func() { close(i.first) }) }

// raised reports whether there was one.
func (i *interrupts) raised() bool {
	select {
	case <-i.first:
		return true
	default:
		return false
	}
}
