package tool

import (
	"bytes"
	"sync"
	"time"
)

const (
	// progressGap is the least time between two chunks of progress.
	progressGap = 16 * time.Millisecond
	// maxProgress is how much of a call's output is shown while it runs.
	maxProgress = 1 << 20
)

// progress hands output to a person in chunks. Of a line that is rewritten within one chunk only
// the last state is sent, after a carriage return.
type progress struct {
	send func(chunk string)

	mu      sync.Mutex
	pending []byte
	start   int // of the last line in pending
	sent    int
	last    time.Time
	timer   *time.Timer
	closed  bool
}

// newProgress gives nil when nobody watches.
func newProgress(send func(string)) *progress {
	if send == nil {
		return nil
	}
	return &progress{send: send}
}

func (p *progress) add(text []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.sent >= maxProgress {
		return
	}
	p.append(text)
	if wait := progressGap - time.Since(p.last); wait <= 0 {
		p.flush()
	} else if p.timer == nil {
		p.timer = time.AfterFunc(wait, p.tick)
	}
}

func (p *progress) append(text []byte) {
	for len(text) > 0 {
		i := bytes.IndexAny(text, "\r\n")
		if i < 0 {
			p.pending = append(p.pending, text...)
			return
		}
		p.pending = append(p.pending, text[:i]...)
		switch {
		case text[i] == '\n':
			p.pending = append(bytes.TrimSuffix(p.pending, []byte("\r")), '\n')
			p.start = len(p.pending)
		case len(text) > i+1 && text[i+1] == '\n': // a line end of two characters
		default:
			p.pending = append(p.pending[:p.start], '\r')
		}
		text = text[i+1:]
	}
}

func (p *progress) tick() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timer = nil
	if !p.closed {
		p.flush()
	}
}

func (p *progress) flush() {
	if len(p.pending) == 0 {
		return
	}
	text := string(p.pending)
	if p.sent+len(text) >= maxProgress {
		text = cutEnd(text, maxProgress-p.sent) + "\n[more output follows; see the result]\n"
		p.sent = maxProgress
	}
	p.pending, p.start, p.last = p.pending[:0], 0, time.Now()
	p.sent += len(text)
	p.send(text)
}

// close sends the rest; after it nothing is sent.
func (p *progress) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer != nil {
		p.timer.Stop()
	}
	p.flush()
	p.closed = true
}
