package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"carrel/app"
)

// printer shows a run. Its methods are called in order; all but started and ended on the
// conversation's goroutine.
type printer interface {
	started(w app.Workspace)
	entry(e app.Entry)
	grew(g app.EntryGrew)
	removed(ids []string)
	ended(w app.Workspace, end turnEnd) error
}

func (o runOptions) printer(io IO) printer {
	switch {
	case o.json:
		return &jsonPrinter{io: io}
	case o.quiet:
		return &quietPrinter{io: io}
	}
	return &textPrinter{io: io, shown: map[string]int{}}
}

// quietPrinter prints the last answer.
type quietPrinter struct {
	io     IO
	answer map[string]string // text of the newest step's entries, by id
	order  []string
	step   string
}

func (p *quietPrinter) started(app.Workspace) {}
func (p *quietPrinter) grew(app.EntryGrew)    {}
func (p *quietPrinter) removed(ids []string)  { p.step = "" }
func (p *quietPrinter) ended(_ app.Workspace, end turnEnd) error {
	if err := end.failure(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(p.io.Out, plain(p.text()))
	return err
}

// entry keeps the text of the newest step that has any.
func (p *quietPrinter) entry(e app.Entry) {
	if e.Kind != app.EntryAssistant || e.Reasoning || e.Live || e.Text == "" {
		return
	}
	step, _, _ := strings.Cut(e.ID, ".")
	if step != p.step {
		p.step, p.answer, p.order = step, map[string]string{}, nil
	}
	if _, ok := p.answer[e.ID]; !ok {
		p.order = append(p.order, e.ID)
	}
	p.answer[e.ID] = e.Text
}

func (p *quietPrinter) text() string {
	parts := make([]string, 0, len(p.order))
	for _, id := range p.order {
		parts = append(parts, p.answer[id])
	}
	return strings.Join(parts, "\n\n")
}

// jsonPrinter prints NDJSON; docs/run-json.md describes each object.
type jsonPrinter struct {
	io     IO
	answer quietPrinter
}

func (p *jsonPrinter) line(v any) {
	b, err := json.Marshal(v)
	if err != nil {
		return // the types here always marshal
	}
	_, _ = p.io.Out.Write(append(b, '\n'))
}

func (p *jsonPrinter) started(w app.Workspace) {
	p.line(map[string]any{"type": "start", "workspace": w, "sandbox": "none"})
}

func (p *jsonPrinter) entry(e app.Entry) {
	p.answer.entry(e)
	p.line(map[string]any{"type": "entry", "entry": e})
}

func (p *jsonPrinter) grew(g app.EntryGrew) {
	p.line(map[string]any{"type": "delta", "entry": g.Entry, "field": g.Field, "text": g.Text})
}

func (p *jsonPrinter) removed(ids []string) {
	p.answer.removed(ids)
	p.line(map[string]any{"type": "removed", "entries": ids})
}

func (p *jsonPrinter) ended(w app.Workspace, end turnEnd) error {
	failed := end.failure()
	state := "done"
	switch {
	case end.activity == app.Interrupted:
		state = "interrupted"
	case failed != nil:
		state = "failed"
	}
	p.line(map[string]any{"type": "end", "end": state, "result": p.answer.text(), "usage": end.usage, "workspace": w.ID})
	return failed
}

// textPrinter streams for people.
type textPrinter struct {
	io    IO
	shown map[string]int // bytes of an answer's text that are printed; only answers are in it
	open  string         // the entry whose line is not finished
}

func (p *textPrinter) started(w app.Workspace) {
	place := w.Dir
	if w.Branch != "" {
		place += " on " + w.Branch
	}
	_, _ = fmt.Fprintf(p.io.Err, "carrel: workspace %s in %s, model %s; commands are not sandboxed\n", w.Name, plain(place), w.Model)
}

func (p *textPrinter) entry(e app.Entry) {
	switch e.Kind {
	case app.EntryAssistant:
		if !e.Reasoning {
			p.text(e.ID, e.Text)
			if !e.Live {
				p.close()
			}
		}
	case app.EntryTool:
		if e.Tool.Status == app.ToolOK || e.Tool.Status == app.ToolFailed || e.Tool.Status == app.ToolInterrupted {
			p.close()
			_, _ = fmt.Fprintln(p.io.Out, toolLine(e.Tool))
		}
	case app.EntryNote:
		p.close()
		_, _ = fmt.Fprintln(p.io.Err, "carrel:", plain(e.Text))
	case app.EntryUser, app.EntryTurnEnd:
	}
}

// text prints what is new of an entry's text.
func (p *textPrinter) text(id, text string) {
	from := p.shown[id]
	p.shown[id] = max(from, len(text))
	if from >= len(text) {
		return
	}
	if p.open != id {
		p.close()
		p.open = id
	}
	_, _ = fmt.Fprint(p.io.Out, plain(text[from:]))
}

func (p *textPrinter) grew(g app.EntryGrew) {
	from, answer := p.shown[g.Entry]
	if g.Field != "text" || !answer {
		return // reasoning, arguments or output
	}
	if p.open != g.Entry {
		p.close()
		p.open = g.Entry
	}
	_, _ = fmt.Fprint(p.io.Out, plain(g.Text))
	p.shown[g.Entry] = from + len(g.Text)
}

func (p *textPrinter) close() {
	if p.open != "" {
		_, _ = fmt.Fprintln(p.io.Out)
		p.open = ""
	}
}

func (p *textPrinter) removed(ids []string) {
	p.close()
	for _, id := range ids {
		delete(p.shown, id)
	}
	_, _ = fmt.Fprintln(p.io.Err, "carrel: the answer broke off and is asked for again")
}

func (p *textPrinter) ended(w app.Workspace, end turnEnd) error {
	p.close()
	_, _ = fmt.Fprintf(p.io.Err, "carrel: see it again with: carrel workspace show %s\n", w.ID)
	return end.failure()
}

// toolLine is one call on one line.
func toolLine(t *app.ToolEntry) string {
	what := summary(t)
	line := "  " + t.Name
	if what != "" {
		line += "  " + what
	}
	return line + "  " + outcome(t)
}

// summary names the object of a call: the command's first line, or the path.
func summary(t *app.ToolEntry) string {
	var in struct {
		Script string `json:"script"`
		Path   string `json:"path"`
	}
	if json.Unmarshal([]byte(t.Input), &in) != nil {
		return ""
	}
	text := in.Path
	if in.Script != "" {
		text, _, _ = strings.Cut(strings.TrimSpace(in.Script), "\n")
	}
	if r := []rune(text); len(r) > 100 {
		text = string(r[:99]) + "…"
	}
	return plain(text)
}

func outcome(t *app.ToolEntry) string {
	d := t.Detail
	switch {
	case t.Status == app.ToolInterrupted:
		return "[interrupted]"
	case d != nil && d.TimedOut:
		return "[timed out]"
	case d != nil && d.ExitCode != nil:
		return fmt.Sprintf("[exit %d, %.1f s]", *d.ExitCode, float64(d.DurationMS)/1000)
	case d != nil && (d.Added > 0 || d.Removed > 0):
		return fmt.Sprintf("[+%d −%d]", d.Added, d.Removed)
	case t.Status == app.ToolFailed:
		return "[failed]"
	}
	return "[ok]"
}
