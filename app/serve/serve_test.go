package serve

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"go.uber.org/goleak"

	"carrel/app"
	"carrel/app/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// projects counts its calls.
type projects struct {
	app.ProjectsAPI
	mu    sync.Mutex
	added int
	paths chan string // if set, gets what is added
}

func (p *projects) Add(_ context.Context, args app.AddProject) (app.Project, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.added++
	if p.paths != nil {
		p.paths <- args.Path
	}
	return app.Project{ID: "p"}, nil
}

// attachScript attaches as the real page does and reports by a call whether the policy held: the
// page's inline script must not have run, and a foreign address must have been blocked.
const attachScript = `
const token = new URLSearchParams(location.hash.slice(1)).get("t");
const blocked = [];
addEventListener("securitypolicyviolation", (e) => blocked.push(e.effectiveDirective));
await fetch("http://127.0.0.1:1/").catch(() => undefined);
const socket = new WebSocket("ws://" + location.host + "/ws");
socket.onopen = () => socket.send(JSON.stringify({ hello: { token, role: "browser", version: "1" } }));
socket.onmessage = (m) => {
  if (JSON.parse(m.data).welcome)
    socket.send(JSON.stringify({ id: 1, call: "projects.add", args: { path: "inline " + !!window.inline + ", blocked " + blocked.join() } }));
};
`

type fixture struct {
	*Listener
	server   *Server
	socket   *wire.Server
	projects *projects
	log      *bytes.Buffer
	now      func() time.Time
}

func start(t *testing.T, change func(*ListenOptions)) *fixture {
	t.Helper()
	f := &fixture{projects: &projects{}, log: &bytes.Buffer{}}
	log := slog.New(slog.NewTextHandler(&locked{w: f.log}, &slog.HandlerOptions{Level: slog.LevelDebug}))
	f.socket = wire.New(wire.Options{API: app.API{Projects: f.projects}, Verify: Verify, Log: log})
	f.server = New(Options{
		Socket: f.socket, Version: "9", Log: log,
		Page: fstest.MapFS{
			"index.html":    {Data: []byte(`<!doctype html>the page<script>window.inline = true</script><script type="module" src="/assets/attach.js"></script>`)},
			"assets/a-1.js": {Data: []byte("1")}, "assets/attach.js": {Data: []byte(attachScript)}, ".keep": {},
		},
		Blob: func(_ context.Context, _, hash string) ([]byte, string, error) {
			if hash == "gone" {
				return nil, "", errors.New("gone")
			}
			return []byte("blob " + hash), "text/html", nil
		},
		Upload: f.upload,
		Waiting: func(_ context.Context, id string) ([]byte, string, error) {
			if id != "abc" {
				return nil, "", errors.New("gone")
			}
			return []byte("a picture"), "image/png", nil
		},
		Now: func() time.Time { return f.now() },
	})
	f.now = time.Now
	o := ListenOptions{Auth: Auth{Token: NewToken(), Generated: true}}
	if change != nil {
		change(&o)
	}
	l, err := f.server.Listen(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	f.Listener = l
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
		defer cancel()
		if err := errors.Join(f.socket.Close(ctx), f.server.Close(ctx)); err != nil {
			t.Error(err)
		}
	})
	return f
}

// locked is a writer for several goroutines.
type locked struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

// send writes a request as it stands; {port} is the listener's port.
func (f *fixture) send(t *testing.T, request string) *http.Response {
	t.Helper()
	conn, err := net.Dial("tcp", f.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	request = strings.ReplaceAll(request, "{port}", fmt.Sprint(f.Addr().Port))
	request = strings.ReplaceAll(request, "{token}", f.Token())
	request = strings.ReplaceAll(strings.TrimLeft(request, "\n"), "\n", "\r\n") + "\r\nConnection: close\r\n\r\n"
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(res.Body)
	_ = res.Body.Close()
	res.Body = io.NopCloser(bytes.NewReader(body))
	return res
}

func TestThePageIsServedWithItsPlacesAndWithoutHiddenFiles(t *testing.T) {
	f := start(t, nil)
	get := func(path string) (int, string) {
		res := f.send(t, "GET "+path+" HTTP/1.1\nHost: localhost:{port}")
		body, _ := io.ReadAll(res.Body)
		return res.StatusCode, string(body)
	}
	for path, want := range map[string]string{"/": "the page", "/index.html": "the page", "/workspace/w1": "the page", "/assets/a-1.js": "1"} {
		if code, body := get(path); code != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
	for _, path := range []string{"/.keep", "/assets/none.js", "/../serve.go"} {
		if code, body := get(path); code == http.StatusOK && !strings.Contains(body, "the page") || strings.Contains(body, "package serve") {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
}

func TestThePageBearsTheChosenThemeAndDensity(t *testing.T) {
	index := `<html data-theme-choice="system" data-density="comfortable">`
	chosen, density := "", ""
	p := newPage(fstest.MapFS{"index.html": {Data: []byte(index)}}, func() (string, string) { return chosen, density })
	for theme, want := range map[string]string{"": "system", "system": "system", "dark": "dark", "light": "light", `"><script>`: "system"} {
		chosen = theme
		w := httptest.NewRecorder()
		p.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
		if got := w.Body.String(); got != `<html data-theme-choice="`+want+`" data-density="comfortable">` {
			t.Errorf("%q: %s", theme, got)
		}
	}
	density = "compact"
	w := httptest.NewRecorder()
	p.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	if got := w.Body.String(); !strings.Contains(got, `data-density="compact"`) {
		t.Error(got)
	}
}

func TestBlobAddressesExpire(t *testing.T) {
	f := start(t, nil)
	now := time.Now()
	f.now = func() time.Time { return now }
	address := f.server.BlobURL("w", "abc")
	get := func(address string) *http.Response {
		return f.send(t, "GET "+address+" HTTP/1.1\nHost: localhost:{port}\nSec-Fetch-Site: same-origin")
	}
	res := get(address)
	body, _ := io.ReadAll(res.Body)
	if res.StatusCode != http.StatusOK || string(body) != "blob abc" {
		t.Errorf("%s %s", res.Status, body)
	}
	if h := res.Header; h.Get("Content-Disposition") != "attachment" || !strings.Contains(h.Get("Content-Security-Policy"), "sandbox") {
		t.Errorf("HTML is shown: %v", h)
	}
	for _, wrong := range []string{
		strings.Replace(address, "/abc", "/abd", 1), strings.Replace(address, "/w/", "/v/", 1), strings.Replace(address, "until=", "until=1", 1), "/blob/w/abc?sig=",
	} {
		if res := get(wrong); res.StatusCode != http.StatusForbidden {
			t.Errorf("%s: %s", wrong, res.Status)
		}
	}
	if res := get(f.server.BlobURL("w", "gone")); res.StatusCode != http.StatusNotFound {
		t.Errorf("a missing blob: %s", res.Status)
	}
	now = now.Add(blobLife + 2*time.Second)
	if res := get(address); res.StatusCode != http.StatusForbidden {
		t.Errorf("after its life: %s", res.Status)
	}
}

func TestListenersHaveTheirOwnTokens(t *testing.T) {
	f := start(t, nil)
	second, err := f.server.Listen(t.Context(), ListenOptions{Host: "0.0.0.0", Auth: Auth{None: true}})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(second.Warnings(), " "); !strings.Contains(got, "DANGER") || !strings.Contains(got, "not encrypted") {
		t.Errorf("warnings: %s", got)
	}
	if len(f.Warnings()) != 0 {
		t.Errorf("warnings: %v", f.Warnings())
	}
	first := *f
	first.Listener = second
	if res := first.send(t, "GET /healthz HTTP/1.1\nHost: localhost:{port}"); res.StatusCode != http.StatusOK {
		t.Errorf("without authentication: %s", res.Status)
	}
	if res := first.send(t, "GET /healthz HTTP/1.1\nHost: evil.test:{port}"); res.StatusCode != http.StatusForbidden {
		t.Errorf("a foreign name without authentication: %s", res.Status)
	}
	if res := f.send(t, "GET /healthz HTTP/1.1\nHost: localhost:{port}"); res.StatusCode != http.StatusUnauthorized {
		t.Errorf("the first listener: %s", res.Status)
	}
	if err := second.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := f.server.Listen(t.Context(), ListenOptions{Port: f.Addr().Port, Auth: Auth{None: true}}); err == nil {
		t.Error("listened twice on one port")
	}
}
