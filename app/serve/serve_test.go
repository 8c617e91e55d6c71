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
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/coder/websocket"
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
}

func (p *projects) Add(context.Context, app.AddProject) (app.Project, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.added++
	return app.Project{ID: "p"}, nil
}

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
			"index.html": {Data: []byte("<!doctype html>the page")}, "assets/a-1.js": {Data: []byte("1")}, ".keep": {},
		},
		Blob: func(_ context.Context, _, hash string) ([]byte, string, error) {
			if hash == "gone" {
				return nil, "", errors.New("gone")
			}
			return []byte("blob " + hash), "text/html", nil
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
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
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

const upgrade = `
Upgrade: websocket
Connection: Upgrade
Sec-WebSocket-Version: 13
Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==`

func TestForeignRequestsAreRefusedOnEveryRoute(t *testing.T) { // O-SRV-01
	f := start(t, nil)
	attacks := map[string]string{
		"another name":              "Host: evil.test:{port}",
		"a name that ends like us":  "Host: localhost.evil.test:{port}",
		"a name that resolves here": "Host: 127.0.0.1.nip.test:{port}",
		"another port":              "Host: localhost:1",
		"no port":                   "Host: localhost",
		"an empty host":             "Host: ",
		"a foreign page":            "Host: localhost:{port}\nOrigin: https://evil.test",
		"a sandboxed page":          "Host: localhost:{port}\nOrigin: null",
		"a page on another port":    "Host: localhost:{port}\nOrigin: http://localhost:1",
		"our other name":            "Host: localhost:{port}\nOrigin: http://127.0.0.1:{port}",
		"our page over TLS tricks":  "Host: localhost:{port}\nOrigin: http://localhost:{port}@evil.test",
		"two origins":               "Host: localhost:{port}\nOrigin: http://localhost:{port}\nOrigin: https://evil.test",
		"a cross-site fetch":        "Host: localhost:{port}\nSec-Fetch-Site: cross-site",
		"a same-site fetch":         "Host: localhost:{port}\nSec-Fetch-Site: same-site\nSec-Fetch-Mode: no-cors",
		"a cross-site frame":        "Host: localhost:{port}\nSec-Fetch-Site: cross-site\nSec-Fetch-Mode: navigate\nSec-Fetch-Dest: iframe",
	}
	routes := []string{"GET /", "GET /assets/a-1.js", "GET /ws", "GET /healthz", "GET /blob/w/h", "POST /", "POST /ws", "OPTIONS /healthz", "GET /nothing"}
	for name, headers := range attacks {
		for _, route := range routes {
			request := route + " HTTP/1.1\n" + headers + "\nAuthorization: Bearer {token}\nContent-Type: text/plain"
			if route == "GET /ws" {
				request += upgrade
			}
			res := f.send(t, request)
			if res.StatusCode < 400 || res.StatusCode > 499 {
				t.Errorf("%s, %s: %s", name, route, res.Status)
			}
			if h := res.Header.Get("Access-Control-Allow-Origin"); h != "" {
				t.Errorf("%s, %s: allows %q", name, route, h)
			}
		}
	}
	if f.projects.added != 0 {
		t.Error("a call got through")
	}
}

func TestNothingButThePageIsThereWithoutTheToken(t *testing.T) { // O-SRV-01
	f := start(t, nil)
	host := " HTTP/1.1\nHost: localhost:{port}"
	for request, want := range map[string]int{
		"GET /healthz" + host: http.StatusUnauthorized,
		"GET /healthz" + host + "\nAuthorization: Bearer wrong":    http.StatusUnauthorized,
		"GET /healthz" + host + "\nAuthorization: Bearer":          http.StatusUnauthorized,
		"GET /healthz?token={token}&t={token}" + host:              http.StatusUnauthorized,
		"GET /healthz" + host + "\nCookie: t={token}":              http.StatusUnauthorized,
		"GET /healthz" + host + "\nAuthorization: Bearer {token}":  http.StatusOK,
		"GET /blob/w/h" + host + "\nAuthorization: Bearer {token}": http.StatusForbidden,
		"POST /healthz" + host + "\nAuthorization: Bearer {token}": http.StatusMethodNotAllowed,
		"OPTIONS /ws" + host + "\nOrigin: http://localhost:{port}": http.StatusMethodNotAllowed,
		"GET /" + host: http.StatusOK,
		"GET / HTTP/1.1\nHost: [::1]:{port}\nSec-Fetch-Site: none":                                                               http.StatusOK,
		"GET / HTTP/1.1\nHost: 127.0.0.1:{port}\nSec-Fetch-Site: cross-site\nSec-Fetch-Mode: navigate\nSec-Fetch-Dest: document": http.StatusOK,
	} {
		if res := f.send(t, request); res.StatusCode != want {
			t.Errorf("%q: %s, want %d", request, res.Status, want)
		}
	}
	if !f.Addr().IP.IsLoopback() {
		t.Errorf("listens on %v by default", f.Addr())
	}
}

func TestEveryAnswerCarriesTheSecurityHeaders(t *testing.T) {
	f := start(t, nil)
	for _, route := range []string{"/", "/assets/a-1.js", "/healthz", "/nothing.js"} {
		h := f.send(t, "GET "+route+" HTTP/1.1\nHost: localhost:{port}").Header
		csp := h.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "script-src 'self';", "frame-ancestors 'none'", fmt.Sprintf("ws://localhost:%d", f.Addr().Port)} {
			if !strings.Contains(csp, want) {
				t.Errorf("%s: no %s in %s", route, want, csp)
			}
		}
		if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Referrer-Policy") != "no-referrer" || h.Get("Cross-Origin-Opener-Policy") != "same-origin" {
			t.Errorf("%s: headers %v", route, h)
		}
	}
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

// attach opens the socket as a page of origin.
func (f *fixture) attach(t *testing.T, origin string) (*websocket.Conn, error) {
	t.Helper()
	conn, res, err := websocket.Dial(t.Context(), f.URL()+"/ws", &websocket.DialOptions{HTTPHeader: http.Header{"Origin": {origin}, "Sec-Fetch-Site": {"same-origin"}}})
	if res != nil && res.Body != nil {
		_ = res.Body.Close()
	}
	return conn, err
}

func TestTheTokenIsInNoLogAndNoAddress(t *testing.T) { // O-SRV-02
	f := start(t, nil)
	client, err := wire.Dial(t.Context(), wire.ClientOptions{Role: wire.CLI, Find: func(context.Context) (wire.Address, error) {
		return wire.Address{URL: f.URL(), Token: f.Token()}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Call(t.Context(), "projects.add", app.AddProject{Path: "/x"}, nil); err != nil {
		t.Error(err)
	}
	_ = client.Close()
	f.send(t, "GET /healthz HTTP/1.1\nHost: localhost:{port}\nAuthorization: Bearer {token}")
	f.send(t, "GET /nothing HTTP/1.1\nHost: evil.test\nAuthorization: Bearer {token}")
	f.send(t, "GET /healthz?token={token} HTTP/1.1\nHost: localhost:{port}")
	if strings.Contains(f.log.String(), f.Token()) {
		t.Errorf("the log has the token:\n%s", f.log)
	}
	if strings.Contains(f.URL(), f.Token()) {
		t.Error("the address has the token")
	}
	path, fragment, _ := strings.Cut(f.Link(), "#")
	if strings.Contains(path, f.Token()) || fragment != "t="+f.Token() {
		t.Errorf("the link is %s", f.Link())
	}
	if len(f.Token()) < 43 {
		t.Errorf("the token has %d characters", len(f.Token()))
	}
}

func TestThePageAttachesAndAStrangerDoesNot(t *testing.T) { // O-SRV-01
	f := start(t, nil)
	conn, err := f.attach(t, f.URL())
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Write(t.Context(), websocket.MessageText, fmt.Appendf(nil, `{"hello":{"token":%q,"role":"browser","version":"1"}}`, f.Token()))
	if _, data, err := conn.Read(t.Context()); err != nil || !strings.Contains(string(data), "welcome") {
		t.Errorf("heard %s, %v", data, err)
	}
	_ = conn.CloseNow()
	if conn, err := f.attach(t, "https://evil.test"); err == nil {
		_ = conn.CloseNow()
		t.Error("a foreign page attached")
	}
}

func TestGuessingIsSlowedDown(t *testing.T) {
	f := start(t, nil)
	now := time.Now()
	f.now = func() time.Time { return now }
	ask := func(token string) int {
		return f.send(t, "GET /healthz HTTP/1.1\nHost: localhost:{port}\nAuthorization: Bearer "+token).StatusCode
	}
	for range limitBurst {
		if code := ask("wrong"); code != http.StatusUnauthorized {
			t.Fatalf("a wrong token: %d", code)
		}
	}
	if code := ask("{token}"); code != http.StatusTooManyRequests {
		t.Errorf("after too many: %d", code)
	}
	now = now.Add(limitRefill)
	if code := ask("{token}"); code != http.StatusOK {
		t.Errorf("after a pause: %d", code)
	}
}

func TestTheLimitForgets(t *testing.T) {
	now := time.Now()
	l := newLimit(func() time.Time { return now })
	for i := range 3 * limitTracked {
		l.note(fmt.Sprint(i))
	}
	if len(l.bad) > limitTracked {
		t.Errorf("%d addresses are remembered", len(l.bad))
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
		strings.Replace(address, "/abc", "/abd", 1), strings.Replace(address, "/w/", "/v/", 1), strings.Replace(address, "until=", "until=1", 1), "/blob/w/abc",
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

func TestAllowedNamesWorkWithAndWithoutTheirPort(t *testing.T) {
	f := start(t, func(o *ListenOptions) { o.AllowHosts = []string{"Carrel.example", "other.example:444"} })
	for host, want := range map[string]int{
		"carrel.example": 200, "carrel.example:{port}": 200, "CARREL.example": 200, "other.example:444": 200,
		"other.example": 403, "carrel.example:1": 403, "x.carrel.example": 403,
	} {
		if res := f.send(t, "GET / HTTP/1.1\nHost: "+host); res.StatusCode != want {
			t.Errorf("%s: %s", host, res.Status)
		}
	}
	res := f.send(t, "GET / HTTP/1.1\nHost: carrel.example\nOrigin: https://carrel.example")
	if res.StatusCode != http.StatusOK {
		t.Errorf("behind a TLS proxy: %s", res.Status)
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

func TestTokensAreChosenInOrder(t *testing.T) {
	for _, c := range []struct {
		none      bool
		flag, env string
		want      Auth
	}{
		{true, "flag", "env", Auth{None: true}},
		{false, "flag", "env", Auth{Token: "flag"}},
		{false, "", "env", Auth{Token: "env"}},
	} {
		if got, err := ResolveAuth(c.none, c.flag, c.env); err != nil || got != c.want {
			t.Errorf("%+v: %+v, %v", c, got, err)
		}
	}
	a, _ := ResolveAuth(false, "", "")
	b, _ := ResolveAuth(false, "", "")
	if !a.Generated || a.Token == b.Token {
		t.Errorf("generated %+v and %+v", a, b)
	}
	if _, err := ResolveAuth(false, "has space", ""); !errors.Is(err, ErrBadToken) {
		t.Errorf("a token with a space: %v", err)
	}
	if (Auth{}).accepts("") {
		t.Error("an empty token was accepted")
	}
}
