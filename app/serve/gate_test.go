package serve

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"carrel/app"
	"carrel/app/wire"
)

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
		"GET /healthz" + host + "\nAuthorization: Bearer wrong":          http.StatusUnauthorized,
		"GET /healthz" + host + "\nAuthorization: Bearer":                http.StatusUnauthorized,
		"GET /healthz?token={token}&t={token}" + host:                    http.StatusUnauthorized,
		"GET /healthz" + host + "\nCookie: t={token}":                    http.StatusUnauthorized,
		"GET /healthz" + host + "\nAuthorization: Bearer {token}":        http.StatusOK,
		"GET /blob/w/h?sig=x" + host + "\nAuthorization: Bearer {token}": http.StatusForbidden,
		"GET /blob/w/h" + host:                                           http.StatusUnauthorized,
		"POST /healthz" + host + "\nAuthorization: Bearer {token}":       http.StatusMethodNotAllowed,
		"OPTIONS /ws" + host + "\nOrigin: http://localhost:{port}":       http.StatusMethodNotAllowed,
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
