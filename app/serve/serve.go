// Package serve is Carrel's HTTP server: the page, the socket, blobs, uploads.
//
// It promises, for every route and before any upgrade: the request's Host is one of the server's
// names, its Origin, if it has one, is the server's own page, and no page of another site asked for
// it. Everything but the page's files needs the token: in the socket's first message, or in an
// Authorization header. No address that the server sees carries it, and it keeps no access log.
package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"carrel/app"
)

// Options say what a Server serves.
type Options struct {
	// Socket takes the requests to /ws. It lets in whom Verify lets in.
	Socket http.Handler
	Page   fs.FS
	// Look is asked for at each load of the page. The theme is light or dark, anything else is like the
	// system's; the density is compact, anything else is comfortable. nil: like the system's, comfortable.
	Look func() (theme, density string)
	Blob BlobFunc // nil: no blobs
	// Upload takes what is sent to /upload; nil: nothing can be uploaded.
	Upload UploadFunc
	// Waiting gives a file that was uploaded and waits for its message; nil: none is shown again.
	Waiting func(ctx context.Context, id string) (data []byte, mime string, err error)
	// Coder takes what a browser brings back from a login at Coder, and reports whether one waits for it;
	// nil: none does.
	Coder func(state, code, refused string) bool
	// Version is what /healthz says to those who have the token.
	Version string
	Log     *slog.Logger
	Now     func() time.Time // nil: the clock
}

// Server serves any number of listeners, each with its own token and names.
type Server struct {
	o       Options
	blobs   *blobs
	uploads *uploads
	page    page

	mu        sync.Mutex
	listeners map[*Listener]bool
}

// New returns a Server without listeners.
func New(o Options) *Server {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Server{o: o, blobs: newBlobs(o.Blob, o.Now), uploads: newUploads(o.Upload, o.Log), page: newPage(o.Page, o.Look),
		listeners: map[*Listener]bool{}}
}

// BlobURL returns an address, relative to the page's, that shows a blob for five minutes.
func (s *Server) BlobURL(workspace, hash string) string { return s.blobs.url(workspace, hash) }

// Close closes every listener; see Listener.Close.
func (s *Server) Close(ctx context.Context) error {
	s.mu.Lock()
	var all []*Listener
	for l := range s.listeners {
		all = append(all, l)
	}
	s.mu.Unlock()
	var errs []error
	for _, l := range all {
		errs = append(errs, l.Close(ctx))
	}
	return errors.Join(errs...)
}

// ListenOptions say where to listen and whom to let in.
type ListenOptions struct {
	Host       string // "" and localhost mean 127.0.0.1
	Port       int    // 0: any
	AllowHosts []string
	Auth       Auth
}

// Listener is a listener that serves.
type Listener struct {
	srv   *Server
	http  *http.Server
	auth  Auth
	gate  gate
	limit *limit
	addr  *net.TCPAddr
	host  string // as asked for
	done  chan struct{}
}

// Listen starts to serve. ctx is for the start only; Close ends it. A port that another program has is an
// *app.Error with the code "port_taken".
func (s *Server) Listen(ctx context.Context, o ListenOptions) (*Listener, error) {
	if o.Auth.Token == "" && !o.Auth.None {
		return nil, errors.New("listen: no token")
	}
	host := o.Host
	if host == "" || strings.EqualFold(host, "localhost") {
		host = "127.0.0.1"
	}
	var config net.ListenConfig
	socket, err := config.Listen(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(o.Port)))
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, &app.Error{Code: "port_taken", Cause: err, Message: fmt.Sprintf(
			"Another program listens on port %d already. Choose another one with --port; --port 0 takes one that is free.", o.Port)}
	}
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	addr, ok := socket.Addr().(*net.TCPAddr)
	if !ok {
		_ = socket.Close()
		return nil, fmt.Errorf("listen: %v is no TCP address", socket.Addr())
	}
	l := &Listener{
		srv: s, auth: o.Auth, gate: newGate(addr.Port, o.AllowHosts), limit: newLimit(s.o.Now),
		addr: addr, host: host, done: make(chan struct{}),
	}
	l.http = &http.Server{
		Handler:           l.handler(),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      60 * time.Second, // sockets are not bound by it
		IdleTimeout:       60 * time.Second,
		MaxHeaderBytes:    32 << 10,
		ErrorLog:          slog.NewLogLogger(s.o.Log.Handler(), slog.LevelDebug),
	}
	s.mu.Lock()
	s.listeners[l] = true
	s.mu.Unlock()
	go l.serve(socket)
	return l, nil
}

func (l *Listener) serve(socket net.Listener) {
	defer close(l.done)
	if err := l.http.Serve(socket); !errors.Is(err, http.ErrServerClosed) {
		l.srv.o.Log.Error("the listener failed", "address", l.addr, "error", err)
	}
}

// Close stops listening and waits for answers under way. Sockets are the wire's to close.
func (l *Listener) Close(ctx context.Context) error {
	l.srv.mu.Lock()
	delete(l.srv.listeners, l)
	l.srv.mu.Unlock()
	err := l.http.Shutdown(ctx)
	if err != nil {
		_ = l.http.Close()
	}
	<-l.done
	return err
}

// Addr returns the address that it listens on.
func (l *Listener) Addr() *net.TCPAddr { return l.addr }

// Token returns the token, "" without authentication.
func (l *Listener) Token() string { return l.auth.Token }

// URL returns the page's address without the token.
func (l *Listener) URL() string {
	host := l.addr.IP.String()
	if l.addr.IP.IsUnspecified() {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, strconv.Itoa(l.addr.Port))
}

// Link returns the page's address for a person to open. The token is in its fragment, which
// browsers keep to themselves.
func (l *Listener) Link() string {
	if l.auth.None {
		return l.URL() + "/"
	}
	return l.URL() + "/#t=" + l.auth.Token
}

// Warnings says, in sentences, what is risky about the listener.
func (l *Listener) Warnings() []string {
	var all []string
	open := !l.addr.IP.IsLoopback()
	if open {
		all = append(all, fmt.Sprintf("Other machines can reach this server on %s, and the connection is not encrypted. Use a trusted network, a VPN or a TLS proxy.", l.addr))
	}
	switch {
	case l.auth.None && open:
		all = append(all, "DANGER: --no-auth on an address that other machines can reach: anyone who reaches it can run commands as you.")
	case l.auth.None:
		all = append(all, "--no-auth: every program and every user of this machine can run commands as you through this server.")
	case !l.auth.Generated && len(l.auth.Token) < weakToken:
		all = append(all, fmt.Sprintf("The access token is shorter than %d characters and could be guessed.", weakToken))
	}
	return all
}

type listenerKey struct{}

// handler is every route of the listener, behind its gate.
func (l *Listener) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /ws", l.srv.o.Socket)
	mux.Handle("GET /healthz", l.authorized(http.HandlerFunc(l.srv.health)))
	if l.srv.o.Blob != nil {
		mux.Handle("GET /blob/{workspace}/{hash}", l.blob())
	}
	if l.srv.o.Upload != nil {
		mux.Handle("POST "+uploadPath, l.authorized(l.srv.uploads))
	}
	if l.srv.o.Waiting != nil {
		mux.Handle("GET "+uploadPath+"/{id}", l.authorized(http.HandlerFunc(l.srv.waiting)))
	}
	if l.srv.o.Coder != nil {
		mux.HandleFunc("GET "+app.CoderCallback, l.srv.coder)
	}
	mux.Handle("GET /", l.srv.page)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if why := l.gate.refuses(r); why != "" {
			w.Header().Set("X-Content-Type-Options", "nosniff")
			http.Error(w, why, http.StatusForbidden)
			return
		}
		secure(w, r)
		if r.Method != http.MethodGet && r.Method != http.MethodHead && (r.Method != http.MethodPost || r.URL.Path != uploadPath) {
			http.Error(w, "Method not allowed.", http.StatusMethodNotAllowed)
			return
		}
		mux.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), listenerKey{}, l)))
	})
}

// The refusals of a token.
var (
	errToken   = &app.Error{Code: "unauthorized", Message: "The access token is missing or wrong. Open the address that Carrel printed."}
	errLimited = &app.Error{Code: "rate_limited", Message: "Too many wrong access tokens came from this address. Wait a minute and try again."}
)

// Verify accepts or refuses the token that came with a request of one of the listeners. It is what
// the socket asks about a hello.
func Verify(r *http.Request, token string) error {
	l, ok := r.Context().Value(listenerKey{}).(*Listener)
	if !ok {
		return errToken
	}
	return l.verify(r, token)
}

func (l *Listener) verify(r *http.Request, token string) error {
	if l.auth.None {
		return nil
	}
	if l.auth.Generated {
		// Nobody guesses 256 bits, and a limit would let any program on this machine lock the person out.
		if !l.auth.accepts(token) {
			return errToken
		}
		return nil
	}
	from := remote(r)
	if l.limit.blocked(from) {
		return errLimited
	}
	if !l.auth.accepts(token) {
		l.limit.note(from)
		return errToken
	}
	return nil
}

// authorized demands the token in the Authorization header.
func (l *Listener) authorized(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		err := l.verify(r, token)
		var refused *app.Error
		switch {
		case err == nil:
			next.ServeHTTP(w, r)
		case errors.As(err, &refused) && refused.Code == errLimited.Code:
			http.Error(w, refused.Message, http.StatusTooManyRequests)
		default:
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, errToken.Message, http.StatusUnauthorized)
		}
	})
}

// coder ends a login at Coder. It needs no token: the state that comes back is the proof.
func (s *Server) coder(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if !s.o.Coder(q.Get("state"), q.Get("code"), q.Get("error")) {
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, "No login waits for this. Go back to Carrel and log in again.\n")
		return
	}
	_, _ = io.WriteString(w, "You can close this page and go back to Carrel.\n") // the browser may be gone
}

func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"ok": true, "version": s.o.Version})
}
