package wire

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"carrel/app"
)

// BenchmarkCall is a call of 1 KB that is answered with 1 KB; compare BenchmarkBareSocket.
func BenchmarkCall(b *testing.B) {
	s := New(Options{API: app.API{Projects: &projects{}}, Verify: func(*http.Request, string) error { return nil }})
	web := httptest.NewServer(s)
	defer web.Close()
	defer func() { _ = s.Close(b.Context()) }()
	conn, _, err := websocket.Dial(b.Context(), web.URL, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = conn.CloseNow() }()
	say := func(text string) {
		if err := conn.Write(b.Context(), websocket.MessageText, []byte(text)); err != nil {
			b.Fatal(err)
		}
		if _, _, err := conn.Read(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	say(`{"hello":{"token":"","role":"browser","version":"1"}}`)
	frame := `{"id":1,"call":"projects.add","args":{"path":"` + strings.Repeat("x", 1024) + `"}}`
	for b.Loop() {
		say(frame)
	}
}

// BenchmarkBareSocket echoes the same bytes without any of our code.
func BenchmarkBareSocket(b *testing.B) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		for {
			kind, data, err := conn.Read(r.Context())
			if err != nil || conn.Write(r.Context(), kind, data) != nil {
				return
			}
		}
	}))
	defer web.Close()
	conn, _, err := websocket.Dial(b.Context(), web.URL, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = conn.CloseNow() }()
	frame := []byte(strings.Repeat("x", 1100))
	for b.Loop() {
		if err := conn.Write(b.Context(), websocket.MessageText, frame); err != nil {
			b.Fatal(err)
		}
		if _, _, err := conn.Read(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPublish is one event to one host's queue, written.
func BenchmarkPublish(b *testing.B) {
	h := newHub("core", nil)
	q := newQueue(maxQueue)
	h.attach(q, &hello{})
	for b.Loop() {
		h.publish(app.ProjectRemoved{ID: "0123456789abcdef"})
		q.pop()
	}
}
