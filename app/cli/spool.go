package cli

import (
	"errors"
	"io"
	"sync"
)

// maxSpooled is how much output may wait for a reader before who writes it waits too, in bytes.
const maxSpooled = 8 << 20

// spool writes output on a goroutine of its own: a terminal that is stopped or a pipe that nobody
// reads never holds up a conversation, which must go on being saved. All writers of a spool share
// one order.
type spool struct {
	broken func() // called once when a write fails

	mu    sync.Mutex
	moved *sync.Cond // the queue changed
	queue []spooled
	size  int
	ended bool
	err   error // of the first write that failed; the rest is dropped

	done chan struct{}
}

type spooled struct {
	to   io.Writer
	text []byte
}

func newSpool(broken func()) *spool {
	s := &spool{broken: broken, done: make(chan struct{})}
	s.moved = sync.NewCond(&s.mu)
	go s.run()
	return s
}

// writer gives a writer whose output goes to w in turn.
func (s *spool) writer(w io.Writer) io.Writer { return spoolWriter{s, w} }

type spoolWriter struct {
	s *spool
	w io.Writer
}

func (w spoolWriter) Write(p []byte) (int, error) {
	s := w.s
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.size > maxSpooled && s.err == nil {
		s.moved.Wait()
	}
	if s.ended {
		return 0, errors.New("output is closed")
	}
	if last := len(s.queue) - 1; last >= 0 && s.queue[last].to == w.w {
		s.queue[last].text = append(s.queue[last].text, p...)
	} else {
		s.queue = append(s.queue, spooled{w.w, append([]byte(nil), p...)})
	}
	s.size += len(p)
	s.moved.Broadcast()
	return len(p), nil
}

func (s *spool) run() {
	defer close(s.done)
	for {
		s.mu.Lock()
		for len(s.queue) == 0 && !s.ended {
			s.moved.Wait()
		}
		queue, dropped := s.queue, s.err != nil
		s.queue, s.size = nil, 0
		s.moved.Broadcast()
		s.mu.Unlock()
		if len(queue) == 0 {
			return
		}
		if !dropped {
			s.write(queue)
		}
	}
}

func (s *spool) write(queue []spooled) {
	for _, one := range queue {
		_, err := one.to.Write(one.text)
		if err == nil {
			continue
		}
		s.mu.Lock()
		s.err = err
		s.mu.Unlock()
		s.broken()
		return
	}
}

// close waits until everything is written and gives the first failure.
func (s *spool) close() error {
	s.mu.Lock()
	s.ended = true
	s.moved.Broadcast()
	s.mu.Unlock()
	<-s.done
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}
