package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"carrel/agent/model"
	"carrel/agent/tool"
	"carrel/agent/transcript"
)

// schemaVersion grows when a program that reads an export must change.
const schemaVersion = 1

// document writes one JSON object, an entry at a time.
type document struct {
	w         io.Writer
	reasoning bool
	entries   int
}

// entry is one record as programs read it; docs/export.md tells of each field.
type entry struct {
	Seq  uint64    `json:"seq"`
	Time time.Time `json:"time"`
	Kind string    `json:"kind"`
	Left bool      `json:"left,omitempty"`
	Turn string    `json:"turn,omitempty"`

	Parts []part       `json:"parts,omitempty"` // user, assistant
	Model string       `json:"model,omitempty"` // assistant
	Tier  string       `json:"tier,omitempty"`
	Stop  model.Stop   `json:"stop,omitempty"`
	Usage *model.Usage `json:"usage,omitempty"`
	Cost  *int64       `json:"costMicro,omitempty"`

	CallID string       `json:"callId,omitempty"` // tool
	Name   string       `json:"name,omitempty"`
	Output []part       `json:"output,omitempty"`
	Failed bool         `json:"failed,omitempty"`
	Detail *tool.Detail `json:"detail,omitempty"`

	Text   string            `json:"text,omitempty"`  // note
	Level  string            `json:"level,omitempty"` // note
	End    transcript.End    `json:"end,omitempty"`   // tool, turn_end
	Code   string            `json:"code,omitempty"`
	Error  string            `json:"error,omitempty"`
	Border transcript.Border `json:"border,omitempty"`
}

type part struct {
	Kind    model.Kind     `json:"kind"`
	Text    string         `json:"text,omitempty"`
	Name    string         `json:"name,omitempty"`
	CallID  string         `json:"callId,omitempty"`
	Input   string         `json:"input,omitempty"`
	Mime    string         `json:"mime,omitempty"`
	Blob    string         `json:"blob,omitempty"`
	Sources []model.Source `json:"sources,omitempty"`
}

func (d *document) begin(a About) error {
	about, err := encode(a)
	if err != nil {
		return err
	}
	at, err := encode(a.At.UTC())
	if err != nil {
		return err
	}
	_, err = io.WriteString(d.w, fmt.Sprintf(`{"format":"carrel-conversation","version":%d,"exportedAt":%s,"workspace":%s,"entries":[`,
		schemaVersion, at, about))
	return err
}

func (d *document) record(r *transcript.Record, left bool) error {
	e, ok := d.entry(r)
	if !ok {
		return nil
	}
	e.Left = left
	text, err := encode(e)
	if err != nil {
		return err
	}
	head := ",\n"
	if d.entries == 0 {
		head = "\n"
	}
	d.entries++
	_, err = io.WriteString(d.w, head+text)
	return err
}

func (d *document) end() error {
	_, err := io.WriteString(d.w, "\n]}\n")
	return err
}

func (d *document) entry(r *transcript.Record) (entry, bool) {
	e := entry{Seq: r.Seq, Time: r.Time, Kind: string(r.Kind), Turn: r.Turn}
	switch r.Kind {
	case transcript.User:
		e.Parts = d.parts(r.Message.Parts)
	case transcript.Assistant, transcript.Partial:
		e.Kind = string(transcript.Assistant)
		m := r.Message
		e.Parts, e.Model, e.Tier, e.Stop, e.Usage = d.parts(m.Parts), m.Model, m.Tier, m.Stop, &m.Usage
		if r.CostKnown {
			e.Cost = &r.Cost
		}
	case transcript.ToolEnd:
		e.Kind, e.CallID, e.Name, e.Detail, e.End = "tool", r.CallID, r.Tool, r.Detail, r.End
		if r.Result != nil {
			e.Output, e.Failed = d.parts(r.Result.Parts), r.Result.IsError
		}
	case transcript.Note:
		e.Text, e.Level = r.Note, r.Level
	case transcript.TurnEnd:
		e.End, e.Code, e.Error = r.End, r.Code, r.Error
	case transcript.Boundary:
		e.Border, e.Text = r.Border, r.Note
	case transcript.TurnStart, transcript.StepStart, transcript.ToolStart, transcript.Todos, transcript.Setup,
		transcript.Edit, transcript.Retry, transcript.Question, transcript.Answer:
		return e, false
	default: // of a newer version
		return e, false
	}
	return e, true
}

func (d *document) parts(in []model.Part) []part {
	out := make([]part, 0, len(in))
	for i := range in {
		p := &in[i]
		if p.Kind == model.Reasoning && (!d.reasoning || p.Text == "") {
			continue
		}
		out = append(out, part{Kind: p.Kind, Text: p.Text, Name: p.Name, CallID: p.CallID, Input: p.Input, Mime: p.Mime,
			Blob: p.Blob, Sources: p.Sources})
	}
	return out
}

// encode gives a value's JSON on one line.
func encode(v any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return string(bytes.TrimRight(b.Bytes(), "\n")), err
}
