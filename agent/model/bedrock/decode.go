package bedrock

import (
	"encoding/json"
	"strconv"

	"carrel/agent/model"
	"carrel/agent/model/wire"
)

// event holds the fields of every kind of event of Bedrock's own format; one of them is set.
type event struct {
	Start *struct {
		Index int `json:"contentBlockIndex"`
		Start struct {
			Tool *struct {
				ID   string `json:"toolUseId"`
				Name string `json:"name"`
			} `json:"toolUse"`
		} `json:"start"`
	} `json:"contentBlockStart"`
	Delta *struct {
		Index int   `json:"contentBlockIndex"`
		Delta delta `json:"delta"`
	} `json:"contentBlockDelta"`
	End *struct {
		Index int `json:"contentBlockIndex"`
	} `json:"contentBlockStop"`
	Stop *struct {
		Reason string `json:"stopReason"`
	} `json:"messageStop"`
	Metadata *struct {
		Usage *usage `json:"usage"`
		Tier  struct {
			Type string `json:"type"`
		} `json:"serviceTier"`
	} `json:"metadata"`
}

type delta struct {
	Text *string `json:"text"`
	Tool *struct {
		Input string `json:"input"`
	} `json:"toolUse"`
	Reasoning *struct {
		Text      string          `json:"text"`
		Signature string          `json:"signature"`
		Redacted  json.RawMessage `json:"redactedContent"`
	} `json:"reasoningContent"`
}

type usage struct {
	Input      int64 `json:"inputTokens"` // without those of the cache
	Output     int64 `json:"outputTokens"`
	CacheRead  int64 `json:"cacheReadInputTokens"`
	CacheWrite int64 `json:"cacheWriteInputTokens"`
}

type decoder struct {
	counted bool
	ended   bool
}

// Decode understands one event.
func (d *decoder) Decode(data []byte, a *wire.Accumulator) error {
	var e event
	if err := wire.Unmarshal(data, &e); err != nil {
		return err
	}
	switch {
	case e.Start != nil:
		if t := e.Start.Start.Tool; t != nil {
			a.Start(strconv.Itoa(e.Start.Index), model.Part{Kind: model.ToolCall, CallID: t.ID, Name: t.Name})
		}
	case e.Delta != nil:
		return e.Delta.Delta.add(strconv.Itoa(e.Delta.Index), a)
	case e.End != nil:
		a.End(strconv.Itoa(e.End.Index))
	case e.Stop != nil:
		s, err := stop(e.Stop.Reason)
		if err != nil {
			return err
		}
		d.ended = true
		a.Finish(s)
	case e.Metadata != nil:
		d.count(e.Metadata.Usage, a)
		a.Tier(e.Metadata.Tier.Type)
	}
	if d.ended && d.counted {
		return wire.ErrDone
	}
	return nil
}

func (d *decoder) count(u *usage, a *wire.Accumulator) {
	if u == nil {
		return
	}
	d.counted = true
	a.Usage(model.Usage{Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite})
}

func (p delta) add(key string, a *wire.Accumulator) error {
	switch {
	case p.Text != nil:
		a.Add(key, model.Text, *p.Text)
	case p.Tool != nil:
		if a.Has(key) { // else it is a call of which neither id nor name is known
			a.Add(key, model.ToolCall, p.Tool.Input)
		}
	case p.Reasoning != nil:
		a.Add(key, model.Reasoning, p.Reasoning.Text)
		a.Sign(key, p.Reasoning.Signature)
		if len(p.Reasoning.Redacted) > 0 {
			return a.Opaque(key, p.Reasoning.Redacted)
		}
	}
	return nil
}

func stop(reason string) (model.Stop, error) {
	switch reason {
	case "tool_use":
		return model.StopTools, nil
	case "max_tokens":
		return model.StopLength, nil
	case "model_context_window_exceeded":
		return model.StopOverflow, nil
	case "guardrail_intervened", "content_filtered":
		return model.StopFilter, nil
	case "malformed_model_output", "malformed_tool_use": // worth another try
		return "", &model.Error{Kind: model.ErrServer, Code: reason, Message: "the model's output was malformed"}
	}
	return model.StopEnd, nil
}
