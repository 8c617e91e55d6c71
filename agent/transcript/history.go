package transcript

import (
	"slices"

	"carrel/agent/model"
)

// What a model reads as the result of a call that was cut off.
const (
	// UnknownEffects is for a call that was running.
	UnknownEffects = "interrupted, side effects unknown: check before repeating it"
	// NotStarted is for a call that had not begun.
	NotStarted = "interrupted before it started: it was not run"
	// NotAnswered is for a call that waited for a person.
	NotAnswered = "not run: it needed a person's consent, and the turn ended before there was an answer"
)

// history folds records into messages. Its answer for a log is a prefix of its answer for the same
// log with more steps, so that a provider's prompt cache holds.
type history struct {
	msgs []model.Message // of closed steps
	from []uint64        // of each message, the seq of the record that it began with

	// The open step.
	at       uint64         // seq of response or partial
	response *model.Message // complete, or nil
	partial  *model.Message // newest checkpoint while there is no response
	started  map[string]bool
	results  map[string]model.Part
}

// apply folds one record in. A Partial must be whole.
func (h *history) apply(r *Record) {
	switch r.Kind {
	case User:
		h.close()
		h.msgs, h.from = append(h.msgs, *r.Message), append(h.from, r.Seq)
	case TurnStart, TurnEnd, StepStart:
		h.close()
	case Partial:
		h.partial, h.at = r.Message, r.Seq
	case Assistant:
		h.partial = nil
		if h.response != nil {
			h.close()
		}
		h.response, h.at = r.Message, r.Seq
	case ToolStart:
		if h.started == nil {
			h.started = map[string]bool{}
		}
		h.started[r.CallID] = true
	case ToolEnd:
		if h.results == nil {
			h.results = map[string]model.Part{}
		}
		h.results[r.CallID] = *r.Result
	case Boundary:
		if r.Border.starts() {
			*h = history{}
			if r.Message != nil {
				h.msgs, h.from = []model.Message{*r.Message}, []uint64{r.Seq}
			}
		}
	case Note, Todos, Setup, Edit, Retry, Question, Answer:
	}
}

// cut forgets the messages of the records from seq on, that of a record which closes a step.
// Messages that were given before stay as they are.
func (h *history) cut(seq uint64) {
	n, _ := slices.BinarySearch(h.from, seq)
	h.msgs, h.from = h.msgs[:n:n], h.from[:n:n]
	h.drop()
}

// close moves the open step's messages to the closed ones.
func (h *history) close() {
	for _, m := range h.open() {
		h.msgs, h.from = append(h.msgs, m), append(h.from, h.at)
	}
	h.drop()
}

// drop forgets the open step.
func (h *history) drop() {
	h.at, h.response, h.partial, h.started, h.results = 0, nil, nil, nil, nil
}

// open gives the messages of the open step: the response and one result for each of its calls.
func (h *history) open() []model.Message {
	m := h.response
	if m == nil {
		if h.partial == nil || len(h.partial.Parts) == 0 {
			return nil
		}
		cut := *h.partial
		if cut.Stop == "" {
			cut.Stop = model.StopError
		}
		m = &cut
	}
	out := *m
	out.Parts = slices.Clone(m.Parts)
	results := model.Message{Role: model.ToolRole}
	for i := range out.Parts {
		p := &out.Parts[i]
		if p.Kind != model.ToolCall {
			continue
		}
		if r, ok := h.results[p.CallID]; ok {
			// A call that was refused because it was cut has a result that says so: it stays, for
			// the model to see what it had written.
			p.Open = false
			results.Parts = append(results.Parts, r)
			continue
		}
		if p.Open {
			continue // dropped by Repair
		}
		text := NotStarted
		if h.started[p.CallID] {
			text = UnknownEffects
		}
		results.Parts = append(results.Parts, CutResult(*p, text))
	}
	if len(results.Parts) == 0 {
		return []model.Message{out}
	}
	return []model.Message{out, results}
}

// messages gives the history so far. The parts are shared with the fold and must not be changed.
func (h *history) messages() []model.Message {
	open := h.open()
	out := make([]model.Message, 0, len(h.msgs)+len(open))
	return append(append(out, h.msgs...), open...)
}

// CutResult makes the failed result of a call that was not finished.
func CutResult(call model.Part, text string) model.Part {
	return model.Part{
		Kind: model.ToolResult, CallID: call.CallID, Name: call.Name, IsError: true,
		Parts: []model.Part{{Kind: model.Text, Text: text}},
	}
}
