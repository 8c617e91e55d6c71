package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"carrel/agent/model"
)

// plain is a format of texts alone.
type plain struct{ encoded *int }

func (plain) Name() string            { return "plain" }
func (plain) Replays(model.Part) bool { return true }
func (plain) Decoder() Decoder        { return endDecoder{} }

func (plain) Body(r *model.Request) Body {
	return Body{Head: Obj("model", r.Model), List: "list", Group: "parts", Assistant: "model", Mark: `"m":1`, Marks: 1}
}

func (f plain) Items(m model.Message) []any {
	if f.encoded != nil {
		*f.encoded++
	}
	var out []any
	for _, p := range m.Parts {
		out = append(out, Obj("text", p.Text))
	}
	return out
}

type endDecoder struct{}

func (endDecoder) Decode(_ []byte, a *Accumulator) error {
	a.Finish(model.StopEnd)
	return ErrDone
}

func say(r model.Role, text string) model.Message {
	return model.Message{Role: r, Parts: []model.Part{{Kind: model.Text, Text: text}}}
}

func TestGroupsAreJoinedAndMarked(t *testing.T) {
	c := &Client{Format: plain{}}
	for want, list := range map[string][]model.Message{
		`[]`: nil,
		`[{"role":"user","parts":[{"text":"a"},{"text":"b","m":1}]},{"role":"model","parts":[{"text":"c"},{"text":"d"}]}]`: {
			say(model.User, "a"), say(model.User, "b"), say(model.Assistant, "c"), say(model.Assistant, "d")},
		`[{"role":"user","parts":[{"text":"u"}]},{"role":"model","parts":[{"text":"a"}]},{"role":"user","parts":[{"text":"b","m":1}]}]`: {
			say(model.User, "u"), say(model.Assistant, "a"), say(model.User, "b")},
	} {
		if got := string(c.Body(&model.Request{Model: "m", Messages: list})); got != `{"model":"m","list":`+want+`}` {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// A step costs what is new in it: what was written before is not written again.
func TestOnlyNewMessagesAreWritten(t *testing.T) {
	n := 0
	c := &Client{Format: plain{&n}, Cache: NewCache()}
	var list []model.Message
	for i := range 50 {
		list = append(list, say(model.User, fmt.Sprint("u", i)), say(model.Assistant, "a"), say(model.User, "x"))
		n = 0
		c.Body(&model.Request{CacheKey: "k", Messages: list})
		if n != 3 {
			t.Fatalf("step %d: %d messages are written", i, n)
		}
	}
	n = 0
	c.Body(&model.Request{CacheKey: "another", Messages: list})
	c.Body(&model.Request{CacheKey: "k", Model: "b", Messages: list})
	if n != 2*len(list) {
		t.Errorf("conversations are mixed up: %d", n)
	}
}

func TestTheCacheIsBounded(t *testing.T) {
	c := NewCache()
	client := &Client{Format: plain{}, Cache: c}
	text := strings.Repeat("x", 1<<20)
	for i := range 100 {
		client.Body(&model.Request{CacheKey: fmt.Sprint(i), Messages: []model.Message{say(model.User, text)}})
	}
	if c.size > maxHistories || len(c.histories) != len(c.order) || len(c.order) < 25 {
		t.Errorf("%d bytes in %d histories", c.size, len(c.order))
	}
	var huge []model.Message
	for range 20 {
		huge = append(huge, say(model.User, text))
	}
	client.Body(&model.Request{CacheKey: "huge", Messages: huge})
	if c.histories["plain//\x00huge"] != nil {
		t.Error("a huge one is kept")
	}
	for i := range 2 * maxRefused {
		c.refuse(fmt.Sprint(i))
	}
	if len(c.refused) != maxRefused || len(c.refusals) != maxRefused || !c.isRefused(fmt.Sprint(2*maxRefused-1)) {
		t.Errorf("%d refusals", len(c.refused))
	}
}

// One cache serves many goroutines, also of one conversation.
func TestTheCacheIsShared(t *testing.T) {
	cache := NewCache()
	var list []model.Message
	for i := range 40 {
		list = append(list, say(model.User, fmt.Sprint(i)))
	}
	want := (&Client{Format: plain{}}).Body(&model.Request{Messages: list})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			c := &Client{Format: plain{}, Cache: cache}
			for i := range 200 {
				got := c.Body(&model.Request{CacheKey: "k", Messages: list[:i%len(list)+1]})
				if i%len(list) == len(list)-1 && !bytes.Equal(got, want) {
					t.Errorf("got %s", got)
				}
				c.Cache.refuse("x")
			}
		})
	}
	all.Wait()
}

// What was read of a body before the rest is gathered, and where the gathering ends, changes nothing.
func TestPayloadsAreGatheredFromAnywhere(t *testing.T) {
	p := &Payload{}
	p.add([]byte("one"), nil, []byte("two"), bytes.Repeat([]byte("x"), 100_000), []byte("end"))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	for _, before := range []int64{0, 1, 3, 5, 6, 50_000, 100_006} {
		for _, most := range []int64{0, 1, 4, 60_000, p.Size()} {
			out, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			in, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			read := make(chan error, 1)
			r := p.Reader()
			if _, err := io.CopyN(&got, r, before); err != nil {
				t.Fatal(err)
			}
			go func() { _, err := io.Copy(&got, in); read <- err }()
			limited := &io.LimitedReader{R: r, N: min(most, p.Size()-before)}
			want := limited.N
			n, err := gathering{out.(*net.TCPConn)}.ReadFrom(limited)
			_ = out.Close()
			if readErr := <-read; err != nil || readErr != nil || n != want || limited.N != 0 {
				t.Fatalf("%d of %d bytes, %v, %v", n, want, err, readErr)
			}
			_ = in.Close()
			rest, err := io.ReadAll(r)
			if got.Write(rest); err != nil || !bytes.Equal(got.Bytes(), p.Bytes()) {
				t.Errorf("after %d, at most %d: it differs, %v", before, most, err)
			}
		}
	}
}

func TestPayloadsReadAlikeInAnyPieces(t *testing.T) {
	p := &Payload{}
	p.add([]byte("one"), nil, []byte("two"), bytes.Repeat([]byte("x"), 5000), []byte("end"))
	want := p.Bytes()
	if int64(len(want)) != p.Size() {
		t.Errorf("size %d, %d bytes", p.Size(), len(want))
	}
	if err := iotest.TestReader(p.Reader(), want); err != nil {
		t.Error(err)
	}
	var b bytes.Buffer
	if n, err := io.Copy(&b, p.Reader()); err != nil || n != p.Size() || !bytes.Equal(b.Bytes(), want) {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// hooks are what formats with addresses, headers, signatures and frames of their own use.
func TestEndpointHeadersAndSignatureAreTheClients(t *testing.T) {
	var got *http.Request
	var sent []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, _ = io.ReadAll(r.Body) // compared below
		got = r
		_, _ = io.WriteString(w, "data: {}\n\n") // the client may be gone
	}))
	defer server.Close()
	var signed []byte
	c := &Client{Format: plain{}, Header: http.Header{"X-A": {"1"}},
		Endpoint: func(r *model.Request) string { return server.URL + "/" + r.Model },
		Headers:  func(*model.Request) http.Header { return http.Header{"X-A": {"2"}} },
		Sign: func(_ context.Context, req *http.Request, body *Payload) error {
			signed = body.Bytes()
			req.Header.Set("Authorization", "signed "+req.Header.Get("X-A"))
			return nil
		}}
	r := &model.Request{Model: "m", Messages: []model.Message{say(model.User, "hi")}}
	if _, err := c.Stream(t.Context(), r, nil); err != nil {
		t.Fatal(err)
	}
	if got.URL.Path != "/m" || got.Header.Get("Authorization") != "signed 2" || !bytes.Equal(sent, signed) || got.ContentLength != int64(len(sent)) {
		t.Errorf("%s %v: sent %s, signed %s", got.URL, got.Header, sent, signed)
	}
	c.Sign = func(context.Context, *http.Request, *Payload) error { return errors.New("no credentials") }
	_, err := c.Stream(t.Context(), r, nil)
	var e *model.Error
	if !errors.As(err, &e) || e.Kind != model.ErrAuth || e.Message != "no credentials" {
		t.Errorf("%+v", e)
	}
}

func TestAzureAddresses(t *testing.T) {
	for _, c := range []struct {
		z          Azure
		path, want string
	}{
		{Azure{Endpoint: "https://r.openai.azure.com"}, "/responses", "https://r.openai.azure.com/openai/v1/responses"},
		{Azure{Endpoint: "https://r.openai.azure.com/", APIVersion: "v1"}, "/chat/completions", "https://r.openai.azure.com/openai/v1/chat/completions"},
		{Azure{Endpoint: "https://r.openai.azure.com/openai/v1/", APIVersion: "preview"}, "/responses", "https://r.openai.azure.com/openai/v1/responses?api-version=preview"},
		{Azure{Endpoint: "https://r.openai.azure.com", APIVersion: "2024-10-21"}, "/chat/completions", "https://r.openai.azure.com/openai/deployments/d/chat/completions?api-version=2024-10-21"},
		{Azure{Endpoint: "https://r.openai.azure.com/openai", APIVersion: "2025-03-01-preview"}, "/responses", "https://r.openai.azure.com/openai/responses?api-version=2025-03-01-preview"},
		{Azure{Endpoint: "https://r.openai.azure.com/openai/deployments/other", APIVersion: "2024-10-21"}, "/chat/completions", "https://r.openai.azure.com/openai/deployments/other/chat/completions?api-version=2024-10-21"},
		{Azure{Endpoint: "https://gw.example/azure", APIVersion: "a&b"}, "/responses", "https://gw.example/azure/openai/responses?api-version=a%26b"},
	} {
		if got, err := c.z.URL(c.path, "d"); err != nil || got != c.want {
			t.Errorf("%+v: %s, %v", c.z, got, err)
		}
	}
	for _, z := range []Azure{{Endpoint: "r.openai.azure.com"}, {Endpoint: "https://h/openaiX"}, {Endpoint: "https://h?api-version=1"}} {
		if got, err := z.URL("/responses", "d"); err == nil {
			t.Errorf("%+v: %s", z, got)
		}
	}
}

// O-MCP-06
func TestSchemasAreMendedOnlyWhereTheyAreRefused(t *testing.T) {
	for in, want := range map[string]string{
		`{"type":"object", "properties":{"a":{"type":"array","items":{}}}}`:                                                                  `{"type":"object", "properties":{"a":{"type":"array","items":{}}}}`,
		`{"type":"object","anyOf":[{"properties":{"a":{}},"required":["a","b"]},{"properties":{"b":{}},"required":["b"]}],"required":["c"]}`: `{"properties":{"a":{},"b":{}},"required":["b","c"],"type":"object"}`,
		`{"allOf":[{"properties":{"a":{}},"required":["a"]},{"properties":{"b":{}},"required":["b"]}]}`:                                      `{"properties":{"a":{},"b":{}},"required":["a","b"],"type":"object"}`,
		`{"type":"object","properties":{"a":{"type":"array"},"b":{"type":"string","properties":{}},"type":{"type":"array"}}}`:                `{"properties":{"a":{"items":{},"type":"array"},"b":{"type":"string"},"type":{"items":{},"type":"array"}},"type":"object"}`,
		`[]`: `{"type":"object","properties":{}}`,
		`{"type":["object","null"],"properties":{"a":{}}}`: `{"properties":{"a":{}},"type":"object"}`,
	} {
		if got := string(Schema(model.Tool{Schema: json.RawMessage(in)})); got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
}

func FuzzSchema(f *testing.F) {
	f.Add([]byte(`{"anyOf":[{"properties":{"a":{"type":"array"}},"required":["a"]}],"properties":1}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		out := Schema(model.Tool{Schema: in})
		var top map[string]any
		if json.Unmarshal(out, &top) != nil || top["type"] != "object" {
			t.Errorf("%q becomes %s", in, out)
		}
		if again := Schema(model.Tool{Schema: out}); string(again) != string(out) {
			t.Errorf("%s becomes %s", out, again)
		}
	})
}

func TestErrorsTellTheCodeAndTheToolThatIsMeant(t *testing.T) {
	e := classify(400, []byte(`{"error":{"message":"Invalid schema.","type":"invalid_request_error","param":"tools[3].function.parameters","code":"invalid_function_parameters"}}`), 0)
	if e.Message != "Invalid schema. (tools[3].function.parameters)" || e.Code != "invalid_function_parameters" {
		t.Errorf("%+v", e)
	}
	for _, c := range []struct {
		e    model.Error
		want string
	}{
		{model.Error{Kind: model.ErrAuth, Status: 401}, "key"},
		{model.Error{Kind: model.ErrAuth, Status: 403}, "permissions"},
		{model.Error{Kind: model.ErrQuota}, "credit"},
		{model.Error{Kind: model.ErrNotFound}, "base URL"},
		{model.Error{Kind: model.ErrServer}, ""},
		{model.Error{Kind: model.ErrNetwork, Cause: io.EOF}, "network"},
	} {
		if got := hint(&c.e); !strings.Contains(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("%+v: %q", c.e, got)
		}
	}
}
