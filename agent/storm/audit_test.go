package storm_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"carrel/agent/model"
	"carrel/agent/transcript"
	"carrel/agent/turn"
)

// line is a record as the audit reads it, from the file and with nothing of the package that wrote it.
type line struct {
	Seq       uint64
	Kind      string
	Turn      string
	Step      int
	StepSeq   uint64
	MessageID string
	CallID    string
	From      uint64
	Border    string
	Message   *struct {
		Parts []struct {
			Kind, Text, CallID, Input string
			Open                      bool
		}
	}
	Result *struct {
		CallID string
		Parts  []struct{ Text string }
	}
}

// audit looks into one log when all is over.
type audit struct {
	t    *testing.T
	name string
	all  []line
	kept []line // without what an edit left
}

func readAudit(t *testing.T, dir, name string) *audit {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, "transcript.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	a := &audit{t: t, name: name}
	for i, text := range bytes.Split(bytes.TrimSuffix(raw, []byte("\n")), []byte("\n")) {
		var l line
		if err := json.Unmarshal(text, &l); err != nil {
			t.Errorf("%s: line %d: %v: %.200s", name, i+1, err, text)
			continue
		}
		if l.Seq != uint64(i+1) {
			t.Errorf("%s: line %d has the seq %d", name, i+1, l.Seq)
		}
		if l.From > 0 && (l.Kind == "edit" || l.Kind == "user") {
			a.kept = slices.DeleteFunc(a.kept, func(k line) bool { return k.Seq >= l.From })
		}
		a.all, a.kept = append(a.all, l), append(a.kept, l)
	}
	return a
}

// order holds that turns follow one another, each with its beginning and its end.
func (a *audit) order() {
	open, last := "", ""
	waits := "" // a message whose turn has not begun
	for _, l := range a.kept {
		bad := ""
		switch l.Kind {
		case "user":
			if l.Turn != open {
				if open != "" {
					bad = "a message of another turn in an open one"
				}
				waits = l.Turn
			}
		case "turn_start":
			if open != "" || l.Turn != waits {
				bad = fmt.Sprintf("it begins while %q is open and %q waits", open, waits)
			}
			open, waits = l.Turn, ""
		case "turn_end":
			if l.Turn != open && (open != "" || l.Turn != last) {
				bad = fmt.Sprintf("it ends while %q is open", open)
			}
			open, last = "", l.Turn
		case "boundary":
			waits = ""
		case "edit":
			if open == "" && l.Turn == last { // the end of the turn was left, so that it goes on
				open = l.Turn
			}
		default:
			if l.Turn != open && l.Kind != "note" && l.Kind != "todos" {
				bad = fmt.Sprintf("it is of no open turn; %q is", open)
			}
		}
		if bad != "" {
			a.t.Errorf("%s: record %d, %s of turn %q: %s", a.name, l.Seq, l.Kind, l.Turn, bad)
			return
		}
	}
	if open != "" {
		a.t.Errorf("%s: turn %q is open at the end", a.name, open)
	}
}

// calls holds that each call has one result, and that what ran and what the result says agree with
// the effects.
func (a *audit) calls(effects map[string]int) {
	type key struct {
		step uint64
		id   string
	}
	nonces, results := map[key]string{}, map[key]int{}
	for _, l := range a.kept {
		switch l.Kind {
		case "assistant":
			for _, p := range l.Message.Parts {
				if p.Kind == "tool_call" && !p.Open {
					var in struct{ N string }
					_ = json.Unmarshal([]byte(p.Input), &in) // some are no JSON
					nonces[key{l.StepSeq, p.CallID}] = in.N
				}
			}
		case "tool_end":
			k := key{l.StepSeq, l.CallID}
			results[k]++
			text := ""
			for _, p := range l.Result.Parts {
				text += p.Text
			}
			n := nonces[k]
			if ran := effects[n]; n != "" && (strings.HasPrefix(text, transcript.NotStarted) || strings.HasPrefix(text, "not run")) && ran > 0 {
				a.t.Errorf("%s: record %d says that %q did not run, but it did", a.name, l.Seq, n)
			}
		}
	}
	for k := range nonces {
		if results[k] != 1 {
			a.t.Errorf("%s: call %q of step %d has %d results", a.name, k.id, k.step, results[k])
		}
	}
	for n, ran := range effects {
		if ran != 1 {
			a.t.Errorf("%s: call %s ran %d times", a.name, n, ran)
		}
	}
}

// messages holds that each message is in the log once; one that may have been taken out of the queue,
// at most once.
func (a *audit) messages(sent map[string]bool) {
	found := map[string]int{}
	for _, l := range a.all {
		if l.Kind == "user" {
			found[l.MessageID]++
			text := ""
			for _, p := range l.Message.Parts {
				text += p.Text
			}
			if names := letters([]string{text}); !slices.Equal(names, []string{l.MessageID}) {
				a.t.Errorf("%s: message %s says %q", a.name, l.MessageID, text)
			}
		}
	}
	for id, n := range found {
		if _, ok := sent[id]; !ok || n != 1 {
			a.t.Errorf("%s: message %q is in the log %d times, sent: %v", a.name, id, n, ok)
		}
	}
	for id, removed := range sent {
		if !removed && found[id] == 0 {
			a.t.Errorf("%s: message %s is lost", a.name, id)
		}
	}
}

// history gives the names of the messages that a model is to get.
func (a *audit) history() (names []string) {
	for _, l := range a.kept {
		switch {
		case l.Kind == "boundary" && l.Border != "fork":
			names = nil
		case l.Kind == "user":
			names = append(names, l.MessageID)
		}
	}
	return names
}

var nonce = regexp.MustCompile(`^n[0-9a-f]+$`)

// effectsOf counts the runs of calls that change something.
func effectsOf(t *testing.T, path string) map[string]int {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	out := map[string]int{}
	for _, n := range strings.Fields(string(raw)) {
		if nonce.MatchString(n) { // what a fault made of one may come again
			out[n]++
		}
	}
	return out
}

// inspect judges what a storm left of one conversation.
func inspect(t *testing.T, p *person, h heard) {
	t.Helper()
	dir := filepath.Join(p.c.dir, p.w)
	log, err := transcript.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	if st := log.State(); st.Turn != "" || st.Unanswered != "" || len(st.Calls) != 0 || st.Damaged != 0 || st.Torn != "" {
		t.Errorf("%s: the log is not whole: %+v", p.w, st)
	}
	a := readAudit(t, dir, p.w)
	a.order()
	a.calls(effectsOf(t, dir+".effects"))
	a.messages(p.sent)
	if want := a.history(); !slices.Equal(want, h.texts) {
		t.Errorf("%s: the last request has the messages\n%q, the log\n%q", p.w, h.texts, want)
	}
	replayed(t, p, log, h.bodies)
}

// replayed holds that the log tells every request, byte by byte: what the server heard is what steps of
// the log had to say. A step whose core was killed may not have been heard, and one that was interrupted
// may have been heard late.
func replayed(t *testing.T, p *person, log *transcript.Log, bodies []string) {
	t.Helper()
	clients, err := newClients("http://localhost")
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]int{}
	if err := turn.Replay(log, func(_ uint64, r *model.Request) error {
		told[string(clients.of(r.Model).Body(r))]++
		return nil
	}); err != nil {
		t.Error(err)
	}
	for i, path := range bodies {
		body, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if told[string(body)]--; told[string(body)] < 0 {
			mine, its := nearest(told, body)
			t.Errorf("%s: request %d of %d is not what the log tells:\n%s\nthe log\n%s", p.w, i+1, len(bodies), mine, its)
			return
		}
	}
}

// nearest gives the place where a request begins to differ from the one that is most like it.
func nearest(told map[string]int, body []byte) (mine, its string) {
	most := -1
	for other := range told {
		n := 0
		for n < min(len(body), len(other)) && body[n] == other[n] {
			n++
		}
		if n > most && other != string(body) {
			most = n
			mine, its = string(body[max(0, n-200):min(len(body), n+300)]), other[max(0, n-200):min(len(other), n+300)]
		}
	}
	return mine, its
}

// names gives the keys in their order, for people.
func names(m map[string]int) (out []string) {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, fmt.Sprintf("%s %d", k, m[k]))
	}
	return out
}
