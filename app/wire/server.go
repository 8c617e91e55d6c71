package wire

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"

	"carrel/app"
)

// Options say what a Server serves and whom it lets in.
type Options struct {
	API     app.API
	Version string
	// Core is this core's id, by which a host that comes back knows it; default: a random one.
	Core string
	// Verify accepts or refuses the token of a hello. What it returns is told to the host if it is
	// an *app.Error. Nil refuses everyone.
	Verify func(r *http.Request, token string) error
	// SetWindow hears of the window that attached, or nil when it left. It must not call the Server.
	SetWindow func(app.Window)
	// Hosts hears how many hosts are attached, after each change. It must not call the Server.
	Hosts func(n int)
	// Streams are the byte streams that a host can open, by name.
	Streams map[string]StreamFunc
	Log     *slog.Logger
}

// Server serves hosts over WebSockets. It is an http.Handler for the one address they connect to;
// whoever mounts it has checked Host and Origin before.
type Server struct {
	o     Options
	table *table
	hub   *hub
	waits waits

	mu      sync.Mutex
	hosts   map[*host]bool
	window  *host // the attached window
	closed  bool
	running sync.WaitGroup
}

// waits are the durations that tests shorten.
type waits struct{ hello, ping, answer, dialog time.Duration }

// New returns a Server that has published nothing yet.
func New(o Options) *Server {
	if o.Core == "" {
		o.Core = rand.Text()
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Server{
		o: o, table: newTable(o.API, o.Log), hub: newHub(o.Core, o.Log), hosts: map[*host]bool{},
		waits: waits{helloWait, pingEvery, answerWait, dialogWait},
	}
}

// Core returns this core's id.
func (s *Server) Core() string { return s.o.Core }

// Publish hands an event to the hosts. It does not block and keeps nothing of ev but its strings.
func (s *Server) Publish(ev app.Event) { s.hub.publish(ev) }

// Joined reports whether any host has joined a topic.
func (s *Server) Joined(topic string) bool { return s.hub.joined(topic) }

// ServeHTTP takes a host's connection and returns when it has ended.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !s.enter() {
		http.Error(w, "shutting down", http.StatusServiceUnavailable)
		return
	}
	defer s.running.Done()
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return // Accept has answered
	}
	// The request's context says nothing about a hijacked connection.
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	defer cancel()
	h := newHost(s, conn)
	if err := h.serve(ctx, r); err != nil {
		s.o.Log.Debug("a host left", "role", h.role, "error", err)
	}
}

func (s *Server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.running.Add(1)
	return true
}

// Close tells the hosts that the core goes and waits until their connections have ended. When ctx
// ends first it cuts them off and returns ctx's error.
func (s *Server) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	for h := range s.hosts {
		h.end(websocket.StatusGoingAway, "the core is shutting down")
	}
	s.mu.Unlock()
	s.hub.close()
	done := make(chan struct{})
	go func() { s.running.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for h := range s.hosts {
		_ = h.conn.CloseNow()
	}
	return ctx.Err()
}

// add counts a host that was let in; a window replaces the one before.
func (s *Server) add(h *host) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errors.New("shutting down")
	}
	s.hosts[h] = true
	if h.role == Desktop {
		if old := s.window; old != nil {
			old.end(closeReplaced, "a newer window took over")
		}
		s.window = h
		s.setWindow(window{h})
	}
	s.count()
	return nil
}

func (s *Server) remove(h *host) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.hosts[h] {
		return
	}
	delete(s.hosts, h)
	if s.window == h {
		s.window = nil
		s.setWindow(nil)
	}
	s.count()
}

func (s *Server) setWindow(w app.Window) {
	if s.o.SetWindow != nil {
		s.o.SetWindow(w)
	}
}

func (s *Server) count() {
	if s.o.Hosts != nil {
		s.o.Hosts(len(s.hosts))
	}
}
