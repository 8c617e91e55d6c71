package serve

import (
	"net/http"
	"testing"
)

func TestABrowserComesBackFromCoder(t *testing.T) {
	f := start(t, nil)
	got := ""
	f.server.o.Coder = func(state, code, refused string) bool {
		got = state + " " + code + " " + refused
		return state == "s"
	}
	// The listener made its routes before: a second one has this one.
	l, err := f.server.Listen(t.Context(), ListenOptions{Auth: Auth{Token: NewToken(), Generated: true}})
	if err != nil {
		t.Fatal(err)
	}
	second := &fixture{Listener: l, server: f.server, socket: f.socket, log: f.log}
	ask := func(query, more string) int {
		resp := second.send(t, "GET /auth/coder/callback?"+query+" HTTP/1.1\nHost: 127.0.0.1:{port}"+more)
		return resp.StatusCode
	}
	cross := "\nSec-Fetch-Site: cross-site\nSec-Fetch-Mode: navigate\nSec-Fetch-Dest: document"
	if status := ask("state=s&code=c", cross); status != http.StatusOK || got != "s c " {
		t.Errorf("%d, %q", status, got)
	}
	if status := ask("state=x&error=denied", ""); status != http.StatusNotFound || got != "x  denied" {
		t.Errorf("%d, %q", status, got)
	}
}
