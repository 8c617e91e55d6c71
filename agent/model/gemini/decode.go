package gemini

import (
	"encoding/json"
	"strconv"
	"strings"

	"carrel/agent/model"
	"carrel/agent/model/wire"
)

// event is one piece of a response.
type event struct {
	Candidates []struct {
		Content struct {
			Parts []json.RawMessage `json:"parts"`
		} `json:"content"`
		Finish    string    `json:"finishReason"`
		Message   string    `json:"finishMessage"`
		Grounding grounding `json:"groundingMetadata"`
	} `json:"candidates"`
	Feedback struct {
		Block string `json:"blockReason"`
	} `json:"promptFeedback"`
	Usage *usage          `json:"usageMetadata"`
	Error json.RawMessage `json:"error"`
}

type part struct {
	Text      string `json:"text"`
	Thought   bool   `json:"thought"`
	Signature string `json:"thoughtSignature"`
	Call      *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
	Use    *native `json:"toolCall"`
	Result *native `json:"toolResponse"`
}

// usage is cumulative: each one replaces the one before.
type usage struct {
	Prompt   int64 `json:"promptTokenCount"`
	Tools    int64 `json:"toolUsePromptTokenCount"`
	Cached   int64 `json:"cachedContentTokenCount"`
	Answer   int64 `json:"candidatesTokenCount"`
	Thoughts int64 `json:"thoughtsTokenCount"`
}

func (u usage) tokens() model.Usage {
	return model.Usage{
		Input:     max(0, u.Prompt-u.Cached) + u.Tools,
		Output:    u.Answer + u.Thoughts,
		Reasoning: u.Thoughts,
		CacheRead: u.Cached,
	}
}

type decoder struct {
	parts    int
	open     string     // key of the text or thought that streams; "" none
	kind     model.Kind // of it
	signed   bool       // it has its signature, so that nothing more belongs to it
	usage    model.Usage
	counted  bool // a count of tokens came
	searches int64
	searched bool // a native part tells of the search
	ended    bool
}

// Decode understands one event.
func (d *decoder) Decode(data []byte, a *wire.Accumulator) error {
	var e event
	if err := wire.Unmarshal(data, &e); err != nil {
		return err
	}
	if len(e.Error) > 0 && string(e.Error) != "null" {
		return inStream(e.Error)
	}
	if len(e.Candidates) > 0 {
		c := e.Candidates[0] // no more than one is asked for
		for _, raw := range c.Content.Parts {
			if err := d.part(raw, a); err != nil {
				return err
			}
		}
		d.ground(c.Grounding, a)
		if err := d.finish(c.Finish, c.Message, a); err != nil {
			return err
		}
	}
	d.count(e.Usage, a)
	if e.Feedback.Block != "" {
		a.Finish(model.StopFilter)
		return wire.ErrDone
	}
	if d.ended && d.counted {
		return wire.ErrDone
	}
	return nil
}

func (d *decoder) count(u *usage, a *wire.Accumulator) {
	if u == nil && d.usage.Searches == d.searches {
		return
	}
	now := d.usage
	if u != nil {
		now, d.counted = u.tokens(), true
	}
	now.Searches = d.searches
	if now != d.usage {
		d.usage = now
		a.Usage(now)
	}
}

func (d *decoder) part(raw json.RawMessage, a *wire.Accumulator) error {
	var p part
	if err := wire.Unmarshal(raw, &p); err != nil {
		return err
	}
	switch {
	case p.Call != nil:
		d.close(a)
		key := d.next()
		a.Start(key, model.Part{Kind: model.ToolCall, CallID: p.Call.ID, Name: p.Call.Name, Signature: p.Signature})
		args := string(p.Call.Args)
		if args == "" || args == "null" {
			args = "{}"
		}
		a.Add(key, model.ToolCall, args)
		a.End(key)
	case p.Use != nil:
		return d.native(p.Use, "args", raw, a)
	case p.Result != nil:
		return d.native(p.Result, "", raw, a)
	case p.Thought:
		d.say(model.Reasoning, p.Text, a)
	case p.Text != "" || p.Signature != "":
		return d.text(p, a)
	}
	return nil
}

func (d *decoder) next() string {
	d.parts++
	return strconv.Itoa(d.parts)
}

func (d *decoder) close(a *wire.Accumulator) {
	a.End(d.open)
	d.open, d.signed = "", false
}

// say adds to the text or the thought that streams, or starts one.
func (d *decoder) say(kind model.Kind, text string, a *wire.Accumulator) {
	if d.open != "" && (d.kind != kind || d.signed) {
		d.close(a)
	}
	if d.open == "" {
		if text == "" {
			return
		}
		d.open, d.kind = d.next(), kind
	}
	a.Add(d.open, kind, text)
}

// text adds to a text; a signature stays with the piece that it came with. One without any text
// before it says nothing that could be sent back.
func (d *decoder) text(p part, a *wire.Accumulator) error {
	from := 0
	if d.open != "" && d.kind == model.Text && !d.signed {
		before, _ := a.Text(d.open)
		from = len(before)
	}
	if p.Text == "" && (d.open == "" || d.kind != model.Text || d.signed) {
		return nil
	}
	d.say(model.Text, p.Text, a)
	if p.Signature == "" {
		return nil
	}
	d.signed = true
	a.Sign(d.open, p.Signature)
	return a.Opaque(d.open, wire.Encode(wire.Obj("from", from)))
}

// finish takes the reason for the end, if there is one.
func (d *decoder) finish(reason, message string, a *wire.Accumulator) error {
	if reason == "" || reason == "FINISH_REASON_UNSPECIFIED" {
		return nil
	}
	stop := model.StopEnd
	switch reason {
	case "STOP":
		if a.HasCall() {
			stop = model.StopTools
		}
	case "MAX_TOKENS":
		stop = model.StopLength
	case "SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY",
		"IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION":
		stop = model.StopFilter
	default: // a malformed call, a call of no tool and the like: worth another try
		text := "the model ended with " + strings.ToLower(strings.ReplaceAll(reason, "_", " "))
		if message != "" {
			text += ": " + message
		}
		return &model.Error{Kind: model.ErrServer, Code: reason, Message: text}
	}
	d.close(a)
	d.ended = true
	a.Finish(stop)
	return nil
}
