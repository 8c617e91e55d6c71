package cli_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"carrel/agent/model"
	"carrel/agent/model/fakewire"
)

type serversKey struct{}

// servers holds the model server of a script.
type servers struct{ model *fakewire.Server }

// step is one reply of a scripted model, as scripts write it.
type step struct {
	Text         string        `json:"text"`
	Repeat       int           `json:"repeat"` // times that Text is said
	Reasoning    string        `json:"reasoning"`
	Calls        []call        `json:"calls"`
	Stop         string        `json:"stop"`
	Status       int           `json:"status"`
	ErrorType    string        `json:"errorType"`
	ErrorMessage string        `json:"errorMessage"`
	RetryAfter   string        `json:"retryAfter"`
	Hang         fakewire.Hang `json:"hang"`
	Cut          int           `json:"cutAfterEvents"`
	DelayMS      int           `json:"delayMs"`
	Chunk        int           `json:"chunk"`
}

type call struct {
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

func (s step) reply() fakewire.Reply {
	r := fakewire.Reply{Text: strings.Repeat(s.Text, max(s.Repeat, 1)), Reasoning: s.Reasoning, Stop: model.Stop(s.Stop),
		Status: s.Status, ErrorType: s.ErrorType, ErrorMessage: s.ErrorMessage, RetryAfter: s.RetryAfter,
		Hang: s.Hang, CutAfterEvents: s.Cut, Delay: time.Duration(s.DelayMS) * time.Millisecond, Chunk: s.Chunk}
	for _, c := range s.Calls {
		r.Calls = append(r.Calls, fakewire.Call{Name: c.Name, Input: string(c.Input)})
	}
	return r
}

// fakeModel starts a model server: fakemodel FORMAT FILE, where FORMAT is anthropic, responses or
// chat and FILE holds a JSON list of steps. $WORK in it is the script's folder. What a second FILE holds
// comes first, one for each request, whatever it asks.
func fakeModel(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: fakemodel FORMAT FILE [FIRST]")
	}
	script := fakewire.Steps(replies(ts, args[1])...)
	if len(args) == 3 {
		script = fakewire.Once(script, replies(ts, args[2])...)
	}
	server, err := fakewire.Start("127.0.0.1:0", script)
	ts.Check(err)
	ts.Defer(func() { _ = server.Close() })
	ts.Value(serversKey{}).(*servers).model = server
	switch args[0] {
	case "anthropic":
		ts.Setenv("ANTHROPIC_API_KEY", "key")
		ts.Setenv("ANTHROPIC_BASE_URL", server.URL)
	case "responses", "chat":
		ts.Setenv("OPENAI_API_KEY", "key")
		ts.Setenv("OPENAI_BASE_URL", server.URL)
	default:
		ts.Fatalf("unknown format %q", args[0])
	}
	if args[0] == "chat" {
		root := ts.Getenv("CARREL_ROOT")
		ts.Check(os.MkdirAll(root, 0o700))
		ts.Check(os.WriteFile(filepath.Join(root, "providers.jsonc"), []byte(`{"openai":{"wireFormat":"chatCompletions"}}`), 0o600))
	}
}

// replies reads a JSON list of steps.
func replies(ts *testscript.TestScript, file string) []fakewire.Reply {
	var steps []step
	text := strings.ReplaceAll(ts.ReadFile(filepath.Join(ts.Getenv("WORK"), file)), "$WORK", ts.Getenv("WORK"))
	ts.Check(json.Unmarshal([]byte(text), &steps))
	var out []fakewire.Reply
	for _, s := range steps {
		out = append(out, s.reply())
	}
	return out
}

// sawRequest waits until the model was asked N times: request N; more arguments are texts that the
// last request holds, or, negated, does not.
func sawRequest(ts *testscript.TestScript, neg bool, args []string) {
	server := ts.Value(serversKey{}).(*servers).model
	if len(args) < 1 || server == nil {
		ts.Fatalf("usage, after fakemodel: request N [TEXT...]")
	}
	var n int
	_, err := fmt.Sscan(args[0], &n)
	ts.Check(err)
	eventually(ts, "request "+args[0], func() bool { return len(server.Requests()) >= n })
	if got := len(server.Requests()); got != n {
		ts.Fatalf("%d requests, want %d", got, n)
	}
	raw := string(server.Last().Raw)
	for _, text := range args[1:] {
		if strings.Contains(raw, text) == neg {
			ts.Fatalf("the request: %q is there: %v\n%s", text, neg, raw)
		}
	}
}

// await waits until a file holds something: await FILE, or TEXT: await FILE TEXT.
func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: await FILE [TEXT]")
	}
	path := ts.MkAbs(args[0])
	eventually(ts, path, func() bool {
		text, err := os.ReadFile(path)
		return err == nil && len(text) > 0 && (len(args) == 1 || strings.Contains(string(text), args[1]))
	})
}

// failer is a test or a script.
type failer interface {
	Fatalf(format string, args ...any)
}

// eventually waits for what tells nobody.
func eventually(t failer, what string, ok func() bool) {
	for deadline := time.Now().Add(60 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s did not happen", what)
		}
	}
}

// alive reports whether a process whose id a file holds runs: alive FILE, or ! alive FILE, which
// waits for its end.
func alive(ts *testscript.TestScript, neg bool, args []string) {
	pid := strings.TrimSpace(ts.ReadFile(args[0]))
	running := func() bool { return processRuns(pid) }
	if neg {
		eventually(ts, "the end of process "+pid, func() bool { return !running() })
	} else if !running() {
		ts.Fatalf("process %s does not run", pid)
	}
}

func processRuns(pid string) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if errors.Is(err, fs.ErrNotExist) || err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}
