package anthropic

import (
	"encoding/json"
	"strconv"

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
	Block struct {
		Type     string          `json:"type"`
		ID       string          `json:"id"`
		Name     string          `json:"name"`
		Text     string          `json:"text"`
		Thinking string          `json:"thinking"`
		Data     json.RawMessage `json:"data"`
	} `json:"content_block"`
	Delta struct {
		Type        string `json:"type"`
		Text        string `json:"text"`
		Thinking    string `json:"thinking"`
		Signature   string `json:"signature"`
		PartialJSON string `json:"partial_json"`
		StopReason  string `json:"stop_reason"`
	} `json:"delta"`
	Error struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
}

// usage is cumulative; a count that is missing is as it was.
type usage struct {
	Input      *int64 `json:"input_tokens"`
	Output     *int64 `json:"output_tokens"`
	CacheRead  *int64 `json:"cache_read_input_tokens"`
	CacheWrite *int64 `json:"cache_creation_input_tokens"`
}

func (u usage) over(now model.Usage) model.Usage {
	set := func(to *int64, v *int64) {
		if v != nil {
			*to = *v
		}
	}
	set(&now.Output, u.Output)
	set(&now.Input, u.Input)
	set(&now.CacheRead, u.CacheRead)
	set(&now.CacheWrite, u.CacheWrite)
	return now
}

// decoder remembers why the response ends until it has ended.
type decoder struct{ stop string }

// Decode understands one event.
func (d *decoder) Decode(data []byte, a *wire.Accumulator) error {
	var e event
	if err := wire.Unmarshal(data, &e); err != nil {
		return err
	}
	switch e.Type {
	case "message_start":
		a.Usage(e.Message.Usage.over(a.Message().Usage))
	case "content_block_start":
		return start(&e, a)
	case "content_block_delta":
		delta(&e, a)
	case "content_block_stop":
		a.End(strconv.Itoa(e.Index))
	case "message_delta":
		a.Usage(e.Usage.over(a.Message().Usage))
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

func start(e *event, a *wire.Accumulator) error {
	key := strconv.Itoa(e.Index)
	switch e.Block.Type {
	case "text":
		a.Start(key, model.Part{Kind: model.Text, Text: e.Block.Text})
	case "thinking":
		a.Start(key, model.Part{Kind: model.Reasoning, Text: e.Block.Thinking})
	case "redacted_thinking":
		a.Start(key, model.Part{Kind: model.Reasoning})
		return a.Opaque(key, e.Block.Data)
	case "tool_use":
		a.Start(key, model.Part{Kind: model.ToolCall, CallID: e.Block.ID, Name: e.Block.Name})
	}
	return nil
}

func delta(e *event, a *wire.Accumulator) {
	key := strconv.Itoa(e.Index)
	switch e.Delta.Type {
	case "text_delta":
		a.Add(key, model.Text, e.Delta.Text)
	case "thinking_delta":
		a.Add(key, model.Reasoning, e.Delta.Thinking)
	case "signature_delta":
		a.Sign(key, e.Delta.Signature)
	case "input_json_delta":
		a.Add(key, model.ToolCall, e.Delta.PartialJSON)
	}
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
