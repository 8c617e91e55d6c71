package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
)

// The texts of results that Repair makes up.
const (
	textInterrupted = "[interrupted: this call was cut off before it gave a result, its side effects are unknown]"
	textCut         = "[not run: the output limit cut this call off; repeat it in smaller pieces]"
	textNotRun      = "[not run: the response ended before this call was complete]"
	textLost        = "[what was said before this is lost]"
)

// Repair makes any history legal on the wire, also one that a crash or an interrupt cut anywhere:
//
//   - every call is followed at once by exactly one result: results are moved to their call,
//     duplicates and results without a call are dropped, missing ones say that the call was
//     interrupted;
//   - call ids are unique;
//   - a call still open is dropped, unless its message was cut by the output limit or it has a
//     result: then it stays, so that the model learns that it was not run;
//   - arguments are a JSON object (anything else is wrapped, so that the model sees what it wrote), and
//     a call whose name or arguments had to change has no signature any more;
//   - reasoning that is open, or that nothing follows, is dropped, as are native tools that are
//     open, empty texts, empty messages and what is of no known kind;
//   - the first message is the user's: where it is lost, a text says so.
//
// It is pure and leaves its input alone. What Repair returns, Repair returns unchanged.
func Repair(in []Message) []Message { return new(Repairer).Add(in) }

// Repairer repairs a history that grows, without beginning anew. The zero value is an empty one.
type Repairer struct {
	ids   map[string]bool // of the calls so far
	loose map[string]bool // ids, as they came, of the calls without a result so far
	begun bool            // there is a message
}

// Add gives what Repair adds for further messages. It equals Repair of the whole when none of them
// holds a result for an earlier call; see Late.
func (r *Repairer) Add(in []Message) []Message {
	if r.ids == nil {
		r.ids, r.loose = map[string]bool{}, map[string]bool{}
	}
	calls, results := pair(in)
	for at := range calls {
		if _, answered := results[at]; !answered {
			r.loose[in[at.message].Parts[at.part].CallID] = true
		}
	}
	out := make([]Message, 0, len(in))
	for i, m := range in {
		kept, answers := repairParts(&m, i, calls, results, r.ids)
		if len(kept) == 0 {
			continue
		}
		role := m.Role
		if role != Assistant {
			role = User // a tool's results moved to their calls; what is left was said, not returned
		}
		if !r.begun && role == Assistant {
			out = append(out, Message{Role: User, Parts: []Part{{Kind: Text, Text: textLost}}})
		}
		r.begun = true
		m.Role, m.Parts = role, kept
		out = append(out, m)
		if len(answers) > 0 {
			out = append(out, Message{Role: ToolRole, Parts: answers})
		}
	}
	return out
}

// Late reports whether messages to be added hold a result for a call that was added before without
// one. Then the whole history has to be repaired anew.
func (r *Repairer) Late(in []Message) bool {
	if len(r.loose) == 0 {
		return false
	}
	for _, m := range in {
		for _, p := range m.Parts {
			if p.Kind == ToolResult && r.loose[p.CallID] {
				return true
			}
		}
	}
	return false
}

// Clone gives a Repairer in the same state.
func (r *Repairer) Clone() *Repairer {
	return &Repairer{ids: maps.Clone(r.ids), loose: maps.Clone(r.loose), begun: r.begun}
}

// place is where a part is: indexes of its message and of the part in it.
type place struct{ message, part int }

// pair finds the result of each call: a result belongs to the first unanswered call of its id in
// the nearest message before it that has one.
func pair(in []Message) (calls map[place]bool, results map[place]Part) {
	calls, results = map[place]bool{}, map[place]Part{}
	byID := map[string][]place{}
	for i, m := range in {
		for j, p := range m.Parts {
			switch {
			case p.Kind == ToolCall && m.Role == Assistant:
				calls[place{i, j}] = true
				byID[p.CallID] = append(byID[p.CallID], place{i, j})
			case p.Kind == ToolResult:
				if at, ok := unanswered(byID[p.CallID], results); ok {
					results[at] = p
				}
			}
		}
	}
	return calls, results
}

func unanswered(at []place, results map[place]Part) (place, bool) {
	var found place
	ok := false
	for k := len(at) - 1; k >= 0; k-- {
		if ok && at[k].message != found.message {
			break
		}
		if _, done := results[at[k]]; !done {
			found, ok = at[k], true
		}
	}
	return found, ok
}

// repairParts gives the parts of one message that stay, and the results of its calls in order.
func repairParts(m *Message, i int, calls map[place]bool, results map[place]Part, ids map[string]bool) (kept, answers []Part) {
	for j, p := range m.Parts {
		switch p.Kind {
		case ToolResult:
			continue
		case ToolCall:
			answer, answered := results[place{i, j}]
			if !calls[place{i, j}] || p.Open && !answered && m.Stop != StopLength {
				continue
			}
			if !answered {
				answer = madeUp(m, p)
			}
			p.CallID = unique(p.CallID, ids)
			name, input := toolName(p.Name), arguments(p.Input)
			if name != p.Name || input != p.Input && strings.TrimSpace(p.Input) != "" {
				p.Signature, p.Opaque = "", nil // they seal what the model wrote
			}
			p.Name, p.Input = name, input
			p.Open = false
			answer.CallID, answer.Name = p.CallID, p.Name
			answers = append(answers, answer)
		case Text:
			if strings.TrimSpace(p.Text) == "" {
				continue
			}
			p.Open = false
		case Reasoning, Native:
			if p.Open || m.Role != Assistant {
				continue
			}
		case File:
			p.Open = false
		default:
			continue
		}
		kept = append(kept, p)
	}
	for len(kept) > 0 && kept[len(kept)-1].Kind == Reasoning {
		kept = kept[:len(kept)-1]
	}
	return kept, answers
}

// madeUp is the result of a call that has none.
func madeUp(m *Message, call Part) Part {
	text := textInterrupted
	switch {
	case call.Open:
		text = textCut
	case !runs(m.Stop) && m.Stop != "":
		text = textNotRun
	}
	return Part{Kind: ToolResult, IsError: true, Parts: []Part{{Kind: Text, Text: text}}}
}

// unique gives an id that no earlier call has. Some servers start counting again in each response.
func unique(id string, taken map[string]bool) string {
	if id == "" {
		id = "call"
	}
	free := id
	for n := 2; taken[free]; n++ {
		free = fmt.Sprintf("%s_%d", id, n)
	}
	taken[free] = true
	return free
}

// toolName makes a name that every provider accepts; models invent others now and then.
func toolName(name string) string {
	clean := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, name)
	if clean == "" {
		return "unknown"
	}
	return clean[:min(len(clean), 64)]
}

// arguments gives a JSON object for what a model wrote as arguments.
func arguments(input string) string {
	trimmed := strings.TrimSpace(input)
	if trimmed == "" {
		return "{}"
	}
	if trimmed[0] == '{' && json.Valid([]byte(trimmed)) {
		return input
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(map[string]string{"malformed_arguments": input}); err != nil {
		return "{}" // a string always encodes
	}
	return strings.TrimSuffix(b.String(), "\n")
}
