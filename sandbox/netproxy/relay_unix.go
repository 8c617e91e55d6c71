//go:build unix

package netproxy

import (
	"errors"
	"io"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// carriers lend a direction of a tunnel the means to move bytes, only while there are bytes to move: a
// tunnel that waits holds two goroutines and nothing else. The means is a pipe where the system can
// splice, as long as there are pipes, and a buffer otherwise.
type carriers struct {
	buffers buffers
	pipes   pipes
}

func newCarriers() *carriers {
	c := &carriers{}
	c.pipes.init()
	return c
}

// drain gives the pipes back to the system. A relay that still runs makes new ones.
func (c *carriers) drain() { c.pipes.drain() }

// copy carries src to dst until src ends.
func (c *carriers) copy(dst, src net.Conn) (int64, error) {
	out, ok := dst.(syscall.Conn)
	in, also := src.(syscall.Conn)
	if !ok || !also {
		return copyPlain(dst, src)
	}
	to, err := out.SyscallConn()
	if err != nil {
		return 0, err
	}
	from, err := in.SyscallConn()
	if err != nil {
		return 0, err
	}
	l := &load{carriers: c}
	// One closure each for all rounds: a round must not allocate.
	take, give := l.take, l.give
	for {
		if err := from.Read(take); err != nil {
			l.drop()
			return l.moved, closed(err)
		}
		ended := l.size == 0
		if l.err == nil && !ended {
			if err := to.Write(give); err != nil {
				l.drop()
				return l.moved, closed(err)
			}
		}
		if l.err != nil || ended {
			l.drop()
			return l.moved, l.err
		}
		l.free()
	}
}

// closed makes the end of our own side the end of the stream.
func closed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return io.ErrClosedPipe
	}
	return err
}

// load is what one direction has read and not written yet.
type load struct {
	carriers *carriers
	pipe     *pipe
	buf      []byte
	from     int // in buf
	size     int // bytes that are left
	moved    int64
	err      error
}

// take reads what is there. It reports false when there is nothing yet, and holds nothing then.
func (l *load) take(fd uintptr) bool {
	l.from = 0
	if l.pipe = l.carriers.pipes.get(); l.pipe != nil {
		l.size, l.err = l.pipe.fill(int(fd))
	} else {
		l.buf = l.carriers.buffers.Get()
		l.size, l.err = retry(func() (int, error) { return unix.Read(int(fd), l.buf) })
	}
	if errors.Is(l.err, unix.EAGAIN) {
		l.err, l.size = nil, 0
		l.free()
		return false
	}
	return true
}

// give writes what was taken, and reports false until all of it is written.
func (l *load) give(fd uintptr) bool {
	for l.size > 0 {
		var n int
		var err error
		if l.pipe != nil {
			n, err = l.pipe.pour(int(fd), l.size)
		} else {
			n, err = retry(func() (int, error) { return unix.Write(int(fd), l.buf[l.from:l.from+l.size]) })
		}
		switch {
		case errors.Is(err, unix.EAGAIN):
			return false
		case err != nil:
			l.err = err
			return true
		}
		l.from, l.size, l.moved = l.from+n, l.size-n, l.moved+int64(n)
	}
	return true
}

// free gives the means back, which hold nothing any more.
func (l *load) free() {
	if l.pipe != nil {
		l.carriers.pipes.put(l.pipe)
		l.pipe = nil
	}
	if l.buf != nil {
		l.carriers.buffers.Put(l.buf)
		l.buf = nil
	}
}

// drop gives them back although they may hold something.
func (l *load) drop() {
	if l.pipe != nil && l.size > 0 {
		l.carriers.pipes.discard(l.pipe)
		l.pipe = nil
	}
	l.free()
}

func retry(f func() (int, error)) (int, error) {
	for {
		n, err := f()
		if !errors.Is(err, unix.EINTR) {
			return max(n, 0), err
		}
	}
}
