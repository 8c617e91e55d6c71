package wire

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"carrel/agent/model"
)

// MaxMessage is how much text a response may hold, in bytes.
const MaxMessage = 32 << 20

// ErrDone is returned by a Decoder for the event that ends a response.
var ErrDone = errors.New("response is complete")

// Accumulator builds a message from increments and tells of each one. Keys are the names that the
// provider gives to blocks while they stream.
type Accumulator struct {
	msg    *model.Message
	emit   func(model.Event)
	origin string
	keys   map[string]int
	grow   []*strings.Builder // of each part: appending to a string would be quadratic
	size   int
	ended  bool
	spent  model.Usage // by the responses before a pause
}

// NewAccumulator starts a message. emit may be nil; origin marks its parts.
func NewAccumulator(origin string, emit func(model.Event)) *Accumulator {
	return &Accumulator{
		msg:    &model.Message{Role: model.Assistant},
		emit:   emit,
		origin: origin,
		keys:   map[string]int{},
	}
}

// Message is the message so far.
func (a *Accumulator) Message() *model.Message { return a.msg }

// Has reports whether a block of that key is streaming.
func (a *Accumulator) Has(key string) bool { _, ok := a.keys[key]; return ok }

// HasCall reports whether the message has a call.
func (a *Accumulator) HasCall() bool {
	return slices.ContainsFunc(a.msg.Parts, func(p model.Part) bool { return p.Kind == model.ToolCall })
}

// Text is the text so far of the part that streams under that key.
func (a *Accumulator) Text(key string) (string, bool) {
	if i, ok := a.keys[key]; ok {
		return a.msg.Parts[i].Text, true
	}
	return "", false
}

// Hold counts bytes that a decoder holds back towards MaxMessage.
func (a *Accumulator) Hold(bytes int) { a.size += bytes }

// CallID is the id of the call that streams under that key.
func (a *Accumulator) CallID(key string) string {
	if i, ok := a.keys[key]; ok {
		return a.msg.Parts[i].CallID
	}
	return ""
}

// Start adds a part. A call without an id, or with one that the message has already, gets one.
func (a *Accumulator) Start(key string, p model.Part) {
	if p.Kind == model.ToolCall && (p.CallID == "" || a.hasID(p.CallID)) {
		p.CallID = "call_" + strings.ToLower(rand.Text()[:16])
	}
	first := p.Text
	p.Text, p.Open, p.Origin = "", true, a.origin
	a.size += 64 // so that empty parts are bounded too
	a.msg.Parts = append(a.msg.Parts, p)
	a.grow = append(a.grow, &strings.Builder{})
	i := len(a.msg.Parts) - 1
	a.keys[key] = i
	a.send(model.PartStart, i, "")
	if first != "" {
		a.Add(key, p.Kind, first)
	}
}

// Add appends to the part of that key, starting it when it is new: to the arguments of a call, to
// the text of anything else.
func (a *Accumulator) Add(key string, kind model.Kind, delta string) {
	if !a.Has(key) {
		a.Start(key, model.Part{Kind: kind})
	}
	if delta == "" {
		return
	}
	i := a.keys[key]
	a.size += len(delta)
	a.grow[i].WriteString(delta)
	if p := &a.msg.Parts[i]; p.Kind == model.ToolCall {
		p.Input = a.grow[i].String()
	} else {
		p.Text = a.grow[i].String()
	}
	a.send(model.PartDelta, i, delta)
}

// Sign appends to the signature of the reasoning of that key.
func (a *Accumulator) Sign(key, signature string) {
	if i, ok := a.keys[key]; ok {
		a.size += len(signature)
		a.msg.Parts[i].Signature += signature
	}
}

// Opaque keeps what has to be sent back with the part of that key. It is stored in the form that a
// round trip through JSON leaves unchanged.
func (a *Accumulator) Opaque(key string, raw json.RawMessage) error {
	i, ok := a.keys[key]
	if !ok {
		return nil
	}
	stable, err := json.Marshal(raw)
	if err != nil {
		return err
	}
	a.size += len(stable) - len(a.msg.Parts[i].Opaque)
	a.msg.Parts[i].Opaque = stable
	return nil
}

// Arguments replaces the arguments of the call of that key by their final form.
func (a *Accumulator) Arguments(key, input string) {
	i, ok := a.keys[key]
	if !ok || a.msg.Parts[i].Kind != model.ToolCall || a.msg.Parts[i].Input == input {
		return
	}
	if rest, found := strings.CutPrefix(input, a.msg.Parts[i].Input); found {
		a.Add(key, model.ToolCall, rest)
		return
	}
	a.size += len(input)
	a.grow[i].Reset()
	a.grow[i].WriteString(input)
	a.msg.Parts[i].Input = input
}

// Input sets what a native tool of that key was given, as JSON, without telling of it.
func (a *Accumulator) Input(key, input string) {
	if i, ok := a.keys[key]; ok && a.msg.Parts[i].Kind == model.Native {
		a.size += len(input)
		a.msg.Parts[i].Input = input
	}
}

// End closes the part of that key.
func (a *Accumulator) End(key string) {
	if i, ok := a.keys[key]; ok {
		delete(a.keys, key)
		a.msg.Parts[i].Open = false
		a.send(model.PartEnd, i, "")
	}
}

// Cite adds a source to the part of that key, once.
func (a *Accumulator) Cite(key string, s model.Source) {
	i, ok := a.keys[key]
	if ok {
		a.cite(i, s)
	}
}

// CiteText adds a source to the last text, open or not.
func (a *Accumulator) CiteText(s model.Source) {
	for i := len(a.msg.Parts) - 1; i >= 0; i-- {
		if a.msg.Parts[i].Kind == model.Text {
			a.cite(i, s)
			return
		}
	}
}

// maxSources is how many sources a part has at most.
const maxSources = 200

func (a *Accumulator) cite(i int, s model.Source) {
	p := &a.msg.Parts[i]
	same := func(o model.Source) bool { return o.URL == s.URL }
	if s.URL == "" || len(p.Sources) >= maxSources || slices.ContainsFunc(p.Sources, same) {
		return
	}
	s = model.Source{URL: clip(s.URL, maxShown), Title: clip(s.Title, 300)}
	a.size += len(s.URL) + len(s.Title)
	p.Sources = append(p.Sources, s)
}

// Tier sets the tier that the provider reports.
func (a *Accumulator) Tier(tier string) {
	if tier != "" {
		a.msg.Tier = clip(tier, 100)
	}
}

// Used is the tokens used so far by the response that streams.
func (a *Accumulator) Used() model.Usage {
	return a.msg.Usage.Minus(a.spent)
}

// Usage sets the tokens used so far by the response that streams.
func (a *Accumulator) Usage(u model.Usage) {
	a.msg.Usage = a.spent.Plus(u)
	a.send(model.UsageUpdate, -1, "")
}

// Finish sets why the response ended; only a terminal event of the provider is a reason to call it.
// Calls that the provider did not end stay open, and a last call that was cut is opened again.
func (a *Accumulator) Finish(s model.Stop) {
	a.ended = true
	a.msg.Stop = s
	whole := s == model.StopEnd || s == model.StopTools
	for i := range a.msg.Parts {
		p := &a.msg.Parts[i]
		switch {
		case p.Kind != model.ToolCall:
			if p.Open {
				p.Open = false
				a.send(model.PartEnd, i, "")
			}
		case whole && !p.Open && p.Input == "":
			p.Input = "{}"
		case !whole && i == len(a.msg.Parts)-1 && !json.Valid([]byte(p.Input)):
			p.Open = true
		}
	}
}

// resume goes on after a pause: another response adds to the same message.
func (a *Accumulator) resume() {
	a.msg.Stop, a.ended, a.spent = "", false, a.msg.Usage
	clear(a.keys)
}

// note adds notes to the message.
func (a *Accumulator) note(notes ...string) { a.msg.Notes = append(a.msg.Notes, notes...) }

// fail sets why the response broke off.
func (a *Accumulator) fail(s model.Stop) { a.msg.Stop = s }

func (a *Accumulator) hasID(id string) bool {
	return slices.ContainsFunc(a.msg.Parts, func(p model.Part) bool {
		return p.Kind == model.ToolCall && p.CallID == id
	})
}

func (a *Accumulator) send(t model.EventType, i int, delta string) {
	if a.emit == nil {
		return
	}
	e := model.Event{Type: t, Index: i, Delta: delta, Message: a.msg}
	if i >= 0 {
		e.Kind = a.msg.Parts[i].Kind
	}
	a.emit(e)
}
