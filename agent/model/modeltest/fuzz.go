package modeltest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"carrel/agent/model"
	"carrel/agent/model/fakewire"
	"carrel/agent/model/wire"
)

// Fuzz feeds a client with any bytes as the stream of a response. Whatever comes: no panic, a
// message that survives JSON, an *model.Error or none, no call to run after an error, and a history
// that the next request can hold.
func Fuzz(f *testing.F, c *wire.Client) {
	for _, r := range []fakewire.Reply{
		full,
		{Text: "cut", Calls: []fakewire.Call{{Name: "read", Input: `{"path":"a`}}, Stop: model.StopLength},
		{Text: "x", ErrorType: "overloaded_error", ErrorMessage: "Overloaded"},
		searched,
		{Search: &fakewire.Search{Query: "q", Alone: true}, Tier: "fast", Stop: model.StopPause},
	} {
		f.Add(record(f, c, r))
	}
	f.Add([]byte("data: {}\n\ndata: [DONE]\n\n"))
	f.Add([]byte(": ping\n\ndata: {\"type\":\"ping\"}\n\ndata: null"))
	f.Fuzz(func(t *testing.T, stream []byte) { feed(t, *c, stream) })
}

func feed(t *testing.T, c wire.Client, stream []byte) {
	c.Cache = nil
	c.HTTP = &http.Client{Transport: transport(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(stream))}, nil
	})}
	m, err := c.Stream(t.Context(), ask(user("hi")), func(e model.Event) {
		if e.Type != model.UsageUpdate && (e.Index < 0 || e.Index >= len(e.Message.Parts)) {
			t.Errorf("event of part %d of %d", e.Index, len(e.Message.Parts))
		}
	})
	var e *model.Error
	if m == nil || err != nil && !errors.As(err, &e) {
		t.Fatalf("%+v, %v", m, err)
	}
	if m.Stop == "" || err != nil && model.Runnable(m) != nil {
		t.Errorf("stop %q, runnable %+v, %v", m.Stop, model.Runnable(m), err)
	}
	if d := cmp.Diff(m, clone(t, m)); d != "" {
		t.Errorf("JSON changes it:\n%s", d)
	}
	req := ask(user("hi"), *m, user("go on"))
	req.CacheKey = ""
	if body := c.Body(req); !json.Valid(body) || !utf8.Valid(body) {
		t.Errorf("next request is no strict JSON: %q", body)
	}
	for i := range m.Parts { // the seal that the fake server checks can't be right
		m.Parts[i].Origin = "elsewhere"
	}
	body := c.Body(req)
	address := c.URL
	if c.Endpoint != nil {
		address = c.Endpoint(req)
	}
	if err := fakewire.Check(address, body); err != nil {
		t.Errorf("next request: %v\n%s", err, body)
	}
}

// record gives the stream of a reply.
func record(f *testing.F, c *wire.Client, r fakewire.Reply) []byte {
	f.Helper()
	server := fakewire.New(f, fakewire.Steps(r))
	var stream []byte
	recorder := *c
	recorder.HTTP = &http.Client{Transport: transport(func(req *http.Request) (*http.Response, error) {
		req.URL.Host = server.URL[len("http://"):]
		req.URL.Scheme = "http"
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			return nil, err
		}
		stream, err = io.ReadAll(resp.Body)
		_ = resp.Body.Close() // read to its end
		resp.Body = io.NopCloser(bytes.NewReader(stream))
		return resp, err
	})}
	if m, err := recorder.Stream(f.Context(), ask(user("hi")), nil); m == nil || len(stream) == 0 {
		f.Fatal(err)
	}
	return stream
}

type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }
