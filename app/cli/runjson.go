package cli

import (
	"sync"

	"carrel/app"
)

// The lines of `carrel run --json`; docs/run-json.md describes each.
type (
	hookLine struct {
		Type string `json:"type"` // init
		Text string `json:"text"`
	}
	startLine struct {
		Type      string        `json:"type"` // start
		Workspace app.Workspace `json:"workspace"`
		Sandbox   string        `json:"sandbox"`
	}
	entryLine struct {
		Type  string    `json:"type"` // entry
		Entry app.Entry `json:"entry"`
	}
	deltaLine struct {
		Type  string `json:"type"` // delta
		Entry string `json:"entry"`
		Field string `json:"field"`
		Text  string `json:"text"`
	}
	removedLine struct {
		Type    string   `json:"type"` // removed
		Entries []string `json:"entries"`
	}
	retryLine struct {
		Type string `json:"type"` // retry
		app.RetryWait
	}
	endLine struct {
		Type      string    `json:"type"` // end
		End       string    `json:"end"`  // done, failed or interrupted
		Result    string    `json:"result"`
		Usage     app.Usage `json:"usage"`
		Workspace string    `json:"workspace"`
	}
)

// jsonPrinter prints NDJSON. When quiet it prints the end only.
type jsonPrinter struct {
	io     IO
	quiet  bool
	answer answer

	mu sync.Mutex // the hook prints on a goroutine of its own
}

func (p *jsonPrinter) line(v any) {
	if p.quiet {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = printJSON(p.io.Out, v) // the types always marshal, and who reads the output is told of a failure at the end
}

func (p *jsonPrinter) hook(text string) { p.line(hookLine{"init", text}) }

func (p *jsonPrinter) started(w app.Workspace, now app.Permissions) {
	held := "none"
	if now.Sandbox.On {
		held = now.Sandbox.Mode
	}
	p.line(startLine{"start", w, held})
}

func (p *jsonPrinter) entry(e app.Entry) {
	p.answer.entry(e)
	p.line(entryLine{"entry", e})
}

func (p *jsonPrinter) grew(g app.EntryGrew) { p.line(deltaLine{"delta", g.Entry, g.Field, g.Text}) }

func (p *jsonPrinter) removed(ids []string) {
	p.answer.removed(ids)
	p.line(removedLine{"removed", ids})
}

func (p *jsonPrinter) retrying(w app.RetryWait) { p.line(retryLine{"retry", w}) }

func (p *jsonPrinter) ended(w app.Workspace, end turnEnd, full func(string) (string, error)) error {
	failed := end.failure()
	if p.quiet && failed != nil {
		return failed // its line is the only one
	}
	last := endLine{Type: "end", End: "done", Usage: end.usage, Workspace: w.ID}
	switch {
	case end.activity == app.Interrupted:
		last.End = "interrupted"
	case failed != nil:
		last.End = "failed"
	}
	var err error
	if last.Result, err = p.answer.text(full); err != nil {
		return err
	}
	if err := printJSON(p.io.Out, last); err != nil {
		return err
	}
	return failed
}
