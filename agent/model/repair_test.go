package model

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func say(r Role, text string) Message {
	return Message{Role: r, Parts: []Part{{Kind: Text, Text: text}}}
}

func calls(stop Stop, ids ...string) Message {
	m := Message{Role: Assistant, Stop: stop}
	for _, id := range ids {
		m.Parts = append(m.Parts, Part{Kind: ToolCall, CallID: id, Name: "read", Input: `{}`})
	}
	return m
}

func answers(pairs ...string) Message {
	m := Message{Role: ToolRole}
	for i := 0; i < len(pairs); i += 2 {
		m.Parts = append(m.Parts, Part{Kind: ToolResult, CallID: pairs[i], Parts: []Part{{Kind: Text, Text: pairs[i+1]}}})
	}
	return m
}

// outline is a history in short: roles, and what the parts hold, without the word that the beginning is lost.
func outline(history []Message) string {
	var b strings.Builder
	for i, m := range history {
		if i == 0 && m.Parts[0].Text == textLost {
			continue
		}
		fmt.Fprintf(&b, "%s(", m.Role)
		for i, p := range m.Parts {
			if i > 0 {
				b.WriteString(" ")
			}
			switch p.Kind {
			case ToolCall:
				b.WriteString("?" + p.CallID)
			case ToolResult:
				b.WriteString("!" + p.CallID + "=" + p.Parts[0].Text)
			case Text, Reasoning, File, Native:
				b.WriteString(p.Text)
			}
		}
		b.WriteString(") ")
	}
	return strings.TrimSpace(b.String())
}

// O-LLM-01
func TestRepairGivesEachCallOneResultRightAfterIt(t *testing.T) {
	for name, c := range map[string]struct {
		in   []Message
		want string
	}{
		"missing": {[]Message{say(User, "u"), calls(StopTools, "a", "b"), answers("a", "1"), say(User, "go on")},
			"user(u) assistant(?a ?b) tool(!a=1 !b=" + textInterrupted + ") user(go on)"},
		"late": {[]Message{calls(StopTools, "a"), say(User, "u"), answers("a", "1")}, "assistant(?a) tool(!a=1) user(u)"},
		"twice": {[]Message{calls(StopTools, "a"), answers("a", "1", "a", "2"), answers("a", "3")},
			"assistant(?a) tool(!a=1)"},
		"orphan":       {[]Message{say(User, "u"), answers("x", "1"), say(Assistant, "t")}, "user(u) assistant(t)"},
		"before":       {[]Message{answers("a", "0"), calls(StopTools, "a")}, "assistant(?a) tool(!a=" + textInterrupted + ")"},
		"out of order": {[]Message{calls(StopTools, "a", "b"), answers("b", "2", "a", "1")}, "assistant(?a ?b) tool(!a=1 !b=2)"},
		"ids counted anew": {[]Message{calls(StopTools, "c0"), answers("c0", "1"), calls(StopTools, "c0"), answers("c0", "2")},
			"assistant(?c0) tool(!c0=1) assistant(?c0_2) tool(!c0_2=2)"},
		"same id in one response": {[]Message{calls(StopTools, "a", "a"), answers("a", "1", "a", "2")}, "assistant(?a ?a_2) tool(!a=1 !a_2=2)"},
		"not run":                 {[]Message{calls(StopFilter, "a")}, "assistant(?a) tool(!a=" + textNotRun + ")"},
	} {
		if got := outline(Repair(c.in)); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
}

func TestAHistoryBeginsWithThePerson(t *testing.T) {
	strange := Message{Role: "narrator", Parts: []Part{{Kind: Text, Text: "t"}, {Kind: "smell", Text: "x"}, {Kind: Reasoning, Text: "r"}, {Kind: Native, Text: "n"}, {Kind: File, Text: "f"}}}
	for want, in := range map[string][]Message{
		"user " + textLost + ", assistant a": {say(Assistant, "a")},
		"user u, assistant a":                {say(Assistant, " "), say(User, "u"), say(Assistant, "a")},
		"user t f":                           {strange},
		"":                                   {{Role: Assistant, Parts: []Part{{Kind: "smell"}}}},
	} {
		var got []string
		for _, m := range Repair(in) {
			text := string(m.Role)
			for _, p := range m.Parts {
				text += " " + p.Text
			}
			got = append(got, text)
		}
		if s := strings.Join(got, ", "); s != want {
			t.Errorf("got %q, want %q", s, want)
		}
	}
}

// O-LLM-06
func TestRepairDropsOpenCallsUnlessTheModelShouldKnow(t *testing.T) {
	open := func(stop Stop) Message {
		m := calls(stop, "a")
		m.Parts[0].Open, m.Parts[0].Input = true, `{"content":"li`
		m.Parts = append([]Part{{Kind: Text, Text: "t"}}, m.Parts...)
		return m
	}
	for _, stop := range []Stop{"", StopCancelled, StopError} {
		if got := outline(Repair([]Message{open(stop)})); got != "assistant(t)" {
			t.Errorf("%q: %s", stop, got)
		}
	}
	out := Repair([]Message{open(StopLength)})
	if got, want := outline(out), "assistant(t ?a) tool(!a="+textCut+")"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if in := out[1].Parts[1].Input; !json.Valid([]byte(in)) || !strings.Contains(in, "li") {
		t.Errorf("arguments %s", in)
	}
}

// O-LLM-02
func TestRepairDropsReasoningThatCantStand(t *testing.T) {
	r := func(open bool) Part { return Part{Kind: Reasoning, Text: "r", Open: open} }
	for name, c := range map[string]struct {
		parts []Part
		want  string
	}{
		"half":      {[]Part{r(true), {Kind: Text, Text: "t"}}, "assistant(t)"},
		"last":      {[]Part{{Kind: Text, Text: "t"}, r(false)}, "assistant(t)"},
		"alone":     {[]Part{r(false)}, ""},
		"followed":  {[]Part{r(false), {Kind: Text, Text: "t"}}, "assistant(r t)"},
		"then open": {[]Part{r(false), {Kind: ToolCall, CallID: "a", Open: true}}, ""},
		"blank":     {[]Part{r(false), {Kind: Text, Text: " \n"}}, ""},
	} {
		if got := outline(Repair([]Message{{Role: Assistant, Parts: c.parts}})); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func randomHistory(pick func(int) int) []Message {
	stops := []Stop{"", StopEnd, StopTools, StopLength, StopCancelled}
	kinds := []Kind{Text, Reasoning, ToolCall, ToolResult, File, Native}
	var in []Message
	for range pick(7) {
		m := Message{Role: []Role{User, Assistant, ToolRole}[pick(3)], Stop: stops[pick(len(stops))]}
		for range pick(5) {
			m.Parts = append(m.Parts, Part{Kind: kinds[pick(len(kinds))], Text: []string{"", "x"}[pick(2)],
				CallID: []string{"", "a", "b", "a_2"}[pick(4)], Name: "n!", Input: []string{"", "{}", "{", "[]"}[pick(4)], Open: pick(3) == 0})
		}
		in = append(in, m)
	}
	return in
}

func TestRepairIsPureAndStable(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	pick := func(n int) int { return rnd.IntN(n) }
	for range 3000 {
		in := randomHistory(pick)
		before, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		out := Repair(in)
		if after, err := json.Marshal(in); err != nil || string(after) != string(before) {
			t.Fatalf("Repair changed its input: %s", before)
		}
		if d := cmp.Diff(out, Repair(out)); d != "" {
			t.Fatalf("repairing twice differs for %s:\n%s", before, d)
		}
	}
}

// A history that grows is repaired as if it had come at once, wherever it is cut.
func TestRepairerGoesOnWhereItLeftOff(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	pick := func(n int) int { return rnd.IntN(n) }
	late := 0
	for range 800 {
		in := randomHistory(pick)
		cut := pick(len(in) + 1)
		var r Repairer
		first := r.Add(in[:cut])
		if r.Late(in[cut:]) {
			late++
			continue
		}
		beside := r.Clone().Add(in[cut:])
		got := append(first, r.Add(in[cut:])...)
		if d := cmp.Diff(Repair(in), got, cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("cut at %d of %+v:\n%s", cut, in, d)
		}
		if d := cmp.Diff(got[len(first):], beside, cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("the clone differs:\n%s", d)
		}
	}
	if late == 0 || late > 400 {
		t.Errorf("%d of 800 were late", late)
	}
}

func TestASignatureIsDroppedWithWhatItSigned(t *testing.T) {
	for _, c := range []struct {
		name, input string
		kept        bool
	}{{"read", `{"a":1}`, true}, {"read", "", true}, {"re ad", "{}", false}, {"read", "[1]", false}} {
		m := Message{Role: Assistant, Stop: StopTools, Parts: []Part{{Kind: ToolCall, CallID: "c", Name: c.name, Input: c.input, Signature: "s"}}}
		if got := Repair([]Message{say(User, "u"), m})[1].Parts[0].Signature == "s"; got != c.kept {
			t.Errorf("%q %q: kept is %v", c.name, c.input, got)
		}
	}
}

func TestRunnableWantsAWholeResponseThatTheModelEnded(t *testing.T) {
	for stop, want := range map[Stop]int{StopEnd: 1, StopTools: 1, "": 0, StopLength: 0, StopFilter: 0, StopOverflow: 0, StopPause: 0, StopError: 0, StopCancelled: 0} {
		m := calls(stop, "a", "b")
		m.Parts[1].Open = true
		if got := Runnable(&m); len(got) != want {
			t.Errorf("%q: %d calls run, want %d", stop, len(got), want)
		}
	}
	if Runnable(nil) != nil {
		t.Error("nil has calls")
	}
}
