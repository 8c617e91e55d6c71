package app

import (
	"slices"
	"strconv"
	"strings"

	"carrel/agent/model"
	"carrel/agent/tool"
	"carrel/agent/transcript"
	"carrel/agent/turn"
)

// Caps of what a host gets of one entry; Conversations.Entry hands out more.
const (
	maxShown     = 64 << 10 // bytes of input, output or text in an entry
	maxShownFull = 4 << 20  // bytes of one entry asked for by id
	partsPerStep = 1 << 12  // parts of one response that can be told apart in Entry.Order
)

// entryID and entryOrder make the same names for an entry whether it is live or read back: a step's
// parts are numbered from the sequence of the record that opened the step.
func entryID(seq uint64, part int) string {
	return strconv.FormatUint(seq, 10) + "." + strconv.Itoa(part)
}

func entryOrder(seq uint64, part int) uint64 {
	return seq*partsPerStep + uint64(min(part, partsPerStep-1))
}

// orderSeq is the sequence of the record behind an order.
func orderSeq(order uint64) uint64 { return order / partsPerStep }

// folder turns records, in order, into entries. It holds the entries of one run of records, which
// must begin where a step or a message does.
type folder struct {
	max     int // cap of texts, in bytes
	entries []*Entry
	calls   map[string]*Entry
	gone    []string // ids that a later record of their step left out, see takeGone
}

func newFolder(maxText int) *folder {
	return &folder{max: maxText, calls: map[string]*Entry{}}
}

// fold gives the entries of a run of records. Calls without a result were interrupted, unless they
// belong to the turn that is open.
func fold(records []transcript.Record, maxText int, openTurn string) []Entry {
	f := newFolder(maxText)
	for i := range records {
		f.apply(&records[i])
	}
	f.cutOff(openTurn)
	out := make([]Entry, len(f.entries))
	for i, e := range f.entries {
		out[i] = *e
	}
	return out
}

// cutOff marks the calls that have no result and get none any more, which are all but those of the
// open turn, and gives them.
func (f *folder) cutOff(openTurn string) []*Entry {
	var changed []*Entry
	for _, e := range f.entries {
		unfinished := e.Tool != nil && (e.Tool.Status == ToolPending || e.Tool.Status == ToolRunning)
		if unfinished && (openTurn == "" || e.Turn != openTurn) {
			e.Tool.Status, e.Live = ToolInterrupted, false
			changed = append(changed, e)
		}
	}
	return changed
}

// apply adds one record and gives the entries that it made or changed.
func (f *folder) apply(r *transcript.Record) []*Entry {
	switch r.Kind {
	case transcript.User:
		return f.add(&Entry{ID: entryID(r.Seq, 0), Order: entryOrder(r.Seq, 0), Kind: EntryUser, Time: r.Time,
			Turn: r.Turn, Text: f.cut(messageText(r.Message)), Once: onceView((*turn.Choice)(r.Choice)), Files: filesOf(r.Message)})
	case transcript.Boundary:
		return f.add(&Entry{ID: entryID(r.Seq, 0), Order: entryOrder(r.Seq, 0), Kind: EntryBoundary, Time: r.Time,
			Text: f.cut(r.Note), Code: string(r.Border)})
	case transcript.Note:
		return f.add(&Entry{ID: entryID(r.Seq, 0), Order: entryOrder(r.Seq, 0), Kind: EntryNote, Time: r.Time,
			Turn: r.Turn, Text: f.cut(r.Note), Level: r.Level})
	case transcript.TurnEnd:
		if r.End == transcript.Done {
			return nil
		}
		return f.add(&Entry{ID: entryID(r.Seq, 0), Order: entryOrder(r.Seq, 0), Kind: EntryTurnEnd, Time: r.Time,
			Turn: r.Turn, Text: f.cut(r.Error), Code: endCode(r)})
	case transcript.Partial, transcript.Assistant:
		return f.message(r)
	case transcript.ToolStart:
		if e := f.calls[r.CallID]; e != nil {
			started := r.Time
			e.Tool.Status, e.Tool.Started = ToolRunning, &started
			return []*Entry{e}
		}
	case transcript.Question, transcript.Answer:
		if e := f.calls[r.CallID]; e != nil {
			e.Tool.Asks = r.Kind == transcript.Question
			return []*Entry{e}
		}
	case transcript.ToolEnd:
		if e := f.calls[r.CallID]; e != nil {
			e.Tool.Asks = false
			f.result(e, r)
			return []*Entry{e}
		}
	case transcript.TurnStart, transcript.StepStart, transcript.Todos, transcript.Setup, transcript.Edit,
		transcript.Retry:
	}
	return nil
}

func (f *folder) add(e *Entry) []*Entry {
	f.entries = append(f.entries, e)
	return []*Entry{e}
}

// message makes one entry of each part that people see. A later record of the same step replaces
// what an earlier one made.
func (f *folder) message(r *transcript.Record) []*Entry {
	if r.Message == nil {
		return nil
	}
	var changed []*Entry
	for i := range r.Message.Parts {
		made := partEntry(r, i, f.max)
		if made == nil {
			continue
		}
		e := f.find(made.ID, made.Order)
		if e == nil {
			e = made
			f.insert(e)
		} else {
			*e = *made
		}
		if r.Message.Parts[i].Kind == model.ToolCall {
			f.calls[r.Message.Parts[i].CallID] = e
		}
		if len(changed) == 0 && r.Kind == transcript.Assistant {
			e.Usage = messageUsage(r)
		}
		changed = append(changed, e)
	}
	f.dropOthers(r.StepSeq, changed)
	return changed
}

// insert adds an entry at its place, which is mostly the end.
func (f *folder) insert(e *Entry) {
	at := len(f.entries)
	for at > 0 && f.entries[at-1].Order > e.Order {
		at--
	}
	f.entries = slices.Insert(f.entries, at, e)
}

// dropOthers removes the entries of a step's response that are not among those that it has.
func (f *folder) dropOthers(step uint64, has []*Entry) {
	from := len(f.entries)
	for from > 0 && f.entries[from-1].Order >= entryOrder(step, 0) {
		from--
	}
	kept := slices.DeleteFunc(f.entries[from:], func(e *Entry) bool {
		gone := orderSeq(e.Order) == step && !slices.Contains(has, e)
		if gone {
			f.gone = append(f.gone, e.ID)
		}
		return gone
	})
	f.entries = f.entries[:from+len(kept)]
}

// takeGone gives the ids that were removed since it was asked last.
func (f *folder) takeGone() []string {
	gone := f.gone
	f.gone = nil
	return gone
}

// find looks for an entry among the newest, where the step that is being folded is.
func (f *folder) find(id string, order uint64) *Entry {
	for i := len(f.entries) - 1; i >= 0 && f.entries[i].Order >= order; i-- {
		if f.entries[i].ID == id {
			return f.entries[i]
		}
	}
	return nil
}

func partEntry(r *transcript.Record, i, maxText int) *Entry {
	p := &r.Message.Parts[i]
	e := &Entry{ID: entryID(r.StepSeq, i), Order: entryOrder(r.StepSeq, i), Kind: EntryAssistant,
		Time: r.Time, Turn: r.Turn, Model: r.Message.Model, Via: r.Message.Via}
	switch p.Kind {
	case model.Text, model.Reasoning:
		if p.Text == "" { // such as reasoning that the provider keeps to itself
			return nil
		}
		e.Text, e.Reasoning, e.Sources = cutText(p.Text, maxText), p.Kind == model.Reasoning, sourceViews(p.Sources)
	case model.ToolCall:
		e.Kind = EntryTool
		e.Tool = &ToolEntry{Name: p.Name, Status: ToolPending, Input: cutText(p.Input, maxText)}
	case model.Native:
		// A search is two parts, what was looked for and what was found.
		if p.Text == "" && p.Input == "" && len(p.Sources) == 0 {
			return nil
		}
		e.Kind, e.Sources = EntryTool, sourceViews(p.Sources)
		e.Tool = &ToolEntry{Name: p.Name, Status: ToolOK, Input: cutText(p.Text, maxText)}
	case model.File, model.ToolResult:
		return nil
	}
	return e
}

func (f *folder) result(e *Entry, r *transcript.Record) {
	t := e.Tool
	t.Status = ToolOK
	if r.Result != nil {
		t.Output = f.cut(partsText(r.Result.Parts))
		if r.Result.IsError {
			t.Status = ToolFailed
		}
	}
	if r.End == transcript.Interrupted || r.End == transcript.Crashed {
		t.Status = ToolInterrupted
	}
	if r.Detail != nil {
		t.Detail = toolDetail(r.Detail)
	}
	delete(f.calls, r.CallID)
}

func (f *folder) cut(s string) string { return cutText(s, f.max) }

func endCode(r *transcript.Record) string {
	if r.Code != "" {
		return r.Code
	}
	return string(r.End)
}

func messageText(m *model.Message) string {
	if m == nil {
		return ""
	}
	return partsText(m.Parts)
}

func partsText(parts []model.Part) string {
	var texts []string
	for i := range parts {
		if parts[i].Kind == model.Text && parts[i].Text != "" {
			texts = append(texts, parts[i].Text)
		}
	}
	return strings.Join(texts, "\n")
}

func toolDetail(d *tool.Detail) *ToolDetail {
	return &ToolDetail{ExitCode: d.ExitCode, DurationMS: d.DurationMS, TimedOut: d.TimedOut,
		SpillPath: d.SpillPath, Omitted: d.Omitted, Screen: d.Screen, Diff: d.Diff, Added: d.Added, Removed: d.Removed,
		FirstLine: d.FirstLine, LastLine: d.LastLine, TotalLines: d.TotalLines, Todos: todoViews(d.Todos)}
}

func todoViews(in []tool.Todo) []Todo {
	out := make([]Todo, 0, len(in))
	for _, t := range in {
		out = append(out, Todo(t))
	}
	return out
}

// parseEntryID gives the sequence of the record behind an entry's id.
func parseEntryID(id string) (uint64, bool) {
	head, _, ok := strings.Cut(id, ".")
	seq, err := strconv.ParseUint(head, 10, 64)
	return seq, ok && err == nil && seq > 0
}
