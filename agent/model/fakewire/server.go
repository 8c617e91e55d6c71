// Package fakewire is a model server for tests and benchmarks: it speaks Anthropic's Messages,
// OpenAI's Responses and Chat Completions, Gemini's and both of Bedrock's formats on the loopback, from
// one script.
//
// It promises: what it sends is what the real servers send, event by event; a request that they
// would refuse (a call without its result, reasoning of another model or altered, an empty message,
// a body that is no strict JSON) is refused here too, with status 400 and the reason; every raw
// request is kept.
//
// In a test:
//
//	server := fakewire.New(t, fakewire.Steps(
//		fakewire.Reply{Calls: []fakewire.Call{{Name: "bash", Input: `{"script":"ls"}`}}},
//		fakewire.Reply{Text: "Done."},
//	))
//	client, err := anthropic.New(anthropic.Options{BaseURL: server.URL, Key: "key"})
//
// A process under test reaches it through ANTHROPIC_BASE_URL (or OPENAI_BASE_URL) set to URL, and
// any ANTHROPIC_API_KEY.
package fakewire

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// TB is the part of testing.TB that New uses.
type TB interface {
	Helper()
	Cleanup(func())
	Fatal(args ...any)
}

// Server is a running server. URL is its address without a path.
type Server struct {
	URL string

	script Script
	http   *http.Server
	gone   chan Request

	mu       sync.Mutex
	requests []Request
	lax      bool
}

// New starts a server that t ends.
func New(t TB, script Script) *Server {
	t.Helper()
	s, err := Start("127.0.0.1:0", script)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// Start starts a server on an address such as "127.0.0.1:0". Close it.
func Start(address string, script Script) (*Server, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("start model server %q: %w", address, err)
	}
	s := &Server{URL: "http://" + l.Addr().String(), script: script, gone: make(chan Request, 64)}
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	go func() { _ = s.http.Serve(l) }() // ends with Close
	return s, nil
}

// Close ends the server and every connection.
func (s *Server) Close() error { return s.http.Close() }

// AcceptAnything turns the checking of requests off.
func (s *Server) AcceptAnything() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lax = true
}

// Requests are the requests so far, in order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Last is the latest request; the zero Request when there was none.
func (s *Server) Last() Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.requests) == 0 {
		return Request{}
	}
	return s.requests[len(s.requests)-1]
}

// Gone gives each request whose client left before the reply was complete.
func (s *Server) Gone() <-chan Request { return s.gone }

// ServeHTTP answers one request; a test that changes what is sent calls it from a handler of its own.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	f := formatOf(r.URL.Path)
	if f == nil || r.Method != http.MethodPost {
		http.Error(w, `{"error":{"type":"not_found_error","message":"no such path"}}`, http.StatusNotFound)
		return
	}
	req := Request{Format: f.name(), Method: r.Method, Host: r.Host, URI: r.RequestURI, Path: r.URL.Path, Header: r.Header.Clone(), Raw: raw}
	bad := f.parse(&req)
	s.mu.Lock()
	req.N = len(s.requests) + 1
	s.requests = append(s.requests, req)
	lax := s.lax
	s.mu.Unlock()
	if bad == nil {
		bad = Validate(req)
	}
	if bad != nil && !lax {
		writeError(w, req.Format, Reply{Status: http.StatusBadRequest, ErrorType: "invalid_request_error", ErrorMessage: bad.Error()})
		return
	}
	out := &stream{w: w, req: r, reply: s.script(req)}
	out.play(f, req)
	if r.Context().Err() != nil {
		select {
		case s.gone <- req:
		default: // nobody listens
		}
	}
}

// format is one wire format.
type format interface {
	name() string
	// parse fills the request's fields from Raw.
	parse(*Request) error
	// content sends everything but the end, end the rest.
	content(*stream, Request)
	end(*stream, Request)
	// fail sends an error inside the stream.
	fail(*stream)
}

func formatOf(path string) format {
	switch {
	case strings.HasSuffix(path, "/messages"):
		return anthropicFormat{}
	case strings.HasSuffix(path, "/responses"):
		return responsesFormat{}
	case strings.HasSuffix(path, "/chat/completions"):
		return chatFormat{}
	case strings.HasSuffix(path, invokeAction):
		return bedrockFormat{}
	case strings.HasSuffix(path, converseAction):
		return converseFormat{}
	case strings.HasSuffix(path, geminiAction):
		return geminiFormat{}
	}
	return nil
}
