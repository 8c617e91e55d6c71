package wire

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
)

// The kinds of a binary frame: [1 kind][4 stream id, big endian][payload].
const (
	frameOpen   = 0 // host to core; payload: JSON {"name","args"}
	frameData   = 1
	frameCredit = 2 // payload: 4 bytes, how many more bytes the sender may receive
	frameClose  = 3 // payload: why, "" for a plain end
)

const (
	streamCredit = 256 << 10 // bytes that may be on their way before the reader takes them
	streamChunk  = 32 << 10  // bytes of one data frame
	maxStreams   = 64        // per connection
)

// StreamFunc serves a stream that a host opened. The stream is closed when it returns; an error is
// told to the host. ctx ends with the connection.
type StreamFunc func(ctx context.Context, s *Stream, args json.RawMessage) error

// ErrStreamClosed is the error of a write to a stream that either side closed.
var ErrStreamClosed = errors.New("stream closed")

// Stream is a flow of bytes in both directions inside a connection. Neither side sends more than
// 256 KiB ahead of what the other has read. One goroutine may read while another writes.
type Stream struct {
	id   uint32
	send func(control bool, frame []byte)
	gone func(id uint32) // forgets the stream

	mu      sync.Mutex
	changed sync.Cond
	buf     []byte // received, not read
	owed    int    // read, not yet given back as credit
	credit  int    // what may be sent
	ended   error  // no more data comes: io.EOF or why
	closed  bool   // by this side
}

func newStream(id uint32, send func(bool, []byte), gone func(uint32)) *Stream {
	s := &Stream{id: id, send: send, gone: gone, credit: streamCredit}
	s.changed.L = &s.mu
	return s
}

// Read waits for data. It returns io.EOF when the other side closed.
func (s *Stream) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.buf) == 0 {
		if s.ended != nil {
			return 0, s.ended
		}
		if s.closed {
			return 0, ErrStreamClosed
		}
		s.changed.Wait()
	}
	n := copy(p, s.buf)
	s.buf = s.buf[n:]
	s.owed += n
	if s.owed >= streamCredit/4 { // the other side still has three quarters
		s.send(true, frame(frameCredit, s.id, binary.BigEndian.AppendUint32(nil, uint32(s.owed))))
		s.owed = 0
	}
	return n, nil
}

// Write sends all of p, waiting for credit.
func (s *Stream) Write(p []byte) (int, error) {
	sent := 0
	for len(p) > 0 {
		s.mu.Lock()
		for s.credit == 0 && s.ended == nil && !s.closed {
			s.changed.Wait()
		}
		if s.closed || s.ended != nil {
			s.mu.Unlock()
			return sent, ErrStreamClosed
		}
		n := min(len(p), s.credit, streamChunk)
		s.credit -= n
		s.send(false, frame(frameData, s.id, p[:n]))
		s.mu.Unlock()
		p, sent = p[n:], sent+n
	}
	return sent, nil
}

// Close ends the stream in both directions.
func (s *Stream) Close() error { return s.closeWith("") }

func (s *Stream) closeWith(why string) error {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	s.changed.Broadcast()
	if first {
		s.send(false, frame(frameClose, s.id, []byte(why)))
	}
	s.mu.Unlock()
	if first {
		s.gone(s.id)
	}
	return nil
}

// receive takes a frame's payload. An error is the other side's breach of the protocol.
func (s *Stream) receive(kind byte, payload []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.changed.Broadcast()
	switch kind {
	case frameData:
		if len(s.buf)+s.owed+len(payload) > streamCredit {
			return errors.New("more data than credit")
		}
		s.buf = append(s.buf, payload...)
	case frameCredit:
		if len(payload) != 4 {
			return errors.New("credit is not four bytes")
		}
		more := binary.BigEndian.Uint32(payload)
		if more > uint32(streamCredit-s.credit) {
			return errors.New("more credit than was used")
		}
		s.credit += int(more)
	case frameClose:
		s.ended = io.EOF
		if len(payload) > 0 {
			s.ended = fmt.Errorf("stream ended: %s", payload)
		}
	}
	return nil
}

// fail ends the stream because the connection ended.
func (s *Stream) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended == nil {
		s.ended = err
	}
	s.changed.Broadcast()
}

// streams are the streams of one connection.
type streams struct {
	send func(control bool, frame []byte)
	open func(s *Stream, payload []byte) // nil on a host: only hosts open streams

	mu   sync.Mutex
	byID map[uint32]*Stream
	next uint32
	err  error // the connection has ended
}

func newStreams(send func(bool, []byte), open func(*Stream, []byte)) *streams {
	return &streams{send: send, open: open, byID: map[uint32]*Stream{}}
}

// receive takes a binary frame; an error ends the connection.
func (m *streams) receive(data []byte) error {
	if len(data) < 5 {
		return errors.New("binary frame without a header")
	}
	kind, id, payload := data[0], binary.BigEndian.Uint32(data[1:5]), data[5:]
	if kind == frameOpen {
		return m.opened(id, payload)
	}
	m.mu.Lock()
	s := m.byID[id]
	if kind == frameClose {
		delete(m.byID, id)
	}
	m.mu.Unlock()
	if s == nil { // closed here, while this was on its way
		return nil
	}
	if err := s.receive(kind, payload); err != nil {
		return fmt.Errorf("stream %d: %w", id, err)
	}
	return nil
}

func (m *streams) opened(id uint32, payload []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.open == nil:
		return errors.New("only hosts open streams")
	case m.byID[id] != nil:
		return fmt.Errorf("stream %d is open already", id)
	case len(m.byID) >= maxStreams:
		m.send(false, frame(frameClose, id, []byte("too many streams")))
		return nil
	}
	s := newStream(id, m.send, m.forget)
	m.byID[id] = s
	m.open(s, payload)
	return nil
}

// start opens a stream from the host's side.
func (m *streams) start(payload []byte) (*Stream, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return nil, m.err
	}
	m.next++
	s := newStream(m.next, m.send, m.forget)
	m.byID[s.id] = s
	m.send(false, frame(frameOpen, s.id, payload))
	return s, nil
}

func (m *streams) forget(id uint32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.byID, id)
}

// fail ends every stream.
func (m *streams) fail(err error) {
	m.mu.Lock()
	m.err = err
	open := slices.Collect(maps.Values(m.byID))
	clear(m.byID)
	m.mu.Unlock()
	for _, s := range open { // outside the lock: a stream that closes itself takes both
		s.fail(err)
	}
}

func frame(kind byte, id uint32, payload []byte) []byte {
	b := make([]byte, 5, 5+len(payload))
	b[0] = kind
	binary.BigEndian.PutUint32(b[1:], id)
	return append(b, payload...)
}
