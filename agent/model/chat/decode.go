package chat

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"

	"carrel/agent/model"
	"carrel/agent/model/wire"
)

type chunk struct {
	Choices []struct {
		Delta  delta  `json:"delta"`
		Finish string `json:"finish_reason"`
	} `json:"choices"`
	Usage *usage          `json:"usage"`
	Error json.RawMessage `json:"error"`
}

type delta struct {
	Content          string          `json:"content"`
	Refusal          string          `json:"refusal"`
	ReasoningContent string          `json:"reasoning_content"`
	Reasoning        string          `json:"reasoning"`
	Details          json.RawMessage `json:"reasoning_details"`
	ToolCalls        []toolCall      `json:"tool_calls"`
}

type toolCall struct {
	Index    int    `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

type usage struct {
	Prompt        int64 `json:"prompt_tokens"`
	Completion    int64 `json:"completion_tokens"`
	PromptDetails struct {
		Cached int64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	// DeepSeek's and Moonshot's own names for cached tokens.
	CacheHit int64 `json:"prompt_cache_hit_tokens"`
	Cached   int64 `json:"cached_tokens"`
}

func (u usage) tokens() model.Usage {
	cached := max(u.PromptDetails.Cached, u.CacheHit, u.Cached)
	return model.Usage{
		Input:     max(0, u.Prompt-cached),
		Output:    u.Completion,
		Reasoning: u.CompletionDetails.Reasoning,
		CacheRead: cached,
	}
}

// decoder finds the parts in a format that does not delimit them: text and reasoning end when
// another kind of content begins, calls end with the response.
type decoder struct {
	current string // key of the text or reasoning that streams, "" when none does
	kind    model.Kind
	parts   int            // how many there are, for their keys
	calls   map[int]string // keys of the calls by their index
	details []byte
}

// Decode understands one event.
func (d *decoder) Decode(data []byte, a *wire.Accumulator) error {
	if string(bytes.TrimSpace(data)) == "[DONE]" {
		if a.Message().Stop == "" {
			return io.ErrUnexpectedEOF // cut by something in between
		}
		return wire.ErrDone
	}
	var c chunk
	if err := wire.Unmarshal(data, &c); err != nil {
		return err
	}
	if code, kind, text := wire.ErrorObject(c.Error); text != "" {
		return wire.InStream(text, code, kind)
	}
	if c.Usage != nil {
		a.Usage(c.Usage.tokens())
	}
	for _, choice := range c.Choices {
		if a.Message().Stop != "" {
			break
		}
		if err := d.add(&choice.Delta, a); err != nil {
			return err
		}
		if choice.Finish != "" {
			return d.finish(choice.Finish, a)
		}
	}
	return nil
}

func (d *decoder) add(c *delta, a *wire.Accumulator) error {
	thought := c.ReasoningContent
	if thought == "" {
		thought = c.Reasoning
	}
	if thought != "" || len(c.Details) > len("null") {
		if err := d.open(model.Reasoning, a); err != nil {
			return err
		}
		a.Add(d.current, model.Reasoning, thought)
		d.keep(c.Details)
	}
	if text := c.Content + c.Refusal; text != "" {
		if err := d.open(model.Text, a); err != nil {
			return err
		}
		a.Add(d.current, model.Text, text)
	}
	for _, call := range c.ToolCalls {
		if err := d.call(&call, a); err != nil {
			return err
		}
	}
	return nil
}

// open makes the part that streams one of that kind.
func (d *decoder) open(kind model.Kind, a *wire.Accumulator) error {
	if d.current != "" && d.kind == kind {
		return nil
	}
	if err := d.end(a); err != nil {
		return err
	}
	d.current, d.kind = d.key(), kind
	a.Start(d.current, model.Part{Kind: kind})
	return nil
}

// end closes the text or reasoning that streams.
func (d *decoder) end(a *wire.Accumulator) error {
	if d.current == "" {
		return nil
	}
	if d.details != nil {
		if err := a.Opaque(d.current, d.details); err != nil {
			return err
		}
	}
	a.End(d.current)
	d.current, d.details = "", nil
	return nil
}

func (d *decoder) key() string {
	d.parts++
	return strconv.Itoa(d.parts)
}

// keep collects the sealed details of reasoning into one list.
func (d *decoder) keep(details json.RawMessage) {
	details = bytes.TrimSpace(details)
	switch {
	case len(details) <= len("[]") || details[0] != '[':
	case d.details == nil:
		d.details = bytes.Clone(details)
	default:
		d.details = append(append(d.details[:len(d.details)-1], ','), details[1:]...)
	}
}

// call adds to a call, or starts one: some servers number all calls 0, so a new id counts too.
func (d *decoder) call(c *toolCall, a *wire.Accumulator) error {
	key, known := d.calls[c.Index]
	if !known || c.ID != "" && c.Function.Name != "" && c.ID != a.CallID(key) {
		if c.Function.Name == "" {
			return nil // the rest of a call of which nothing is known
		}
		if err := d.end(a); err != nil {
			return err
		}
		key = d.key()
		if d.calls == nil {
			d.calls = map[int]string{}
		}
		d.calls[c.Index] = key
		a.Start(key, model.Part{Kind: model.ToolCall, CallID: c.ID, Name: c.Function.Name})
	}
	a.Add(key, model.ToolCall, c.Function.Arguments)
	return nil
}

func (d *decoder) finish(reason string, a *wire.Accumulator) error {
	if err := d.end(a); err != nil {
		return err
	}
	switch reason {
	case "length":
		a.Finish(model.StopLength) // its calls stay open
	case "content_filter":
		a.Finish(model.StopFilter)
	case "error", "insufficient_system_resource":
		return wire.InStream("the provider broke off: "+reason, "server_error")
	default:
		for n := range d.parts {
			a.End(strconv.Itoa(n + 1))
		}
		if a.HasCall() {
			a.Finish(model.StopTools)
		} else {
			a.Finish(model.StopEnd)
		}
	}
	return nil
}
