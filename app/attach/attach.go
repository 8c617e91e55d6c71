// Package attach is the core's door on this machine: the socket run/core.sock in the data root.
// Through it a window, a command or a second start finds the running core, learns its address and
// token, and hands over what it was opened with.
//
// It promises: only processes of the same user are answered, and both ends check it; the token
// leaves the core by this way only; a socket that a dead core left behind counts as no core.
//
// A connection carries one request and one reply, a line of JSON each. A listener that was asked
// for lives as long as its connection.
package attach

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"syscall"
	"time"

	"carrel/app"
	"carrel/store"
)

// Hello is what a core says of itself.
type Hello struct {
	Version string `json:"version"`
	PID     int    `json:"pid"`
	URL     string `json:"url"`   // of its own page on the loopback, without the token
	Token   string `json:"token"` // for that address
	Busy    bool   `json:"busy"`  // a turn or an init hook runs
	Hosts   int    `json:"hosts"` // attached now
}

// Link returns the page's address with the token in its fragment.
func (h Hello) Link() string { return h.URL + "/#t=" + h.Token }

// ListenRequest asks for one more listener.
type ListenRequest struct {
	Host       string   `json:"host"`
	Port       int      `json:"port"`
	AllowHosts []string `json:"allowHosts"`
	Token      string   `json:"token"` // "" with NoAuth
	Generated  bool     `json:"generated"`
	NoAuth     bool     `json:"noAuth"`
}

// Listening is a listener that the core has opened.
type Listening struct {
	URL      string   `json:"url"`
	Link     string   `json:"link"` // with the token in the fragment
	Warnings []string `json:"warnings"`
}

// Opened is what became of an Open.
type Opened struct {
	Window bool `json:"window"` // a window is attached and was asked to come to the front
}

// ErrNoCore says that no core runs on the data root.
var ErrNoCore = errors.New("no core is running")

// ErrAgent refuses a command that an agent started: it would give itself trust, or end its own core.
var ErrAgent = &app.Error{Code: "agent", Message: "A command of an agent may not drive the Carrel that it works in. Ask the person to do it."}

// dialWait bounds one request but for the work that it asks for. The core answers in microseconds.
const dialWait = 5 * time.Second

// request and reply are the two lines of a connection.
type request struct {
	Op     string         `json:"op"` // hello, open, listen or stop
	Args   []string       `json:"args,omitempty"`
	Listen *ListenRequest `json:"listen,omitempty"`
}

type reply struct {
	OK    json.RawMessage `json:"ok,omitempty"`
	Code  string          `json:"code,omitempty"`
	Error string          `json:"error,omitempty"`
}

// Core is a running core.
type Core struct {
	Hello
	root *store.Root
}

// Find asks the core of a data root who it is. It returns ErrNoCore when none answers.
func Find(ctx context.Context, root *store.Root) (Core, error) {
	c := Core{root: root}
	ctx, cancel := context.WithTimeout(ctx, dialWait)
	defer cancel()
	if err := c.ask(ctx, request{Op: "hello"}, &c.Hello); err != nil {
		return Core{}, err
	}
	return c, nil
}

// Open hands over what a second start was given: folders become projects, and the window comes to
// the front.
func (c Core) Open(ctx context.Context, args []string) (Opened, error) {
	var o Opened
	err := c.ask(ctx, request{Op: "open", Args: args}, &o)
	return o, err
}

// Stop ends the core if nothing works in it; else the error is an *app.Error with the code "busy".
// It returns before the core has ended.
func (c Core) Stop(ctx context.Context) error {
	err := c.ask(ctx, request{Op: "stop"}, nil)
	if errors.Is(err, ErrNoCore) { // it was faster than its reply, or is long gone
		return nil
	}
	return err
}

// Held is a listener in another process's core.
type Held struct {
	Listening
	conn net.Conn
	gone chan struct{}
}

// Close closes the listener.
func (h *Held) Close() error { return h.conn.Close() }

// Gone is closed when the core has ended or Close was called.
func (h *Held) Gone() <-chan struct{} { return h.gone }

// Listen has the core listen on one more address until the result is closed.
func (c Core) Listen(ctx context.Context, r ListenRequest) (*Held, error) {
	conn, err := dial(ctx, c.root)
	if err != nil {
		return nil, err
	}
	h := &Held{conn: conn, gone: make(chan struct{})}
	if err := exchange(ctx, conn, request{Op: "listen", Listen: &r}, &h.Listening); err != nil {
		_ = conn.Close()
		return nil, err
	}
	go func() {
		defer close(h.gone)
		_, _ = conn.Read(make([]byte, 1)) // the core says nothing more; this ends with it
	}()
	return h, nil
}

func (c Core) ask(ctx context.Context, r request, out any) error {
	conn, err := dial(ctx, c.root)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	return exchange(ctx, conn, r, out)
}

// dial connects to the core's socket and checks that our own user listens there.
func dial(ctx context.Context, root *store.Root) (*net.UnixConn, error) {
	path, err := findSocket(root)
	if err != nil {
		return nil, err
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED):
		return nil, ErrNoCore
	case err != nil:
		return nil, fmt.Errorf("connect to the core: %w", err)
	}
	unix, ok := conn.(*net.UnixConn)
	if !ok {
		_ = conn.Close()
		return nil, fmt.Errorf("connect to the core: %T is no socket", conn)
	}
	if err := checkPeer(unix); err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("connect to the core: %w", err)
	}
	return unix, nil
}

// exchange sends a request and reads its reply. A core that ends before it replies counts as none.
func exchange(ctx context.Context, conn net.Conn, r request, out any) error {
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if err := json.NewEncoder(conn).Encode(r); err != nil {
		return lost(ctx, err)
	}
	var answer reply
	if err := json.NewDecoder(conn).Decode(&answer); err != nil {
		return lost(ctx, err)
	}
	if answer.Code != "" {
		return &app.Error{Code: answer.Code, Message: answer.Error}
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(answer.OK, out); err != nil {
		return fmt.Errorf("read the core's reply to %q: %w", r.Op, err)
	}
	return nil
}

func lost(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("ask the core: %w", ctx.Err())
	}
	return fmt.Errorf("%w: it ended before it replied: %w", ErrNoCore, err)
}
