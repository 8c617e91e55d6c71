package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"carrel/app"
)

// printer shows a run. hook may be called before started, all others are called after it, one at a
// time. full gives an entry's text uncut.
type printer interface {
	hook(text string)
	started(w app.Workspace, now app.Permissions)
	entry(e app.Entry)
	grew(g app.EntryGrew)
	removed(ids []string)
	retrying(w app.RetryWait)
	ended(w app.Workspace, end turnEnd, full func(entry string) (string, error)) error
}

func (o runOptions) printer(io IO) printer {
	switch {
	case o.json:
		return &jsonPrinter{io: io, quiet: o.quiet}
	case o.quiet:
		return &quietPrinter{io: io}
	}
	return &textPrinter{io: io, shown: map[string]int{}}
}

// answer keeps the text of the newest step that has any: what the agent says at the end.
type answer struct {
	step  string
	texts map[string]string // by entry
	order []string
}

func (a *answer) entry(e app.Entry) {
	if e.Kind != app.EntryAssistant || e.Reasoning || e.Live || e.Text == "" {
		return
	}
	step, _, _ := strings.Cut(e.ID, ".")
	if step != a.step {
		a.step, a.texts, a.order = step, map[string]string{}, nil
	}
	if _, ok := a.texts[e.ID]; !ok {
		a.order = append(a.order, e.ID)
	}
	a.texts[e.ID] = e.Text
}

func (a *answer) removed(ids []string) {
	for _, id := range ids {
		delete(a.texts, id)
	}
}

// text is the whole answer.
func (a *answer) text(full func(entry string) (string, error)) (string, error) {
	var parts []string
	for _, id := range a.order {
		text, ok := a.texts[id]
		if strings.HasSuffix(text, app.CutNote) {
			var err error
			if text, err = full(id); err != nil {
				return "", fmt.Errorf("read the whole answer: %w", err)
			}
		}
		if ok {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "\n\n"), nil
}

// quietPrinter prints the answer.
type quietPrinter struct {
	io     IO
	answer answer
}

func (p *quietPrinter) hook(string)                            {}
func (p *quietPrinter) started(app.Workspace, app.Permissions) {}
func (p *quietPrinter) entry(e app.Entry)                      { p.answer.entry(e) }
func (p *quietPrinter) grew(app.EntryGrew)                     {}
func (p *quietPrinter) removed(ids []string)                   { p.answer.removed(ids) }
func (p *quietPrinter) retrying(app.RetryWait)                 {}

func (p *quietPrinter) ended(_ app.Workspace, end turnEnd, full func(string) (string, error)) error {
	if err := end.failure(); err != nil {
		return err
	}
	text, err := p.answer.text(full)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(p.io.Out, plain(text))
	return err
}

// textPrinter streams for people.
type textPrinter struct {
	io    IO
	shown map[string]int // bytes of an answer's text that are printed; only answers are in it
	open  string         // the entry whose line is not finished
	long  string         // the newest entry of which only the beginning is printed
}

func (p *textPrinter) hook(text string) { _, _ = fmt.Fprint(p.io.Err, plain(text)) }

func (p *textPrinter) started(w app.Workspace, now app.Permissions) {
	place := w.Dir
	if w.Branch != "" {
		place += " on " + w.Branch
	}
	_, _ = fmt.Fprintf(p.io.Err, "carrel: workspace %s in %s, model %s; %s\n", w.Name, line(place), line(w.Model), heldBy(now))
	if w.Init == app.InitFailed {
		_, _ = fmt.Fprintln(p.io.Err, "carrel: the project's init hook failed; the agent begins all the same")
	}
}

func (p *textPrinter) retrying(w app.RetryWait) {
	p.close()
	in := max(time.Until(w.At).Round(time.Second), 0)
	again := fmt.Sprintf("trying again in %s (attempt %d of %d)", in, w.Attempt, w.Of)
	if w.Attempt == 0 {
		again = fmt.Sprintf("giving the provider a rest for %s", in)
	}
	_, _ = fmt.Fprintf(p.io.Err, "carrel: %s; %s\n", strings.TrimRight(line(w.Reason), "."), again)
}

func (p *textPrinter) entry(e app.Entry) {
	switch e.Kind {
	case app.EntryAssistant:
		if e.Reasoning {
			return
		}
		p.text(e.ID, e.Text)
		if !e.Live && p.long == "" {
			p.close()
		}
	case app.EntryTool:
		if e.Tool.Status == app.ToolOK || e.Tool.Status == app.ToolFailed || e.Tool.Status == app.ToolInterrupted {
			p.close()
			_, _ = fmt.Fprintln(p.io.Out, toolLine(e.Tool))
		}
	case app.EntryNote:
		p.close()
		_, _ = fmt.Fprintln(p.io.Err, "carrel:", plain(e.Text))
	case app.EntryUser, app.EntryTurnEnd, app.EntryBoundary:
	}
}

// text prints what is new of an entry's text.
func (p *textPrinter) text(id, text string) {
	from := p.shown[id]
	text, cut := strings.CutSuffix(text, app.CutNote)
	p.long = ""
	if cut {
		p.long = id
	}
	p.shown[id] = max(from, len(text))
	if from >= len(text) {
		return
	}
	p.begin(id)
	_, _ = fmt.Fprint(p.io.Out, plain(text[from:]))
}

func (p *textPrinter) grew(g app.EntryGrew) {
	from, answer := p.shown[g.Entry]
	if g.Field != "text" || !answer {
		return // reasoning, arguments or output
	}
	text, cut := strings.CutSuffix(g.Text, app.CutNote)
	p.begin(g.Entry)
	if cut {
		p.long = g.Entry
	}
	_, _ = fmt.Fprint(p.io.Out, plain(text))
	p.shown[g.Entry] = from + len(text)
}

func (p *textPrinter) begin(id string) {
	if p.open != id {
		p.close()
		p.open = id
	}
}

func (p *textPrinter) close() {
	if p.long != "" {
		_, _ = fmt.Fprint(p.io.Out, " …")
		p.long = ""
	}
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
	_, _ = fmt.Fprintln(p.io.Err, "carrel: the answer broke off")
}

func (p *textPrinter) ended(w app.Workspace, end turnEnd, full func(string) (string, error)) error {
	if p.long != "" { // a long answer's end is as good as its beginning
		if text, err := full(p.long); err == nil {
			p.text(p.long, text)
		}
	}
	p.close()
	_, _ = fmt.Fprintf(p.io.Err, "carrel: go on with: carrel run --workspace %s \"...\"\n", w.ID)
	return end.failure()
}

// toolLine is one call on one line.
func toolLine(t *app.ToolEntry) string {
	words := []string{"  " + line(t.Name)}
	if what := summary(t); what != "" {
		words = append(words, what)
	}
	return strings.Join(append(words, outcome(t)), "  ")
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
	return short(line(text), 100)
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
