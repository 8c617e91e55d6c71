package export

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"strings"
	"time"

	"carrel/agent/model"
	"carrel/agent/transcript"
)

// markdown writes a document that reads well as text and where Markdown is rendered. Tool calls are
// folded.
type markdown struct {
	w         io.Writer
	reasoning bool
	err       error

	speaker string // whose heading was written last
	left    bool   // what is written now was left behind
	calls   []call // of the step, until they have results
}

// call is a tool call and its result, which may be missing.
type call struct {
	part  model.Part
	start time.Time
	end   *transcript.Record
}

func (m *markdown) put(format string, args ...any) {
	if m.err == nil {
		_, m.err = fmt.Fprintf(m.w, format, args...)
	}
}

func (m *markdown) begin(a About) error {
	m.put("# %s\n\n", heading(cmp.Or(a.Title, a.Name)))
	var facts []string
	for _, f := range [][2]string{{"Project", a.Project}, {"Workspace", a.Name}, {"Branch", a.Branch}} {
		if f[1] != "" {
			facts = append(facts, f[0]+": "+code(f[1]))
		}
	}
	facts = append(facts, "Exported: "+when(a.At))
	m.put("%s\n", strings.Join(facts, " · "))
	return m.err
}

func (m *markdown) end() error {
	m.flush()
	return m.err
}

func (m *markdown) record(r *transcript.Record, left bool) error {
	switch r.Kind {
	case transcript.ToolStart, transcript.ToolEnd, transcript.Todos, transcript.Retry, transcript.Setup, transcript.Question, transcript.Answer:
	default:
		m.flush()
		if left != m.left {
			m.left, m.speaker = left, ""
			m.put("\n---\n\n%s\n", map[bool]string{true: "*What follows was left behind.*", false: "*The conversation goes on.*"}[left])
		}
	}
	switch r.Kind {
	case transcript.User:
		m.said("You", r.Time, "")
		m.parts(r.Message.Parts)
	case transcript.Assistant, transcript.Partial:
		m.said(cmp.Or(r.Message.Model, "Assistant"), r.Time, price(r))
		m.parts(r.Message.Parts)
	case transcript.ToolStart:
		for i := range m.calls {
			if m.calls[i].part.CallID == r.CallID {
				m.calls[i].start = r.Time
			}
		}
	case transcript.ToolEnd:
		for i := range m.calls {
			if m.calls[i].part.CallID == r.CallID {
				end := *r
				m.calls[i].end = &end
			}
		}
	case transcript.Note:
		m.put("\n%s\n", quote(r.Note))
	case transcript.TurnEnd:
		m.ended(r)
	case transcript.Boundary:
		m.border(r)
	case transcript.TurnStart, transcript.StepStart, transcript.Todos, transcript.Setup, transcript.Edit, transcript.Retry, transcript.Question, transcript.Answer:
	}
	return m.err
}

// said begins a paragraph, under a heading unless the last one was of the same speaker.
func (m *markdown) said(who string, at time.Time, extra string) {
	if who == m.speaker && who != "You" {
		return
	}
	m.speaker = who
	m.put("\n## %s\n\n%s%s\n", heading(who), when(at), extra)
}

func (m *markdown) parts(parts []model.Part) {
	for i := range parts {
		p := &parts[i]
		switch p.Kind {
		case model.Text:
			if strings.TrimSpace(p.Text) != "" {
				m.put("\n%s\n", contain(p.Text))
			}
			m.sources(p.Sources)
		case model.Reasoning:
			if m.reasoning && p.Text != "" {
				m.fold("Reasoning", func() { m.put("\n%s\n", quote(p.Text)) })
			}
		case model.File:
			m.put("\n*File: %s (%s)*\n", code(cmp.Or(p.Name, "unnamed")), code(p.Mime))
		case model.Native:
			m.put("\n*%s: %s*\n", code(p.Name), code(p.Text))
			m.sources(p.Sources)
		case model.ToolCall:
			m.calls = append(m.calls, call{part: *p})
		case model.ToolResult:
		}
	}
}

func (m *markdown) sources(list []model.Source) {
	if len(list) > 0 {
		m.put("\n")
	}
	for _, s := range list {
		m.put("- %s %s\n", code(s.URL), escape(s.Title))
	}
}

// flush writes the calls of the step.
func (m *markdown) flush() {
	calls := m.calls
	m.calls = nil
	for i := range calls {
		c := &calls[i]
		m.fold(c.summary(), func() { m.call(c) })
	}
}

func (m *markdown) fold(summary string, body func()) {
	m.put("\n<details>\n<summary>%s</summary>\n", summary)
	body()
	m.put("\n</details>\n")
}

func (m *markdown) call(c *call) {
	language, input := inputOf(c.part)
	m.fenced(language, input)
	if c.end == nil {
		return
	}
	if d := c.end.Detail; d != nil && d.Diff != "" {
		m.fenced("diff", d.Diff)
	}
	if c.end.Result != nil {
		for i := range c.end.Result.Parts {
			p := &c.end.Result.Parts[i]
			if p.Kind == model.File {
				m.put("\n*File: %s*\n", code(p.Mime))
				continue
			}
			m.fenced("text", p.Text)
		}
	}
}

// summary is the folded line of a call.
func (c *call) summary() string {
	s := "<code>" + html.EscapeString(oneLine(cut(c.part.Name, 80))) + "</code>"
	if hint := hintOf(c.part); hint != "" {
		s += " " + html.EscapeString(oneLine(cut(hint, 120)))
	}
	switch {
	case c.end == nil:
		return s + " · interrupted"
	case c.end.End == transcript.Interrupted || c.end.End == transcript.Crashed:
		s += " · interrupted"
	case c.end.Result != nil && c.end.Result.IsError:
		s += " · failed"
	}
	if d := c.end.Detail; d != nil {
		if d.ExitCode != nil && *d.ExitCode != 0 {
			s += fmt.Sprintf(" · exit code %d", *d.ExitCode)
		}
		if d.Added > 0 || d.Removed > 0 {
			s += fmt.Sprintf(" · +%d −%d", d.Added, d.Removed)
		}
	}
	if !c.start.IsZero() {
		s += " · " + c.end.Time.Sub(c.start).Round(100*time.Millisecond).String()
	}
	return s
}

// fields of a call's input that say most.
type fields struct {
	Script string `json:"script"`
	Path   string `json:"path"`
	Name   string `json:"display_name"`
}

func hintOf(p model.Part) string {
	var f fields
	_ = json.Unmarshal([]byte(p.Input), &f) // an input that is not JSON has no hint
	first, _, _ := strings.Cut(f.Script, "\n")
	return cmp.Or(f.Path, f.Name, first)
}

func inputOf(p model.Part) (language, text string) {
	var f fields
	if err := json.Unmarshal([]byte(p.Input), &f); err == nil && f.Script != "" {
		return "sh", f.Script
	}
	var b bytes.Buffer
	if json.Indent(&b, []byte(p.Input), "", "  ") == nil {
		return "json", b.String()
	}
	return "text", p.Input
}

// fenced writes code in a fence that is longer than any in it.
func (m *markdown) fenced(language, text string) {
	text = strings.TrimRight(clean(text), "\n")
	if text == "" {
		return
	}
	longest, run := 2, 0
	for i := range len(text) {
		if text[i] == '`' {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
	}
	fence := strings.Repeat("`", longest+1)
	m.put("\n%s%s\n%s\n%s\n", fence, language, text, fence)
}

func (m *markdown) ended(r *transcript.Record) {
	switch r.End {
	case transcript.Done:
		return
	case transcript.Interrupted, transcript.Crashed:
		m.put("\n*The turn was interrupted.*\n")
	case transcript.Failed:
		m.put("\n*The turn failed:* %s\n", escape(oneLine(r.Error)))
	}
	m.speaker = ""
}

func (m *markdown) border(r *transcript.Record) {
	said := map[transcript.Border]string{
		transcript.Clear:      "The conversation was cleared.",
		transcript.Reset:      "The model starts afresh from here.",
		transcript.Start:      "The model goes on from this alone:",
		transcript.Fork:       "Forked here.",
		transcript.Compaction: "The model goes on with a summary from here.",
	}[r.Border]
	if said != "" {
		m.put("\n---\n\n*%s*\n", said)
	}
	if r.Note != "" {
		m.put("\n%s\n", quote(r.Note))
	}
	m.speaker = ""
}
