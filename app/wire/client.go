package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/coder/websocket"

	"carrel/app"
)

// Event is an event as a Client gets it.
type Event struct {
	Seq  uint64
	Name string // such as "workspace.changed"
	Data json.RawMessage
}

// Address is where a core answers.
type Address struct {
	URL   string // of the page, such as http://127.0.0.1:4711
	Token string
}

// ClientOptions say how a Client reaches its core. Its functions are called one at a time.
type ClientOptions struct {
	// Find is asked before each connection, since a core that started again has another address.
	Find    func(ctx context.Context) (Address, error)
	Role    Role
	Version string
	Join    []string
	// Events gets the events in order. It should be quick: the connection waits for it.
	Events func(Event)
	// Reset says that events were missed, so that snapshots must be taken again.
	Reset func()
	// State hears of each change: attached to a core or not.
	State func(attached bool)
	// Asks answers what the core asks of a window, by name. Each answer has its own goroutine.
	Asks map[string]func(ctx context.Context, args json.RawMessage) (any, error)
	Log  *slog.Logger
}

// Client calls a core over a WebSocket and connects again by itself, until it is closed, a newer
// window takes its place, or never.
type Client struct {
	o      ClientOptions
	cancel context.CancelFunc
	done   chan struct{} // closed when run has ended

	mu      sync.Mutex
	session *session      // nil while there is no connection
	changed chan struct{} // closed at the next change of session or err
	topics  []string
	err     error // why there will be no connection any more
	core    string
	seq     uint64
}

// The errors of a Client that callers decide by.
var (
	ErrReplaced = errors.New("a newer window took over")
	ErrClosed   = errors.New("client closed")
)

// errDisconnected is the failure of a call whose connection broke before the answer.
var errDisconnected = &app.Error{Code: "disconnected", Message: "The connection to Carrel's core broke before it answered."}

// The pauses between attempts to connect.
const (
	firstPause = 50 * time.Millisecond
	lastPause  = 2 * time.Second
)

// Dial connects. ctx is for the first connection only; its failure is returned.
func Dial(ctx context.Context, o ClientOptions) (*Client, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	c := &Client{o: o, done: make(chan struct{}), changed: make(chan struct{}), topics: slices.Clone(o.Join)}
	s, err := c.connect(ctx)
	if err != nil {
		return nil, err
	}
	run, cancel := context.WithCancel(context.Background())
	c.cancel = cancel
	go c.run(run, s)
	return c, nil
}

// Close ends the connection and waits for the Client's goroutines, so don't call it from its
// functions.
func (c *Client) Close() error {
	c.cancel()
	<-c.done
	return nil
}

// Core returns the id of the core that it is or was last connected to.
func (c *Client) Core() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.core
}

// Wait returns when the Client has ended, with the reason: ErrReplaced or ErrClosed.
func (c *Client) Wait() error {
	<-c.done
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Call implements Caller. Without a connection it waits for the next one, as long as ctx lets it. A
// call whose connection breaks fails with the code "disconnected": it may have been carried out.
func (c *Client) Call(ctx context.Context, name string, in, out any) error {
	args, err := encodeArgs(name, in)
	if err != nil {
		return err
	}
	s, err := c.current(ctx)
	if err != nil {
		return fmt.Errorf("call %q: %w", name, err)
	}
	reply, err := s.call(ctx, name, args)
	if err != nil {
		return err
	}
	return decodeResult(name, reply, out)
}

// Join asks for the events of topics, now and after each reconnect.
func (c *Client) Join(topics ...string) { c.setTopics(topics, nil) }

// Leave ends the events of topics.
func (c *Client) Leave(topics ...string) { c.setTopics(nil, topics) }

func (c *Client) setTopics(join, leave []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range join {
		if !slices.Contains(c.topics, t) {
			c.topics = append(c.topics, t)
		}
	}
	c.topics = slices.DeleteFunc(c.topics, func(t string) bool { return slices.Contains(leave, t) })
	if c.session != nil {
		c.session.control(inbound{Join: join, Leave: leave})
	}
}

// OpenStream opens a byte stream; it ends with the connection.
func (c *Client) OpenStream(ctx context.Context, name string, args any) (*Stream, error) {
	data, err := encodeArgs(name, args)
	if err != nil {
		return nil, err
	}
	s, err := c.current(ctx)
	if err != nil {
		return nil, fmt.Errorf("open stream %q: %w", name, err)
	}
	return s.streams.start(mustEncode(streamOpen{name, data}))
}

// current waits for a connection.
func (c *Client) current(ctx context.Context) (*session, error) {
	for {
		c.mu.Lock()
		s, err, changed := c.session, c.err, c.changed
		c.mu.Unlock()
		if s != nil || err != nil {
			return s, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (c *Client) set(s *session, err error) {
	c.mu.Lock()
	c.session, c.err = s, err
	if s != nil { // topics may have changed since its hello
		join := slices.DeleteFunc(slices.Clone(c.topics), func(t string) bool { return slices.Contains(s.joined, t) })
		leave := slices.DeleteFunc(s.joined, func(t string) bool { return slices.Contains(c.topics, t) })
		s.control(inbound{Join: join, Leave: leave})
	}
	close(c.changed)
	c.changed = make(chan struct{})
	c.mu.Unlock()
	if c.o.State != nil {
		c.o.State(s != nil)
	}
}

// run serves one connection after the other.
func (c *Client) run(ctx context.Context, s *session) {
	defer close(c.done)
	defer c.cancel()
	for {
		c.set(s, nil)
		err := s.run(ctx)
		switch {
		case ctx.Err() != nil:
			c.set(nil, ErrClosed)
			return
		case websocket.CloseStatus(err) == closeReplaced:
			c.set(nil, ErrReplaced)
			return
		}
		c.o.Log.Debug("the connection to the core ended", "error", err)
		c.set(nil, nil)
		if s = c.reconnect(ctx); s == nil {
			c.set(nil, ErrClosed)
			return
		}
	}
}

// reconnect tries until it has a connection; nil when ctx ended.
func (c *Client) reconnect(ctx context.Context) *session {
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		s, err := c.connect(ctx)
		if err == nil {
			if !s.welcome.Resumed && c.o.Reset != nil {
				c.o.Reset()
			}
			return s
		}
		c.o.Log.Debug("connect to the core", "error", err)
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil
		}
	}
}

// connect makes a connection up to the welcome.
func (c *Client) connect(ctx context.Context) (*session, error) {
	address, err := c.o.Find(ctx)
	if err != nil {
		return nil, fmt.Errorf("find the core: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, 2*helloWait)
	defer cancel()
	// A proxy must not see, let alone serve, a connection to this machine.
	plain := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	conn, _, err := websocket.Dial(ctx, address.URL+"/ws", &websocket.DialOptions{HTTPClient: plain})
	if err != nil {
		return nil, fmt.Errorf("connect to the core: %w", err)
	}
	conn.SetReadLimit(-1) // the core is trusted, and its answers have no limit
	c.mu.Lock()
	first := hello{address.Token, c.o.Role, c.o.Version, c.seq, c.core, slices.Clone(c.topics)}
	c.mu.Unlock()
	s := newSession(c, conn)
	s.joined = first.Join
	if err := s.greet(ctx, first); err != nil {
		_ = conn.CloseNow()
		return nil, err
	}
	c.mu.Lock()
	c.core = s.welcome.Core
	if !s.welcome.Resumed {
		c.seq = s.welcome.Seq
	}
	c.mu.Unlock()
	return s, nil
}

// event hands on an event or a reset.
func (c *Client) event(f outbound) {
	c.mu.Lock()
	c.seq = f.Seq
	c.mu.Unlock()
	switch {
	case f.Reset && c.o.Reset != nil:
		c.o.Reset()
	case f.Event != "" && c.o.Events != nil:
		c.o.Events(Event{f.Seq, f.Event, f.Data})
	}
}
