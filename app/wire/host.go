package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"github.com/coder/websocket"

	"carrel/app"
)

// host is one connection, seen from the core. One goroutine reads and runs short calls, one writes,
// one pings, and a longer call has its own.
type host struct {
	srv     *Server
	conn    *websocket.Conn
	role    Role
	queue   *queue
	streams *streams
	relief  *relief
	ending  chan ending // what to tell the host before the connection is closed

	writing sync.Mutex // held by whoever takes from the queue and writes

	mu    sync.Mutex
	calls map[uint64]context.CancelFunc // in flight, by the host's id
	busy  int                           // calls whose reply has not been written
	asks  map[uint64]chan inbound       // waiting for the window's answer
	asked uint64
	gone  bool
}

type ending struct {
	code   websocket.StatusCode
	reason string
}

func newHost(s *Server, conn *websocket.Conn) *host {
	conn.SetReadLimit(maxHello)
	return &host{
		srv: s, conn: conn, queue: newQueue(maxQueue), ending: make(chan ending, 1),
		calls: map[uint64]context.CancelFunc{}, asks: map[uint64]chan inbound{},
	}
}

// end asks for the connection to be closed, after what is being written.
func (h *host) end(code websocket.StatusCode, reason string) {
	select {
	case h.ending <- ending{code, reason}:
	default:
	}
}

// serve lives as long as the connection.
func (h *host) serve(ctx context.Context, r *http.Request) error {
	defer func() { _ = h.conn.CloseNow() }()
	first, err := h.greet(ctx, r)
	if err != nil {
		return err
	}
	h.conn.SetReadLimit(maxMessage)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	h.streams = newStreams(h.sendStream, func(s *Stream, payload []byte) { go h.runStream(ctx, s, payload) })
	w := h.srv.hub.attach(h.queue, first)
	defer h.srv.hub.detach(h.queue)
	w.Version = h.srv.o.Version
	h.control(outbound{Welcome: &w})
	if err := h.srv.add(h); err != nil {
		return err
	}
	defer h.srv.remove(h)
	defer h.leave()

	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { defer cancel(nil); h.write(ctx) })
	running.Go(func() { defer cancel(nil); h.ping(ctx) })
	read := func() {
		if err := h.read(ctx); !errors.Is(err, errRelieved) {
			cancel(err)
		}
	}
	h.relief = &relief{next: func() { go read() }}
	go read() // it may end later than the connection, with a call
	<-ctx.Done()
	return context.Cause(ctx)
}

// errRelieved ends a goroutine whose call took so long that another one reads.
var errRelieved = errors.New("another goroutine reads")

// greet waits for the hello and checks it.
func (h *host) greet(ctx context.Context, r *http.Request) (*hello, error) {
	ctx, cancel := context.WithTimeout(ctx, h.srv.waits.hello)
	defer cancel()
	kind, data, err := h.conn.Read(ctx)
	if err != nil {
		return nil, fmt.Errorf("wait for the hello: %w", err)
	}
	var in inbound
	if kind != websocket.MessageText || json.Unmarshal(data, &in) != nil || in.Hello == nil {
		return nil, h.refuse(ctx, &app.Error{Code: "bad_request", Message: "A connection starts with a hello."})
	}
	switch in.Hello.Role {
	case Browser, Desktop, CLI:
		h.role = in.Hello.Role
	default:
		return nil, h.refuse(ctx, &app.Error{Code: "bad_request", Message: "The hello's role is not known."})
	}
	if err := h.srv.verify(r, in.Hello.Token); err != nil {
		return nil, h.refuse(ctx, err)
	}
	return in.Hello, nil
}

func (s *Server) verify(r *http.Request, token string) error {
	if s.o.Verify == nil {
		return &app.Error{Code: "unauthorized", Message: "This core lets nobody in."}
	}
	return s.o.Verify(r, token)
}

// refuse tells the host why and closes.
func (h *host) refuse(ctx context.Context, err error) error {
	told := publicError(err)
	_ = h.conn.Write(ctx, websocket.MessageText, mustEncode(outbound{Error: told}))
	_ = h.conn.Close(closeRefused, told.Code)
	return fmt.Errorf("refuse a host: %w", err)
}

// leave ends what hangs on the connection.
func (h *host) leave() {
	h.mu.Lock()
	h.gone = true
	for _, cancel := range h.calls {
		cancel()
	}
	for _, ch := range h.asks {
		close(ch)
	}
	clear(h.asks)
	h.mu.Unlock()
	h.streams.fail(errors.New("the host left"))
	h.queue.abandon()
}

func (h *host) read(ctx context.Context) error {
	for {
		kind, data, err := h.conn.Read(ctx)
		if err != nil {
			return err
		}
		if kind == websocket.MessageBinary {
			err = h.streams.receive(data)
		} else {
			err = h.receive(ctx, data)
		}
		if errors.Is(err, errRelieved) {
			return err
		}
		if err != nil {
			h.end(websocket.StatusPolicyViolation, err.Error())
			<-ctx.Done()
			return err
		}
	}
}

// receive takes a text frame; an error but errRelieved ends the connection. What is not known is
// ignored.
func (h *host) receive(ctx context.Context, data []byte) error {
	if in, ok := callFrame(data); ok {
		return h.start(ctx, in)
	}
	var in inbound
	if err := json.Unmarshal(data, &in); err != nil {
		return errors.New("a text frame is no JSON object")
	}
	switch {
	case in.Call != "":
		return h.start(ctx, in)
	case in.Cancel != 0:
		h.cancel(in.Cancel)
	case in.Answer != 0:
		h.answered(in)
	case len(in.Join) > 0 || len(in.Leave) > 0:
		h.srv.hub.join(h.queue, in.Join, in.Leave)
	}
	return nil
}

// start runs a call and sends its reply. It gives errRelieved if another goroutine reads by then.
func (h *host) start(ctx context.Context, in inbound) error {
	connected := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	h.mu.Lock()
	_, twice := h.calls[in.ID]
	full := h.busy >= maxCalls
	if !full && !twice {
		h.busy++
		h.calls[in.ID] = cancel
	}
	h.mu.Unlock()
	switch {
	case full:
		h.control(outbound{ID: in.ID, Error: &wireError{"busy", "Too many calls at once; try again in a moment."}})
	case twice:
		h.control(outbound{ID: in.ID, Error: &wireError{"bad_request", "A call with this id is running."}})
	default:
		turn := h.relief.begin()
		h.call(ctx, in)
		_ = h.flush(connected) // an error has ended the connection
		if !h.relief.end(turn) {
			return errRelieved
		}
	}
	return nil
}

// call runs a call and queues its reply.
func (h *host) call(ctx context.Context, in inbound) {
	result, err := h.srv.table.call(ctx, in.Call, in.Args)
	reply := encodeReply(in.ID, result, err)
	h.mu.Lock()
	delete(h.calls, in.ID)
	gone := h.gone
	h.mu.Unlock()
	if gone {
		return
	}
	h.queue.addControl(message{websocket.MessageText, reply, func() {
		h.mu.Lock()
		h.busy--
		h.mu.Unlock()
	}})
}

func (h *host) cancel(id uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if cancel := h.calls[id]; cancel != nil {
		cancel()
	}
}

// control sends one of our own frames ahead of events and data. A host that never reads what it
// asks for is let go.
func (h *host) control(f outbound) {
	if h.queue.pushControl(message{kind: websocket.MessageText, data: mustEncode(f)}) > 16*maxCalls {
		h.end(websocket.StatusPolicyViolation, "too many replies wait")
	}
}

func (h *host) sendStream(control bool, data []byte) {
	if !control {
		h.queue.pushStream(data)
		return
	}
	h.queue.pushControl(message{kind: websocket.MessageBinary, data: data})
}

// runStream serves a stream that the host opened.
func (h *host) runStream(ctx context.Context, s *Stream, payload []byte) {
	var open streamOpen
	why := ""
	if err := json.Unmarshal(payload, &open); err != nil {
		why = "the open frame can't be read"
	} else if serve := h.srv.o.Streams[open.Name]; serve == nil {
		why = fmt.Sprintf("this core does not know the stream %q", cut(open.Name))
	} else if err := h.serveStream(ctx, serve, s, open); err != nil {
		why = publicError(err).Message
	}
	_ = s.closeWith(why)
}

type streamOpen struct {
	Name string          `json:"name"`
	Args json.RawMessage `json:"args,omitempty"`
}

func (h *host) serveStream(ctx context.Context, serve StreamFunc, s *Stream, open streamOpen) (err error) {
	defer func() {
		if p := recover(); p != nil {
			h.srv.o.Log.Error("a stream panicked", "stream", open.Name, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = errPanicked
		}
	}()
	return serve(ctx, s, open.Args)
}

// ping finds out that a host is gone without a word.
func (h *host) ping(ctx context.Context) {
	tick := time.NewTicker(h.srv.waits.ping)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		wait, cancel := context.WithTimeout(ctx, h.srv.waits.ping)
		err := h.conn.Ping(wait)
		cancel()
		if err != nil {
			return
		}
	}
}
