package anthropic

import (
	"encoding/json"
	"strconv"
	"strings"

	"carrel/agent/model"
	"carrel/agent/model/wire"
)

// event holds the fields of every kind of event.
type event struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message struct {
		Usage usage `json:"usage"`
	} `json:"message"`
	Usage usage `json:"usage"`
	Block block `json:"content_block"`
	Delta struct {
		Type        string          `json:"type"`
		Text        string          `json:"text"`
		Thinking    string          `json:"thinking"`
		Signature   string          `json:"signature"`
		PartialJSON string          `json:"partial_json"`
		Citation    json.RawMessage `json:"citation"`
		StopReason  string          `json:"stop_reason"`
	} `json:"delta"`
	Error struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`

	data []byte // of the whole event
}

type block struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Data      json.RawMessage `json:"data"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
}

// raw is the block as it came.
func (e *event) raw() json.RawMessage {
	var whole struct {
		Block json.RawMessage `json:"content_block"`
	}
	if json.Unmarshal(e.data, &whole) != nil {
		return nil // can't be: the event was read before
	}
	return whole.Block
}

// usage is cumulative; a count that is missing is as it was.
type usage struct {
	Input      *int64 `json:"input_tokens"`
	Output     *int64 `json:"output_tokens"`
	CacheRead  *int64 `json:"cache_read_input_tokens"`
	CacheWrite *int64 `json:"cache_creation_input_tokens"`
	Creation   struct {
		Hour *int64 `json:"ephemeral_1h_input_tokens"`
	} `json:"cache_creation"`
	Native struct {
		Searches *int64 `json:"web_search_requests"`
	} `json:"server_tool_use"`
	Tier  string `json:"service_tier"`
	Speed string `json:"speed"`
}

// over reports the counts and the tier.
func (u usage) over(a *wire.Accumulator) {
	now := a.Used()
	set := func(to *int64, v *int64) {
		if v != nil {
			*to = *v
		}
	}
	set(&now.Output, u.Output)
	set(&now.Input, u.Input)
	set(&now.CacheRead, u.CacheRead)
	set(&now.CacheWrite, u.CacheWrite)
	set(&now.CacheWriteHour, u.Creation.Hour)
	set(&now.Searches, u.Native.Searches)
	a.Usage(now)
	if u.Speed != "" {
		a.Tier(u.Speed)
	} else if a.Message().Tier == "" {
		a.Tier(u.Tier)
	}
}

// decoder remembers what is known only when a block or the response has ended.
type decoder struct {
	stop   string
	blocks map[string]*pending
}

// pending is a block that streams.
type pending struct {
	use       *block // of a native tool
	input     strings.Builder
	citations []any
}

func (d *decoder) block(key string) *pending {
	if d.blocks == nil {
		d.blocks = map[string]*pending{}
	}
	if d.blocks[key] == nil {
		d.blocks[key] = &pending{}
	}
	return d.blocks[key]
}

// Decode understands one event.
func (d *decoder) Decode(data []byte, a *wire.Accumulator) error {
	e := event{data: data}
	if err := wire.Unmarshal(data, &e); err != nil {
		return err
	}
	key := strconv.Itoa(e.Index)
	switch e.Type {
	case "message_start":
		e.Message.Usage.over(a)
	case "content_block_start":
		return d.start(key, &e, a)
	case "content_block_delta":
		d.delta(key, &e, a)
	case "content_block_stop":
		return d.end(key, a)
	case "message_delta":
		e.Usage.over(a)
		if e.Delta.StopReason != "" {
			d.stop = e.Delta.StopReason
		}
	case "message_stop":
		a.Finish(stop(d.stop))
		return wire.ErrDone
	case "error":
		return wire.InStream(e.Error.Message, e.Error.Type)
	}
	return nil
}

func (d *decoder) start(key string, e *event, a *wire.Accumulator) error {
	delete(d.blocks, key)
	switch e.Block.Type {
	case "text":
		a.Start(key, model.Part{Kind: model.Text, Text: e.Block.Text})
	case "thinking":
		a.Start(key, model.Part{Kind: model.Reasoning, Text: e.Block.Thinking})
		a.Sign(key, e.Block.Signature)
	case "redacted_thinking":
		a.Start(key, model.Part{Kind: model.Reasoning})
		return a.Opaque(key, e.Block.Data)
	case "tool_use":
		a.Start(key, model.Part{Kind: model.ToolCall, CallID: e.Block.ID, Name: e.Block.Name})
	default:
		return d.startNative(key, e, a)
	}
	return nil
}

func (d *decoder) delta(key string, e *event, a *wire.Accumulator) {
	switch e.Delta.Type {
	case "text_delta":
		a.Add(key, model.Text, e.Delta.Text)
	case "thinking_delta":
		a.Add(key, model.Reasoning, e.Delta.Thinking)
	case "signature_delta":
		a.Sign(key, e.Delta.Signature)
	case "citations_delta":
		d.cite(key, e.Delta.Citation, a)
	case "input_json_delta":
		if b := d.block(key); b.use != nil {
			a.Hold(len(e.Delta.PartialJSON))
			b.input.WriteString(e.Delta.PartialJSON)
			return
		}
		a.Add(key, model.ToolCall, e.Delta.PartialJSON)
	}
}

func (d *decoder) end(key string, a *wire.Accumulator) error {
	var err error
	switch b := d.blocks[key]; {
	case b == nil || !a.Has(key):
	case b.use != nil:
		err = d.endNative(key, a)
	case b.citations != nil:
		err = d.endCited(key, a)
	}
	a.End(key)
	delete(d.blocks, key)
	return err
}

func stop(reason string) model.Stop {
	switch reason {
	case "tool_use":
		return model.StopTools
	case "max_tokens":
		return model.StopLength
	case "model_context_window_exceeded":
		return model.StopOverflow
	case "refusal":
		return model.StopFilter
	case "pause_turn":
		return model.StopPause
	}
	return model.StopEnd
}
