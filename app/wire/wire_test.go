package wire

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"carrel/app"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const testToken = "the token"

// projects is a service with a call of each kind.
type projects struct {
	app.ProjectsAPI
	block   chan struct{} // List waits for it
	started chan struct{} // List says that it waits
	ended   chan error    // how a List that waited ended
}

func (p *projects) Add(_ context.Context, args app.AddProject) (app.Project, error) {
	switch args.Path {
	case "/refused":
		return app.Project{}, &app.Error{Code: "not_found", Message: "There is no such folder.", Cause: errors.New("secret cause")}
	case "/broken":
		return app.Project{}, errors.New("secret cause")
	case "/panic":
		panic("secret cause")
	}
	return app.Project{ID: "p1", Path: args.Path, Name: args.Name}, nil
}

func (p *projects) Remove(context.Context, app.ByID) error { return nil }

func (p *projects) Branches(context.Context, app.ByID) (app.Branches, error) {
	return app.Branches{Current: "main"}, nil
}

func (p *projects) List(ctx context.Context) ([]app.Project, error) {
	if p.block == nil {
		return nil, nil
	}
	p.started <- struct{}{}
	select {
	case <-p.block:
		return nil, nil
	case <-ctx.Done():
		p.ended <- ctx.Err()
		return nil, ctx.Err()
	}
}

// core is a Server on a real listener.
type core struct {
	*Server
	http     *httptest.Server
	projects *projects
	window   chan app.Window
	log      *logBuffer
}

// logBuffer keeps what a server logs.
type logBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func startCore(t *testing.T, change ...func(*core, *Options)) *core {
	t.Helper()
	c := &core{projects: &projects{}, window: make(chan app.Window, 8), log: &logBuffer{}}
	o := Options{
		API: app.API{Projects: c.projects}, Version: "1.2.3",
		Verify: func(_ *http.Request, token string) error {
			if token != testToken {
				return &app.Error{Code: "unauthorized", Message: "The token is wrong."}
			}
			return nil
		},
		SetWindow: func(w app.Window) { c.window <- w },
		Log:       slog.New(slog.NewTextHandler(c.log, nil)),
	}
	for _, f := range change {
		f(c, &o)
	}
	c.Server = New(o)
	c.http = httptest.NewServer(c.Server)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
		defer cancel()
		if err := c.Close(ctx); err != nil {
			t.Errorf("close the server: %v", err)
		}
		c.http.Close()
	})
	return c
}

func (c *core) find(context.Context) (Address, error) { return Address{c.http.URL, testToken}, nil }

// dial attaches a Client.
func (c *core) dial(t *testing.T, o ClientOptions) *Client {
	t.Helper()
	if o.Find == nil {
		o.Find = c.find
	}
	if o.Role == "" {
		o.Role = CLI
	}
	client, err := Dial(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// rawHost is a host whose every frame the test decides.
type rawHost struct {
	*websocket.Conn
	t       *testing.T
	waiting *[]outbound // of a frame that held several
}

func (c *core) raw(t *testing.T) rawHost {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), c.http.URL+"/ws", nil)
	if err != nil {
		t.Fatal(err)
	}
	conn.SetReadLimit(-1)
	t.Cleanup(func() { _ = conn.CloseNow() })
	return rawHost{conn, t, &[]outbound{}}
}

func (h rawHost) say(text string) {
	h.t.Helper()
	if err := h.Write(h.t.Context(), websocket.MessageText, []byte(text)); err != nil {
		h.t.Fatal(err)
	}
}

func (h rawHost) hear() outbound {
	h.t.Helper()
	if len(*h.waiting) > 0 {
		f := (*h.waiting)[0]
		*h.waiting = (*h.waiting)[1:]
		return f
	}
	ctx, cancel := context.WithTimeout(h.t.Context(), 60*time.Second)
	defer cancel()
	_, data, err := h.Read(ctx)
	if err != nil {
		h.t.Fatal(err)
	}
	var f outbound
	if err := json.Unmarshal(data, &f); err != nil {
		h.t.Fatal(err)
	}
	if len(f.Events) > 0 {
		*h.waiting = f.Events
		return h.hear()
	}
	return f
}

func (h rawHost) hello() welcome {
	h.t.Helper()
	h.say(`{"hello":{"token":"the token","role":"browser","version":"1"}}`)
	f := h.hear()
	if f.Welcome == nil {
		h.t.Fatalf("no welcome but %+v", f)
	}
	return *f.Welcome
}

// closedWith waits for the end of the connection.
func (h rawHost) closedWith() websocket.StatusCode {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), 60*time.Second)
	defer cancel()
	for {
		if _, _, err := h.Read(ctx); err != nil {
			return websocket.CloseStatus(err)
		}
	}
}

func codeOf(err error) string {
	var e *app.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// receive waits for a value.
func receive[T any](t *testing.T, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(60 * time.Second):
		t.Fatal("nothing came")
		panic("unreachable")
	}
}

func TestCallsReachTheServices(t *testing.T) {
	c := startCore(t)
	for name, caller := range map[string]Caller{
		"over the wire": c.dial(t, ClientOptions{}),
		"locally":       Local(app.API{Projects: c.projects}, nil),
	} {
		t.Run(name, func(t *testing.T) {
			var p app.Project
			if err := caller.Call(t.Context(), "projects.add", app.AddProject{Path: "/a <b> é"}, &p); err != nil {
				t.Fatal(err)
			}
			if p.Path != "/a <b> é" {
				t.Errorf("path %q", p.Path)
			}
			if err := caller.Call(t.Context(), "projects.remove", app.ByID{ID: "p1"}, nil); err != nil {
				t.Error(err)
			}
			if err := caller.Call(t.Context(), "projects.list", nil, &[]app.Project{}); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestFailuresHaveACodeAndKeepTheirCauseToThemselves(t *testing.T) {
	c := startCore(t)
	client := c.dial(t, ClientOptions{})
	for path, code := range map[string]string{"/refused": "not_found", "/broken": "internal", "/panic": "internal"} {
		err := client.Call(t.Context(), "projects.add", app.AddProject{Path: path}, nil)
		if codeOf(err) != code {
			t.Errorf("%s: %v, want code %s", path, err, code)
		}
		if strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the cause reached the host: %v", path, err)
		}
	}
	if err := client.Call(t.Context(), "projects.nothing", nil, nil); codeOf(err) != "unknown_call" {
		t.Errorf("unknown call: %v", err)
	}
	if err := client.Call(t.Context(), "projects.add", []int{1}, nil); codeOf(err) != "bad_request" {
		t.Errorf("wrong arguments: %v", err)
	}
	log := c.log.String()
	if n := strings.Count(log, "secret cause"); n < 3 || !strings.Contains(log, "wire_test.go") {
		t.Errorf("the log lacks causes or the panic's stack:\n%s", log)
	}
}

func TestListsAreNeverNull(t *testing.T) {
	h := startCore(t).raw(t)
	h.hello()
	h.say(`{"id":1,"call":"projects.list"}`)
	if got := string(h.hear().OK); got != "[]" {
		t.Errorf("list: %s", got)
	}
	h.say(`{"id":2,"call":"projects.branches","args":{"id":"p"}}`)
	if got := string(h.hear().OK); strings.Contains(got, "null") || !strings.Contains(got, `"local":[]`) {
		t.Errorf("branches: %s", got)
	}
	shared := app.Page{Entries: []app.Entry{{ID: "e", Tool: &app.ToolEntry{}}}}
	if _, err := encode(app.ConversationChanged{}); err != nil || shared.Entries[0].Tool.Detail != nil {
		t.Error("encoding changed what the caller holds")
	}
}

func TestAHostThatLeavesCancelsItsCalls(t *testing.T) {
	c := startCore(t, func(c *core, _ *Options) {
		c.projects.block, c.projects.started, c.projects.ended = make(chan struct{}), make(chan struct{}), make(chan error, 2)
	})
	h := c.raw(t)
	h.hello()
	h.say(`{"id":1,"call":"projects.list"}`)
	receive(t, c.projects.started)
	_ = h.CloseNow()
	if err := receive(t, c.projects.ended); !errors.Is(err, context.Canceled) {
		t.Errorf("the call ended with %v", err)
	}

	client := c.dial(t, ClientOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-c.projects.started; cancel() }()
	if err := client.Call(ctx, "projects.list", nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("the caller got %v", err)
	}
	if err := receive(t, c.projects.ended); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled call ended with %v", err)
	}
}

func TestTooManyCallsAreRefusedAsBusy(t *testing.T) {
	c := startCore(t, func(c *core, _ *Options) {
		c.projects.block, c.projects.started, c.projects.ended = make(chan struct{}), make(chan struct{}, 100), make(chan error, 100)
	})
	client := c.dial(t, ClientOptions{})
	var busy atomic.Int32
	var all sync.WaitGroup
	for range maxCalls {
		all.Go(func() {
			if err := client.Call(t.Context(), "projects.list", nil, nil); err != nil {
				t.Error(err)
			}
		})
	}
	for range maxCalls {
		receive(t, c.projects.started)
	}
	if err := client.Call(t.Context(), "projects.add", app.AddProject{Path: "/x"}, nil); codeOf(err) == "busy" {
		busy.Add(1)
	}
	close(c.projects.block)
	all.Wait()
	if busy.Load() != 1 {
		t.Error("the call beyond the limit was not refused as busy")
	}
	if err := client.Call(t.Context(), "projects.add", app.AddProject{Path: "/x"}, nil); err != nil {
		t.Errorf("after the rush: %v", err)
	}
}
