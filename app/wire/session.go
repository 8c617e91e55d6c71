package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/coder/websocket"

	"carrel/app"
)

// session is one connection, seen from a Client.
type session struct {
	client  *Client
	conn    *websocket.Conn
	queue   *queue
	streams *streams
	welcome welcome
	joined  []string // topics in the hello

	mu      sync.Mutex
	next    uint64
	waiting map[uint64]chan outbound
	ended   bool
}

func newSession(c *Client, conn *websocket.Conn) *session {
	s := &session{client: c, conn: conn, queue: newQueue(0), waiting: map[uint64]chan outbound{}}
	s.streams = newStreams(func(control bool, data []byte) {
		if !control {
			s.queue.pushStream(data)
			return
		}
		s.queue.pushControl(message{kind: websocket.MessageBinary, data: data})
	}, nil)
	return s
}

// greet says hello and waits for the welcome. A refusal is an *app.Error.
func (s *session) greet(ctx context.Context, first hello) error {
	if err := s.conn.Write(ctx, websocket.MessageText, mustEncode(inbound{Hello: &first})); err != nil {
		return fmt.Errorf("say hello to the core: %w", err)
	}
	_, data, err := s.conn.Read(ctx)
	if err != nil {
		return fmt.Errorf("wait for the core's welcome: %w", err)
	}
	var f outbound
	if err := json.Unmarshal(data, &f); err != nil {
		return fmt.Errorf("read the core's welcome: %w", err)
	}
	switch {
	case f.Error != nil:
		return f.Error.appError()
	case f.Welcome == nil:
		return errors.New("the core did not say welcome")
	}
	s.welcome = *f.Welcome
	return nil
}

// run reads and writes until the connection ends.
func (s *session) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { defer cancel(); s.write(ctx) })
	err := s.read(ctx, &running)
	cancel()
	s.end()
	_ = s.conn.CloseNow()
	running.Wait()
	return err
}

// end fails what waits for an answer.
func (s *session) end() {
	s.mu.Lock()
	s.ended = true
	for _, ch := range s.waiting {
		close(ch)
	}
	clear(s.waiting)
	s.mu.Unlock()
	s.streams.fail(errDisconnected)
	s.queue.abandon()
}

func (s *session) read(ctx context.Context, running *sync.WaitGroup) error {
	for {
		kind, data, err := s.conn.Read(ctx)
		if err != nil {
			return err
		}
		if kind == websocket.MessageBinary {
			if err := s.streams.receive(data); err != nil {
				return err
			}
			continue
		}
		var f outbound
		if err := json.Unmarshal(data, &f); err != nil {
			return fmt.Errorf("read a frame from the core: %w", err)
		}
		for _, e := range f.Events {
			s.client.event(e)
		}
		switch {
		case f.Ask != 0:
			running.Go(func() { s.answer(ctx, f) })
		case f.Seq != 0:
			s.client.event(f)
		case f.ID != 0:
			s.reply(f)
		}
	}
}

func (s *session) reply(f outbound) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ch := s.waiting[f.ID]; ch != nil {
		delete(s.waiting, f.ID)
		ch <- f
	}
}

// call sends a call and waits for its reply.
func (s *session) call(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, error) {
	ch := make(chan outbound, 1)
	s.mu.Lock()
	if s.ended {
		s.mu.Unlock()
		return nil, errDisconnected
	}
	s.next++
	id := s.next
	s.waiting[id] = ch
	s.mu.Unlock()
	s.control(inbound{ID: id, Call: name, Args: args})
	select {
	case f, ok := <-ch:
		switch {
		case !ok:
			return nil, errDisconnected
		case f.Error != nil:
			return nil, f.Error.appError()
		}
		return f.OK, nil
	case <-ctx.Done():
		s.mu.Lock()
		delete(s.waiting, id)
		s.mu.Unlock()
		s.control(inbound{Cancel: id})
		return nil, ctx.Err()
	}
}

// answer carries out what the core asks.
func (s *session) answer(ctx context.Context, f outbound) {
	reply := inbound{Answer: f.Ask}
	result, err := s.ask(ctx, f)
	if err == nil {
		reply.OK, err = encode(result)
	}
	if err != nil {
		s.client.o.Log.Warn("the core's ask failed", "ask", f.Call, "error", err)
		reply.Error = publicError(err)
	}
	s.control(reply)
}

func (s *session) ask(ctx context.Context, f outbound) (any, error) {
	ask := s.client.o.Asks[f.Call]
	if ask == nil {
		return nil, &app.Error{Code: "unknown_call", Message: "The window does not know what the core asks; is it older than the core?"}
	}
	return ask(ctx, f.Args)
}

func (s *session) control(in inbound) {
	s.queue.pushControl(message{kind: websocket.MessageText, data: mustEncode(in)})
}

func (s *session) write(ctx context.Context) {
	for {
		m, ok := s.queue.pop()
		if !ok {
			select {
			case <-s.queue.wake:
				continue
			case <-ctx.Done():
				_ = s.conn.Close(websocket.StatusNormalClosure, "")
				return
			}
		}
		if err := s.conn.Write(ctx, m.kind, m.data); err != nil {
			return
		}
	}
}
