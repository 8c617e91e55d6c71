package turn

import (
	"slices"

	"carrel/agent/model"
	"carrel/agent/transcript"
)

// keptBlobs is how many bytes of files a conversation keeps in memory, so that a step does not read
// them again.
const keptBlobs = 16 << 20

// What stands in a request for what it leaves out.
const (
	textLost    = "[a file that was here is lost]"
	textPicture = "[a picture that was here is left out: the model can't take it]"
)

// bare says of how many messages, from the first of the history on, a request leaves something out;
// -1: of all.
type bare struct{ thinking, files int }

// form is everything that a request is made of beside the history.
type form struct {
	end     Endpoint
	system  string
	tools   []model.Tool
	key     string
	force   string
	oneTool bool
	bare    bare
}

// built is a request with what the log has to say of it.
type built struct {
	req   *model.Request
	frame *transcript.Frame
	count int // messages of the history
	draft *draft
}

// draft is what building a request keeps for the next one. Only one goroutine has it.
type draft struct {
	log   *transcript.Log
	blobs map[string][]byte
	size  int // bytes in blobs
}

// build makes the request of a step. It is a function of the log and the form, so that each request
// begins with the bytes of the one before.
func (d *draft) build(f form) (built, error) {
	history, err := d.log.History()
	if err != nil {
		return built{}, err
	}
	req := &model.Request{Model: f.end.Name, System: f.system, Tools: f.tools, CacheKey: f.key, Force: f.force, OneTool: f.oneTool}
	if f.end.Prepare != nil {
		f.end.Prepare(req)
	}
	if !f.end.Images {
		f.bare.files = -1
	}
	f.bare.thinking, f.bare.files = min(f.bare.thinking, len(history)), min(f.bare.files, len(history))
	frame, err := d.log.PutFrame(req, f.end.ID, f.end.Level)
	if err != nil {
		return built{}, err
	}
	named := *frame
	named.BareThinking, named.BareFiles = f.bare.thinking, f.bare.files
	if req.Messages, err = d.messages(history, f.bare); err != nil {
		return built{}, err
	}
	return built{req: req, frame: &named, count: len(history), draft: d}, nil
}

// messages makes the history fit for the wire. It is pure apart from reading blobs.
func (d *draft) messages(history []model.Message, b bare) ([]model.Message, error) {
	msgs := model.Repair(strip(history, b))
	var err error
	for i := range msgs {
		if msgs[i].Parts, err = d.withData(msgs[i].Parts); err != nil {
			return nil, err
		}
	}
	return msgs, nil
}

// strip leaves out what providers refused, in copies.
func strip(history []model.Message, b bare) []model.Message {
	upTo := func(n int) int {
		if n < 0 {
			return len(history)
		}
		return min(n, len(history))
	}
	thinking, files := upTo(b.thinking), upTo(b.files)
	if thinking == 0 && files == 0 {
		return history
	}
	out := slices.Clone(history)
	for i := range max(thinking, files) {
		out[i].Parts = stripParts(out[i].Parts, i < thinking, i < files)
	}
	return out
}

func stripParts(parts []model.Part, thinking, files bool) []model.Part {
	out := make([]model.Part, 0, len(parts))
	for _, p := range parts {
		switch {
		case thinking && p.Kind == model.Reasoning:
			continue
		case files && p.Kind == model.File:
			p = model.Part{Kind: model.Text, Text: textPicture}
		case files && len(p.Parts) > 0:
			p.Parts = stripParts(p.Parts, false, true)
		}
		out = append(out, p)
	}
	return out
}

// withData fills the data of files from the blobs, in a copy where there are any. A file whose blob
// is lost becomes a text that says so.
func (d *draft) withData(parts []model.Part) ([]model.Part, error) {
	copied := false
	for i, p := range parts {
		file := p.Kind == model.File && p.Blob != "" && p.Data == nil
		if !file && len(p.Parts) == 0 {
			continue
		}
		if file {
			data, err := d.blob(p.Blob)
			if err != nil {
				p = model.Part{Kind: model.Text, Text: textLost}
			}
			p.Data = data
		} else {
			inner, err := d.withData(p.Parts)
			if err != nil {
				return nil, err
			}
			p.Parts = inner
		}
		if !copied {
			parts, copied = slices.Clone(parts), true
		}
		parts[i] = p
	}
	return parts, nil
}

func (d *draft) blob(hash string) ([]byte, error) {
	if data, ok := d.blobs[hash]; ok {
		return data, nil
	}
	data, err := d.log.Blob(hash)
	if err == nil && d.size+len(data) <= keptBlobs {
		d.blobs[hash], d.size = data, d.size+len(data)
	}
	return data, err
}

// form is the one of the turn's next request.
func (c *Conversation) form(t *openTurn) form {
	f := form{end: t.end, system: *c.system, tools: c.specs, key: c.cfg.Workspace, oneTool: c.cfg.OneTool, bare: t.bare}
	if c.cfg.Force != nil {
		f.force = c.cfg.Force(t.before)
	}
	return f
}

// strip changes what the next request leaves out, after a provider refused this one for a reason
// that it gives in words only: first the old reasoning, whose signature it may not like, then the
// pictures. It is false when there is nothing to leave out.
func (c *Conversation) strip(t *openTurn, req *model.Request) bool {
	has := func(k model.Kind) bool {
		return slices.ContainsFunc(req.Messages, func(m model.Message) bool { return holds(m.Parts, k) })
	}
	switch {
	case !t.stripped.thinking && has(model.Reasoning):
		t.stripped.thinking = true
		t.bare.thinking = t.count
	case !t.stripped.files && has(model.File):
		t.stripped.files = true
		t.bare.files = t.count
	default:
		return false
	}
	return true
}

func holds(parts []model.Part, k model.Kind) bool {
	return slices.ContainsFunc(parts, func(p model.Part) bool { return p.Kind == k || holds(p.Parts, k) })
}
