package coder

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Answer is what the browser brings back.
type Answer struct{ State, Code, Error string }

// Callback waits on the loopback for the browser to come back.
type Callback struct {
	Address string // to be registered as the redirect
	answers chan Answer
	server  *http.Server
}

// Listen starts a Callback. Close it.
func Listen(ctx context.Context) (*Callback, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the login: %w", err)
	}
	c := &Callback{Address: "http://" + l.Addr().String() + "/callback", answers: make(chan Answer, 1)}
	c.server = &http.Server{Handler: http.HandlerFunc(c.serve), ReadHeaderTimeout: 5 * time.Second, MaxHeaderBytes: 16 << 10}
	go func() { _ = c.server.Serve(l) }() // ends with Close
	return c, nil
}

// Close stops listening.
func (c *Callback) Close() { _ = c.server.Close() }

// Answers gives what came back, as far as somebody listens: anything on this machine can send one, so
// those of another state mean nothing.
func (c *Callback) Answers() <-chan Answer { return c.answers }

func (c *Callback) serve(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	if r.URL.Path != "/callback" || r.Method != http.MethodGet {
		http.NotFound(w, r)
		return
	}
	q := r.URL.Query()
	select {
	case c.answers <- Answer{State: q.Get("state"), Code: q.Get("code"), Error: q.Get("error")}:
	default: // one is enough
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	_, _ = fmt.Fprint(w, Page) // the browser may be gone
}

// Page is what the browser shows at the end.
const Page = `<!doctype html><meta charset="utf-8"><title>Carrel</title>` +
	`<body style="font:16px system-ui;margin:4em auto;max-width:30em">You can close this page and go back to Carrel.</body>`
