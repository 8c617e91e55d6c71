package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/coder/websocket"
	"github.com/evanw/esbuild/pkg/api"

	"carrel/app"
	"carrel/app/attach"
	"carrel/app/serve"
	"carrel/app/wire"
	"carrel/store"
)

// pageServer is a core as far as a window can tell: it answers on the socket of a data root and
// serves a page and the wire. The page is the bench's, and beside the wire there is a bare WebSocket
// that nothing of ours touches.
type pageServer struct {
	url, token string
	dir        string // the data root
	query      string // tells the page what to do
	wire       *wire.Server
	reports    chan pageReport
}

// pageReport is what the page found, as JSON.
type pageReport json.RawMessage

func (b *bench) servePage(ctx context.Context, name, query string) (_ *pageServer, closeAll func() error, err error) {
	script, err := b.pageScript()
	if err != nil {
		return nil, nil, err
	}
	s := &pageServer{token: serve.NewToken(), dir: b.path(name), query: query, reports: make(chan pageReport, 64)}
	s.wire = wire.New(wire.Options{API: app.API{Projects: benchCalls{server: s}}, Version: "bench", Verify: s.verify})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	s.url = "http://" + l.Addr().String()
	mux := http.NewServeMux()
	mux.Handle("GET /ws", s.wire)
	mux.HandleFunc("GET /bare", bareSocket)
	mux.HandleFunc("GET /page.js", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		_, _ = w.Write(script)
	})
	mux.HandleFunc("GET /{$}", s.index(b))
	web := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	go func() { _ = web.Serve(l) }() // ends with Close
	door, err := s.openDoor(ctx)
	if err != nil {
		return nil, nil, errors.Join(err, web.Close())
	}
	return s, func() error {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		return errors.Join(door.Close(), s.wire.Close(ctx), web.Close())
	}, nil
}

// openDoor lets a window find this core.
func (s *pageServer) openDoor(ctx context.Context) (*attach.Server, error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, err
	}
	root, err := store.Open(s.dir)
	if err != nil {
		return nil, err
	}
	return attach.Serve(ctx, root, benchDoor{s}, slog.New(slog.DiscardHandler))
}

func (s *pageServer) verify(_ *http.Request, token string) error {
	if token != s.token {
		return errors.New("wrong token")
	}
	return nil
}

// index serves the page. The window opens it without a query, and is sent on.
func (s *pageServer) index(b *bench) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery == "" {
			http.Redirect(w, r, "/?"+s.query, http.StatusFound) // browsers keep the fragment
			return
		}
		http.ServeFile(w, r, filepath.Join(b.module, "bench", "page", "index.html"))
	}
}

// pageScript bundles the page with the client of the real one.
func (b *bench) pageScript() ([]byte, error) {
	built := api.Build(api.BuildOptions{
		EntryPoints: []string{filepath.Join(b.module, "bench", "page", "page.ts")},
		Bundle:      true, Format: api.FormatESModule, Target: api.ES2022, MinifySyntax: true, Outfile: "page.js",
	})
	if len(built.Errors) > 0 {
		return nil, fmt.Errorf("bundle the page: %s", built.Errors[0].Text)
	}
	return built.OutputFiles[0].Contents, nil
}

// report waits for what the page says next.
func (s *pageServer) report(ctx context.Context, wait time.Duration, out any) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case r := <-s.reports:
		var failed struct{ Error string }
		if err := json.Unmarshal(r, &failed); err == nil && failed.Error != "" {
			return fmt.Errorf("the page: %s", failed.Error)
		}
		return json.Unmarshal(r, out)
	case <-timer.C:
		return fmt.Errorf("the page said nothing for %s", wait)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// benchCalls are the calls that the page makes; it makes no others.
type benchCalls struct {
	app.ProjectsAPI
	server *pageServer
}

// Browse answers with the 1 KB that it was asked with.
func (benchCalls) Browse(_ context.Context, args app.Browse) (app.Folder, error) {
	return app.Folder{Path: args.Path}, nil
}

// Remove, of "events N", publishes so many events of 64 bytes.
func (c benchCalls) Remove(_ context.Context, args app.ByID) error {
	n, err := count(args.ID)
	for range n {
		c.server.wire.Publish(app.ProjectRemoved{ID: sixtyFour})
	}
	return err
}

// Drop takes a report.
func (c benchCalls) Drop(_ context.Context, args app.DropFolders) error {
	select {
	case c.server.reports <- pageReport(strings.Join(args.Paths, "")):
		return nil
	default:
		return errors.New("nobody reads the reports")
	}
}

var sixtyFour = strings.Repeat("x", 64)

func count(text string) (n int, err error) {
	_, err = fmt.Sscanf(text, "events %d", &n)
	return n, err
}

// bareSocket sends back what comes, or so many events of 64 bytes.
func bareSocket(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer func() { _ = conn.CloseNow() }()
	for {
		kind, data, err := conn.Read(r.Context())
		if err != nil {
			return
		}
		n, err := count(string(data))
		if err != nil {
			if conn.Write(r.Context(), kind, data) != nil {
				return
			}
			continue
		}
		for range n {
			if conn.Write(r.Context(), kind, []byte(sixtyFour)) != nil {
				return
			}
		}
	}
}

// benchDoor is what a window asks on the socket.
type benchDoor struct{ server *pageServer }

// Hello implements attach.Handler.
func (d benchDoor) Hello() attach.Hello {
	return attach.Hello{Version: "bench", PID: os.Getpid(), URL: d.server.url, Token: d.server.token, Busy: true}
}

// Open implements attach.Handler.
func (benchDoor) Open(context.Context, []string) (attach.Opened, error) {
	return attach.Opened{}, nil
}

// Listen implements attach.Handler.
func (benchDoor) Listen(context.Context, attach.ListenRequest) (attach.Listening, func(), error) {
	return attach.Listening{}, nil, errors.New("the bench listens once")
}

// Stop implements attach.Handler.
func (benchDoor) Stop() error { return &app.Error{Code: "busy", Message: "The bench is measuring."} }
