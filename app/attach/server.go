package attach

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"time"

	"carrel/app"
	"carrel/store"
)

// maxRequest is the size of a request in bytes.
const maxRequest = 1 << 20

// Handler is the core behind the socket.
type Handler interface {
	Hello() Hello
	Open(ctx context.Context, args []string) (Opened, error)
	// Listen opens a listener until close is called.
	Listen(ctx context.Context, r ListenRequest) (l Listening, close func(), err error)
	// Stop ends the core if nothing works; it returns before the end.
	Stop() error
}

// Server answers on the socket.
type Server struct {
	root     *store.Root
	listener *net.UnixListener
	handler  Handler
	log      *slog.Logger
	clean    func()
	running  sync.WaitGroup

	mu     sync.Mutex
	conns  map[net.Conn]bool
	closed bool
}

// Serve makes the socket and answers on it. The caller holds the root's lock.
func Serve(ctx context.Context, root *store.Root, h Handler, log *slog.Logger) (*Server, error) {
	l, clean, err := listen(ctx, root)
	if err != nil {
		return nil, fmt.Errorf("make the core's socket: %w", err)
	}
	s := &Server{root: root, listener: l, handler: h, log: log, clean: clean, conns: map[net.Conn]bool{}}
	s.running.Go(s.accept)
	return s, nil
}

// Close removes the socket, ends what is connected and waits for it.
func (s *Server) Close() error {
	err := s.listener.Close()
	s.mu.Lock()
	s.closed = true
	for c := range s.conns {
		_ = c.Close()
	}
	s.mu.Unlock()
	s.running.Wait()
	s.clean()
	return err
}

func (s *Server) accept() {
	for {
		conn, err := s.listener.AcceptUnix()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // too many open files, say: breathe
			s.log.Error("accept on the core's socket", "error", err)
			time.Sleep(100 * time.Millisecond)
			continue
		}
		if err := checkPeer(conn); err != nil {
			s.log.Warn("refused a connection to the core's socket", "error", err)
			_ = conn.Close()
			continue
		}
		if !s.enter(conn) {
			_ = conn.Close()
			return
		}
		s.running.Go(func() { defer s.leave(conn); s.serve(conn) })
	}
}

func (s *Server) enter(conn net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.conns[conn] = true
	}
	return !s.closed
}

func (s *Server) leave(conn net.Conn) {
	s.mu.Lock()
	delete(s.conns, conn)
	s.mu.Unlock()
	_ = conn.Close()
}

// serve answers one request. The connection's end ends what it asked for.
func (s *Server) serve(conn *net.UnixConn) {
	_ = conn.SetReadDeadline(time.Now().Add(dialWait))
	in := bufio.NewReader(io.LimitReader(conn, maxRequest))
	var r request
	if err := json.NewDecoder(in).Decode(&r); err != nil {
		s.reply(conn, nil, &app.Error{Code: "bad_request", Message: "The request can't be read."})
		return
	}
	if workspace := agentOf(conn, s.root); workspace != "" {
		s.log.Warn("refused a command of an agent on the core's socket", "workspace", workspace, "asked", r.Op)
		s.reply(conn, nil, ErrAgent)
		return
	}
	_ = conn.SetReadDeadline(time.Time{})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	hungUp := make(chan struct{})
	s.running.Go(func() {
		defer close(hungUp)
		defer cancel()
		_, _ = io.Copy(io.Discard, conn)
	})
	s.answer(ctx, conn, r, hungUp)
}

func (s *Server) answer(ctx context.Context, conn net.Conn, r request, hungUp <-chan struct{}) {
	switch r.Op {
	case "hello":
		s.reply(conn, s.handler.Hello(), nil)
	case "open":
		opened, err := s.handler.Open(ctx, r.Args)
		s.reply(conn, opened, err)
	case "listen":
		if r.Listen == nil {
			r.Listen = &ListenRequest{}
		}
		l, stop, err := s.handler.Listen(ctx, *r.Listen)
		s.reply(conn, l, err)
		if err == nil {
			<-hungUp
			stop()
		}
	case "stop":
		s.reply(conn, struct{}{}, s.handler.Stop())
	default:
		s.reply(conn, nil, &app.Error{Code: "unknown_call", Message: "This core does not know the request; is it older than the program that asks?"})
	}
}

func (s *Server) reply(conn net.Conn, value any, err error) {
	var out reply
	var known *app.Error
	switch {
	case errors.As(err, &known):
		out = reply{Code: known.Code, Error: known.Message}
	case err != nil: // our own user asks, and for the command line: the cause helps
		out = reply{Code: "internal", Error: err.Error()}
	default:
		data, err := json.Marshal(value)
		if err != nil {
			s.log.Error("encode a reply on the core's socket", "error", err)
		}
		out.OK = data
	}
	_ = conn.SetWriteDeadline(time.Now().Add(dialWait))
	_ = json.NewEncoder(conn).Encode(out)
}
