package wire

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"carrel/agent/model"
)

func collect(stream string) (got []string, alive int, err error) {
	err = Events(bufio.NewReaderSize(strings.NewReader(stream), 16), func(b []byte) error {
		got = append(got, string(b))
		return nil
	}, func() { alive++ })
	return got, alive, err
}

func TestEventsAreReadInEveryForm(t *testing.T) {
	for in, want := range map[string]string{
		"data: a\n\ndata:b\r\n\r\n":                  "a|b",
		"event: x\nid: 1\ndata: a\ndata: b\n\n":      "a\nb",
		"\ufeffdata: a\n\n":                          "a",
		"data: last without an empty line":           "last without an empty line",
		": comment\n\n\n\n":                          "",
		"data: \xff\n\n":                             "\ufffd",
		"nonsense\n\n":                               "",
		"data: " + strings.Repeat("x", 100) + "\n\n": strings.Repeat("x", 100),
	} {
		got, _, err := collect(in)
		if err != nil || strings.Join(got, "|") != want {
			t.Errorf("%q gives %q, %v", in, got, err)
		}
	}
	if _, alive, _ := collect(": a\n: b\n\n"); alive != 2 {
		t.Errorf("%d comments", alive)
	}
}

func TestLongLinesEndTheStream(t *testing.T) {
	for _, in := range []string{"data: " + strings.Repeat("x", MaxLine+1), strings.Repeat("data: "+strings.Repeat("x", 1<<20)+"\n", 9)} {
		if _, _, err := collect(in); !errors.Is(err, errTooLong) {
			t.Errorf("error is %v", err)
		}
	}
}

func TestHugeResponsesAreRefused(t *testing.T) {
	a := NewAccumulator("o", nil)
	chunk := strings.Repeat("x", 1<<20)
	for range 33 {
		a.Add("k", model.Text, chunk)
	}
	if a.size <= MaxMessage {
		t.Errorf("size is %d", a.size)
	}
}

// O-LLM-04
func TestCleanJSON(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":"\ud83d\ude00"}`: `{"a":"\ud83d\ude00"}`,
		`"\ud83d"`:             `"\ufffd"`,
		`"\ude00\ud83d"`:       `"\ufffd\ufffd"`,
		`"\ud83d\ud83d\ude00"`: `"\ufffd\ud83d\ude00"`,
		`"\\ud83d"`:            `"\\ud83d"`,
		`"\\\ud83d"`:           `"\\\ufffd"`,
		`"\uD83Dx\u00e4"`:      `"\ufffdx\u00e4"`,
		"\"\xf0\x9f\x98\"":     "\"\ufffd\"",
		`"\u12"`:               `"\u12"`,
	} {
		if got := string(CleanJSON([]byte(in))); got != want {
			t.Errorf("%s becomes %s, want %s", in, got, want)
		}
	}
}

func FuzzCleanJSON(f *testing.F) {
	f.Add([]byte(`{"a":"\ud83d","b":["\\\ude00"]}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		out := CleanJSON(in)
		if !utf8.Valid(out) || json.Valid(in) && !json.Valid(out) {
			t.Errorf("%q becomes %q", in, out)
		}
		if again := CleanJSON(out); string(again) != string(out) {
			t.Errorf("%q is not clean: %q", out, again)
		}
	})
}

func FuzzEncodeString(f *testing.F) {
	f.Add("a\"\\\n\x00\xff😀\u2028")
	f.Fuzz(func(t *testing.T, in string) {
		var out string
		b := Encode(in)
		if err := json.Unmarshal(b, &out); err != nil || out != strings.ToValidUTF8(in, "\ufffd") && utf8.ValidString(in) {
			t.Errorf("%q becomes %s: %v", in, b, err)
		}
	})
}

func FuzzEvents(f *testing.F) {
	f.Add("data: a\n\n: c\r\ndata:b\n")
	f.Fuzz(func(t *testing.T, in string) {
		_, _, err := collect(in)
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Error(err)
		}
	})
}

func TestEncodeKeepsOrderAndRawBytes(t *testing.T) {
	got := string(Encode(Obj("z", 1, "a", []any{"x<&>", true, Raw(`{ "b":1.0 }`)}, "i", Bytes{"data:", []byte("img")}).With("end", []Object{Obj()})))
	if want := `{"z":1,"a":["x<&>",true,{ "b":1.0 }],"i":"data:aW1n","end":[{}]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestBases(t *testing.T) {
	for in, want := range map[string][2]string{
		"http://localhost:8080":             {"http://localhost:8080/v1", "http://localhost:8080/v1"},
		"http://localhost:8080/":            {"http://localhost:8080", "http://localhost:8080/v1"},
		"https://gateway.example/anthropic": {"https://gateway.example/anthropic", "https://gateway.example/anthropic/v1"},
		"https://h/v1/":                     {"https://h/v1", "https://h/v1"},
	} {
		openAI, err1 := OpenAIBase(in)
		anthropic, err2 := AnthropicBase(in)
		if err1 != nil || err2 != nil || openAI != want[0] || anthropic != want[1] {
			t.Errorf("%s gives %s and %s, %v, %v", in, openAI, anthropic, err1, err2)
		}
	}
	for _, in := range []string{"", "localhost:1", "ftp://h", "http://", "https://h/v1?k=1", "https://h#f", "https://user:secret@h", "http://a b"} {
		for _, base := range []func(string) (string, error){OpenAIBase, AnthropicBase} {
			if got, err := base(in); err == nil || strings.Contains(err.Error(), "secret") {
				t.Errorf("%q gives %q, %v", in, got, err)
			}
		}
	}
}

func TestLoopbackIsNeverProxied(t *testing.T) {
	for host, want := range map[string]bool{"localhost": true, "LOCALHOST.": true, "a.localhost": true, "127.0.0.1": true, "127.9.9.9": true,
		"::1": true, "::ffff:127.0.0.1": true, "10.0.0.1": false, "localhost.example": false} {
		if got := loopback(host); got != want {
			t.Errorf("%s: %v", host, got)
		}
	}
	req, err := http.NewRequest(http.MethodGet, "http://localhost:1/", nil)
	if err != nil {
		t.Fatal(err)
	}
	if u, err := proxy(req); u != nil || err != nil {
		t.Errorf("proxied to %v, %v", u, err)
	}
}

func TestErrorBodiesOfEveryForm(t *testing.T) {
	for body, want := range map[string]string{
		`{"error":{"message":"m","code":400}}`:  "m",
		`{"error":"model not found"}`:           "model not found",
		`{"message":"m"}`:                       "m",
		`{"detail":"d"}`:                        "d",
		`{"detail":[{"msg":"field required"}]}`: `[{"msg":"field required"}]`,
		`[{"error":{"message":"in a list"}}]`:   "in a list",
		`plain text`:                            "plain text",
		`<html>nginx</html>`:                    "Bad Request",
		``:                                      "Bad Request",
		"\xff":                                  "\ufffd",
		`{"error":{"message":"m","code":"c","type":"overloaded_error"}}`: "m",
	} {
		if e := classify(400, []byte(body), 0); e.Message != want {
			t.Errorf("%s gives %q", body, e.Message)
		}
	}
	if e := classify(400, []byte(`{"error":{"message":"m","code":"c","type":"overloaded_error"}}`), 0); e.Kind != model.ErrOverloaded {
		t.Errorf("the type is not looked at: %s", e.Kind)
	}
}

func TestACertificateThatNobodyVouchesForIsNotTriedAgain(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	c := &Client{Format: plain{}, URL: s.URL}
	_, err := c.Stream(t.Context(), &model.Request{}, nil)
	var e *model.Error
	if !errors.As(err, &e) || e.Kind != model.ErrNetwork || e.Retryable() || !strings.Contains(e.Message, "authority") || !strings.Contains(e.Hint, "SSL_CERT_FILE") {
		t.Errorf("%+v", err)
	}
	open := httptest.NewServer(http.NotFoundHandler())
	defer open.Close()
	c.URL = strings.Replace(open.URL, "http:", "https:", 1)
	if _, err = c.Stream(t.Context(), &model.Request{}, nil); !errors.As(err, &e) || e.Retryable() || !strings.Contains(e.Message, "does not speak https") {
		t.Errorf("%+v", err)
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	if err := NewHTTP().CheckRedirect(nil, nil); !errors.Is(err, http.ErrUseLastResponse) {
		t.Errorf("error is %v", err)
	}
}

func TestCallIDsStayDifferent(t *testing.T) {
	long := strings.Repeat("x", 80)
	seen := map[string]bool{}
	for _, id := range []string{"a", "a.b", "a:b", "a_b", long, long + "y", "", "ü"} {
		got := CallID(id)
		if seen[got] || len(got) > 64 || got == "" {
			t.Errorf("%q gives %q", id, got)
		}
		seen[got] = true
	}
}

func TestClipKeepsCharactersWhole(t *testing.T) {
	for n := range 20 {
		if got := clip(strings.Repeat("a😀", 10), n); !utf8.ValidString(got) || len(got) > n+len("…") {
			t.Errorf("%d: %q", n, got)
		}
	}
}

func TestAStatusInTheStreamSortsAnError(t *testing.T) {
	for code, want := range map[string]model.ErrorKind{
		"401": model.ErrAuth, "403": model.ErrAuth, "404": model.ErrNotFound, "402": model.ErrQuota, "429": model.ErrRateLimit,
		"500": model.ErrServer, "529": model.ErrOverloaded, "400": model.ErrBadRequest, "200": model.ErrBadRequest, "7": model.ErrBadRequest,
	} {
		if e := InStream("no", code); e.Kind != want || e.Code != code {
			t.Errorf("%s: %+v", code, e)
		}
	}
	if e := InStream("prompt is too long", "400"); e.Kind != model.ErrOverflow {
		t.Errorf("%+v", e)
	}
}
