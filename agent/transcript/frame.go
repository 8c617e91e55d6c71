package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"carrel/agent/model"
)

// Frame is what surrounds the messages in a request. Two frames that are equal make requests of
// equal bytes from equal messages.
type Frame struct {
	System string `json:"system,omitempty"` // blob of the system prompt, "" for none
	Tools  string `json:"tools,omitempty"`  // blob of the tools, "" for none
	Model  string `json:"model"`            // provider:id
	Name   string `json:"name"`             // the provider's own id
	Level  string `json:"level,omitempty"`  // how hard the model thinks, in a person's terms
	// Options is the JSON of everything else in the request.
	Options json.RawMessage `json:"options,omitempty"`
	// BareThinking and BareFiles are of how many messages, from the first of the history on, the
	// reasoning and the files are left out; -1: of all. PutFrame leaves them 0.
	BareThinking int `json:"bareThinking,omitempty"`
	BareFiles    int `json:"bareFiles,omitempty"`
}

// leftOut is what a model reads in the place of a file that it can't take.
const leftOut = "[a picture that was here is left out: the model can't take it]"

// Bare leaves out of the messages what BareThinking and BareFiles say, in copies.
func (f *Frame) Bare(msgs []model.Message) []model.Message {
	upTo := func(n int) int {
		if n < 0 {
			return len(msgs)
		}
		return min(n, len(msgs))
	}
	thinking, files := upTo(f.BareThinking), upTo(f.BareFiles)
	if thinking == 0 && files == 0 {
		return msgs
	}
	msgs = slices.Clone(msgs)
	for i := range max(thinking, files) {
		msgs[i].Parts = bareParts(msgs[i].Parts, i < thinking, i < files)
	}
	return msgs
}

func bareParts(parts []model.Part, thinking, files bool) []model.Part {
	out := make([]model.Part, 0, len(parts))
	for _, p := range parts {
		switch {
		case thinking && p.Kind == model.Reasoning:
			continue
		case files && p.Kind == model.File:
			p = model.Part{Kind: model.Text, Text: leftOut}
		case files && len(p.Parts) > 0:
			p.Parts = bareParts(p.Parts, false, true)
		}
		out = append(out, p)
	}
	return out
}

// Equal reports whether two frames are equal. Nil equals nil alone.
func (f *Frame) Equal(o *Frame) bool {
	if f == nil || o == nil {
		return f == o
	}
	return f.System == o.System && f.Tools == o.Tools && f.Model == o.Model && f.Name == o.Name &&
		f.Level == o.Level && f.BareThinking == o.BareThinking && f.BareFiles == o.BareFiles && bytes.Equal(f.Options, o.Options)
}

// toolForm is how a tool is kept. The schema is text, so that its bytes stay.
type toolForm struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Schema      string `json:"schema"`
}

// lastFrame remembers the frame that was made or read last, so that a step costs a comparison.
type lastFrame struct {
	asked model.Request // without Messages; zero when it was read
	made  bool
	given model.Request // as Request gives it
	frame *Frame
}

// PutFrame keeps what surrounds the messages in r as blobs and gives the frame that names them, for
// a Setup record. ID is "provider:id", level a person's. The blobs are on disk when it returns.
// Request with the frame gives back an equal request, apart from spaces in raw JSON.
func (l *Log) PutFrame(r *model.Request, id, level string) (*Frame, error) {
	bare := *r
	bare.Messages = nil
	l.mu.Lock()
	last := l.framed
	l.mu.Unlock()
	if last != nil && last.made && last.frame.Model == id && last.frame.Level == level && reflect.DeepEqual(last.asked, bare) {
		return last.frame, nil
	}
	f := &Frame{Model: id, Name: r.Model, Level: level}
	rest := bare
	rest.Model, rest.System, rest.Tools = "", "", nil
	var err error
	if f.Options, err = canonical(rest); err == nil && r.System != "" {
		f.System, err = l.PutBlob([]byte(r.System), "text/plain")
	}
	if err == nil && len(r.Tools) > 0 {
		forms := make([]toolForm, len(r.Tools))
		for i, t := range r.Tools {
			forms[i] = toolForm{t.Name, t.Description, string(t.Schema)}
		}
		var raw []byte
		if raw, err = canonical(forms); err == nil {
			f.Tools, err = l.PutBlob(raw, "application/json")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("put frame: %w", err)
	}
	given, err := l.readFrame(f)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.framed = &lastFrame{asked: bare, made: true, given: *given, frame: f}
	return f, nil
}

// Request gives the request of a frame, without messages. ErrNoBlob is wrapped when a blob of it is
// lost.
func (l *Log) Request(f *Frame) (*model.Request, error) {
	l.mu.Lock()
	last := l.framed
	l.mu.Unlock()
	if last != nil && f.Equal(last.frame) {
		r := last.given
		return &r, nil
	}
	r, err := l.readFrame(f)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.framed = &lastFrame{given: *r, frame: f}
	out := *r
	return &out, nil
}

func (l *Log) readFrame(f *Frame) (*model.Request, error) {
	var r model.Request
	if len(f.Options) > 0 {
		if err := json.Unmarshal(f.Options, &r); err != nil {
			return nil, fmt.Errorf("read frame: options: %w", err)
		}
	}
	r.Model = f.Name
	if f.System != "" {
		system, err := l.Blob(f.System)
		if err != nil {
			return nil, fmt.Errorf("read frame: system prompt: %w", err)
		}
		r.System = string(system)
	}
	if f.Tools == "" {
		return &r, nil
	}
	raw, err := l.Blob(f.Tools)
	if err != nil {
		return nil, fmt.Errorf("read frame: tools: %w", err)
	}
	var forms []toolForm
	if err := json.Unmarshal(raw, &forms); err != nil {
		return nil, fmt.Errorf("read frame: tools: %w", err)
	}
	for _, t := range forms {
		r.Tools = append(r.Tools, model.Tool{Name: t.Name, Description: t.Description, Schema: json.RawMessage(t.Schema)})
	}
	return &r, nil
}

// canonical gives the one JSON form of v: fields in the order of their struct, keys of maps sorted.
func canonical(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), nil
}
