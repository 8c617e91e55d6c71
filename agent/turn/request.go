package turn

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"carrel/agent/model"
	"carrel/agent/transcript"
)

// keptBlobs is how many bytes of files a conversation keeps in memory, so that a step does not read
// them again.
const keptBlobs = 16 << 20

// textLost stands for a file whose blob is gone, as in transcript.Log.WithFiles.
const textLost = "[a file that was here is lost]"

// errUnsaved is joined when the log can't keep what a request is made of.
var errUnsaved = errors.New("it can't be recorded")

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
	// light has, for the messages of the last request, the first part of those that hold no file: by its
	// memory they are known again.
	light []*model.Part
}

// build makes the request of a step. It is a function of the log and the form, so that each request
// begins with the bytes of the one before.
func (d *draft) build(f form) (built, error) {
	req := &model.Request{Model: f.end.Name, System: f.system, Tools: f.tools, CacheKey: f.key, Force: f.force, OneTool: f.oneTool}
	if f.end.Prepare != nil {
		f.end.Prepare(req)
	}
	var err error
	if req.Params.Extra, err = compact(req.Params.Extra); err != nil {
		return built{}, err
	}
	if !f.end.Images {
		f.bare.files = -1
	}
	history, err := d.log.History()
	if err != nil {
		return built{}, err
	}
	f.bare.thinking, f.bare.files = min(f.bare.thinking, len(history)), min(f.bare.files, len(history))
	frame, err := d.log.PutFrame(req, f.end.ID, f.end.Level)
	if err != nil {
		return built{}, errors.Join(errUnsaved, err)
	}
	named := *frame
	named.BareThinking, named.BareFiles = f.bare.thinking, f.bare.files
	if req.Messages, err = d.messages(named.Bare(history)); err != nil {
		return built{}, err
	}
	return built{req: req, frame: &named, count: len(history), draft: d}, nil
}

// compact gives the form of further fields that comes back from the log.
func compact(extra map[string]json.RawMessage) (map[string]json.RawMessage, error) {
	if len(extra) == 0 {
		return nil, nil
	}
	out := make(map[string]json.RawMessage, len(extra))
	for name, raw := range extra {
		var b bytes.Buffer
		if err := json.Compact(&b, raw); err != nil {
			return nil, fmt.Errorf("model parameter %q: %w", name, err)
		}
		out[name] = b.Bytes()
	}
	return out, nil
}

// messages fills in the data of files. What is not legal on the wire, the wire repairs: it knows which
// messages it has repaired and encoded already.
func (d *draft) messages(history []model.Message) ([]model.Message, error) {
	light := make([]*model.Part, len(history))
	for i := range history { // a slice of our own: History copied it, and so did Bare
		old := history[i].Parts
		if len(old) == 0 {
			continue
		}
		if i < len(d.light) && d.light[i] == &old[0] {
			light[i] = &old[0]
			continue
		}
		parts, err := d.withData(old)
		if err != nil {
			return nil, err
		}
		if history[i].Parts = parts; &parts[0] == &old[0] {
			light[i] = &old[0]
		}
	}
	d.light = light
	return history, nil
}

// withData fills the data of files from the blobs, in a copy where there are any. A file whose blob
// is lost becomes a text that says so.
func (d *draft) withData(parts []model.Part) ([]model.Part, error) {
	copied := false
	for i := range parts {
		p := &parts[i]
		var now model.Part
		switch {
		case p.Kind == model.File && p.Blob != "" && p.Data == nil:
			data, err := d.blob(p.Blob)
			if errors.Is(err, transcript.ErrNoBlob) {
				now = model.Part{Kind: model.Text, Text: textLost}
				break
			} else if err != nil {
				return nil, err
			}
			now = *p
			now.Data = data
		case len(p.Parts) > 0:
			inner, err := d.withData(p.Parts)
			if err != nil {
				return nil, err
			}
			if &inner[0] == &p.Parts[0] {
				continue
			}
			now = *p
			now.Parts = inner
		default:
			continue
		}
		if !copied {
			parts, copied = slices.Clone(parts), true
		}
		parts[i] = now
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
