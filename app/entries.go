package app

import (
	"strconv"
	"strings"

	"carrel/agent/model"
	"carrel/agent/tool"
	"carrel/agent/transcript"
)

// Caps of what a host gets of one entry; System and Conversations hand out more on request.
const (
	maxShown     = 64 << 10 // bytes of input, output or text in an entry
	maxShownFull = 4 << 20  // bytes of one entry asked for by id
	partsPerStep = 1 << 12  // parts of one response that can be told apart in Entry.Order
)

// CutNote ends a text of an Entry of which only the beginning is shown.
const CutNote = "\n… cut here; open the entry to see the rest"

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
}

func newFolder(maxText int) *folder {
	return &folder{max: maxText, calls: map[string]*Entry{}}
}

// fold gives the entries of a run of records.
func fold(records []transcript.Record, maxText int) []Entry {
	f := newFolder(maxText)
	for i := range records {
		f.apply(&records[i])
	}
	f.settle()
	out := make([]Entry, len(f.entries))
	for i, e := range f.entries {
		out[i] = *e
	}
	return out
}

// apply adds one record and gives the entries that it made or changed.
func (f *folder) apply(r *transcript.Record) []*Entry {
	switch r.Kind {
	case transcript.User:
		return f.add(&Entry{ID: entryID(r.Seq, 0), Order: entryOrder(r.Seq, 0), Kind: EntryUser, Time: r.Time,
			Turn: r.Turn, Text: f.cut(messageText(r.Message))})
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
	case transcript.ToolEnd:
		if e := f.calls[r.CallID]; e != nil {
			f.result(e, r)
			return []*Entry{e}
		}
	case transcript.TurnStart, transcript.StepStart, transcript.Todos:
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
		e := f.find(made.ID)
		if e == nil {
			e = made
			f.entries = append(f.entries, e)
		} else {
			*e = *made
		}
		if e.Tool != nil {
			f.calls[r.Message.Parts[i].CallID] = e
		}
		changed = append(changed, e)
	}
	return changed
}

// find looks among the newest entries: a record concerns the step that is being folded.
func (f *folder) find(id string) *Entry {
	for i := len(f.entries) - 1; i >= 0 && i >= len(f.entries)-partsPerStep; i-- {
		if f.entries[i].ID == id {
			return f.entries[i]
		}
	}
	return nil
}

func partEntry(r *transcript.Record, i, maxText int) *Entry {
	p := &r.Message.Parts[i]
	e := &Entry{ID: entryID(r.StepSeq, i), Order: entryOrder(r.StepSeq, i), Kind: EntryAssistant,
		Time: r.Time, Turn: r.Turn, Model: r.Message.Model}
	switch p.Kind {
	case model.Text:
		e.Text = cutText(p.Text, maxText)
	case model.Reasoning:
		if p.Text == "" {
			return nil
		}
		e.Text, e.Reasoning = cutText(p.Text, maxText), true
	case model.ToolCall:
		e.Kind = EntryTool
		e.Tool = &ToolEntry{Name: p.Name, Status: ToolPending, Input: cutText(p.Input, maxText)}
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

// settle marks calls that never got a result. Only a run of records that is over may be settled.
func (f *folder) settle() {
	for _, e := range f.calls {
		if e.Tool.Status == ToolPending || e.Tool.Status == ToolRunning {
			e.Tool.Status = ToolInterrupted
		}
	}
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
	text := ""
	for i := range parts {
		if parts[i].Kind != model.Text {
			continue
		}
		if text != "" {
			text += "\n"
		}
		text += parts[i].Text
	}
	return text
}

// cutText cuts s to at most n bytes without cutting a character, and says so.
func cutText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n] + CutNote
}

func toolDetail(d *tool.Detail) *ToolDetail {
	out := &ToolDetail{ExitCode: d.ExitCode, DurationMS: d.DurationMS, TimedOut: d.TimedOut,
		SpillPath: d.SpillPath, Omitted: d.Omitted, Diff: d.Diff, Added: d.Added, Removed: d.Removed,
		FirstLine: d.FirstLine, LastLine: d.LastLine, TotalLines: d.TotalLines, Todos: todoViews(d.Todos)}
	return out
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
