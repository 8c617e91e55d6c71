package netproxy

import (
	"golang.org/x/sys/unix"
)

const (
	// maxPipes bounds the pipes of one proxy, two descriptors each. What they hold counts against the
	// person's quota of pipe memory (16,384 pages without privileges, of which these take a quarter at
	// most), beyond which every other program of that person gets the smallest pipes.
	maxPipes  = 64
	pipeBytes = 256 << 10
)

// pipes lends pipes to splice through.
type pipes struct {
	idle  chan *pipe
	spare chan struct{} // one for each pipe that may still be made
}

type pipe struct{ r, w int }

func (s *pipes) init() {
	s.idle, s.spare = make(chan *pipe, maxPipes), make(chan struct{}, maxPipes)
	for range maxPipes {
		s.spare <- struct{}{}
	}
}

// get returns nil when all are lent, or the system has none left.
func (s *pipes) get() *pipe {
	select {
	case p := <-s.idle:
		return p
	default:
	}
	select {
	case <-s.spare:
	default:
		return nil
	}
	var fds [2]int
	if unix.Pipe2(fds[:], unix.O_CLOEXEC|unix.O_NONBLOCK) != nil {
		s.spare <- struct{}{}
		return nil
	}
	_, _ = unix.FcntlInt(uintptr(fds[1]), unix.F_SETPIPE_SZ, pipeBytes) // the usual size works too
	return &pipe{r: fds[0], w: fds[1]}
}

func (s *pipes) put(p *pipe) { s.idle <- p }

func (s *pipes) discard(p *pipe) {
	_, _ = unix.Close(p.r), unix.Close(p.w) // they are ours, and read and written by nobody
	s.spare <- struct{}{}
}

func (s *pipes) drain() {
	for {
		select {
		case p := <-s.idle:
			s.discard(p)
		default:
			return
		}
	}
}

// fill moves what a socket has into the empty pipe.
func (p *pipe) fill(fd int) (int, error) {
	return retry(func() (int, error) {
		n, err := unix.Splice(fd, nil, p.w, nil, pipeBytes, unix.SPLICE_F_MOVE|unix.SPLICE_F_NONBLOCK)
		return int(n), err
	})
}

// pour moves n bytes of the pipe into a socket.
func (p *pipe) pour(fd, n int) (int, error) {
	return retry(func() (int, error) {
		n, err := unix.Splice(p.r, nil, fd, nil, n, unix.SPLICE_F_MOVE|unix.SPLICE_F_NONBLOCK)
		return int(n), err
	})
}
