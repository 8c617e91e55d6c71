package responses

import (
	"encoding/json"
	"strconv"

	"carrel/agent/model"
	"carrel/agent/model/wire"
)

// event holds the fields of every kind of event.
type event struct {
	Type         string          `json:"type"`
	ItemID       string          `json:"item_id"`
	OutputIndex  *int            `json:"output_index"`
	SummaryIndex int             `json:"summary_index"`
	Delta        string          `json:"delta"`
	Item         json.RawMessage `json:"item"`
	Response     struct {
		Status string `json:"status"`
		Error  struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
		Incomplete struct {
			Reason string `json:"reason"`
		} `json:"incomplete_details"`
		Usage usage `json:"usage"`
	} `json:"response"`

	// The event "error" has these at the top, or in an object.
	Code    string          `json:"code"`
	Message string          `json:"message"`
	Error   json.RawMessage `json:"error"`
}

// key names the item that the event is about. The index comes first: some servers change the id
// from one event to the next.
func (e *event) key(id string) string {
	if e.OutputIndex != nil {
		return strconv.Itoa(*e.OutputIndex)
	}
	return "id " + id
}

type item struct {
	ID        string `json:"id"`
	Type      string `json:"type"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	CallID    string `json:"call_id"`
}

type usage struct {
	Input        int64 `json:"input_tokens"`
	Output       int64 `json:"output_tokens"`
	InputDetails struct {
		Cached int64 `json:"cached_tokens"`
	} `json:"input_tokens_details"`
	OutputDetails struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
}

func (u usage) tokens() model.Usage {
	return model.Usage{
		Input:     max(0, u.Input-u.InputDetails.Cached),
		Output:    u.Output,
		Reasoning: u.OutputDetails.Reasoning,
		CacheRead: u.InputDetails.Cached,
	}
}

type decoder struct{}

// Decode understands one event.
func (*decoder) Decode(data []byte, a *wire.Accumulator) error {
	var e event
	if err := wire.Unmarshal(data, &e); err != nil {
		return err
	}
	key := e.key(e.ItemID)
	switch e.Type {
	case "response.output_item.added", "response.output_item.done":
		return itemEvent(&e, a)
	case "response.output_text.delta", "response.refusal.delta":
		a.Add(key, model.Text, e.Delta)
	case "response.reasoning_summary_part.added":
		if e.SummaryIndex > 0 {
			a.Add(key, model.Reasoning, "\n\n")
		}
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		a.Add(key, model.Reasoning, e.Delta)
	case "response.function_call_arguments.delta":
		if a.Has(key) { // else it is a call of which neither id nor name is known
			a.Add(key, model.ToolCall, e.Delta)
		}
	case "response.completed", "response.incomplete":
		a.Usage(e.Response.Usage.tokens())
		return finish(&e, a)
	case "response.failed":
		return wire.InStream(e.Response.Error.Message, e.Response.Error.Code)
	case "error":
		if code, kind, text := wire.ErrorObject(e.Error); text != "" {
			return wire.InStream(text, code, kind)
		}
		return wire.InStream(e.Message, e.Code)
	}
	return nil
}

func itemEvent(e *event, a *wire.Accumulator) error {
	var it item
	if err := wire.Unmarshal(e.Item, &it); err != nil {
		return err
	}
	key := e.key(it.ID)
	if !a.Has(key) {
		switch it.Type {
		case "message":
			a.Start(key, model.Part{Kind: model.Text})
		case "reasoning":
			a.Start(key, model.Part{Kind: model.Reasoning})
		case "function_call":
			a.Start(key, model.Part{Kind: model.ToolCall, CallID: it.CallID, Name: it.Name})
		}
	}
	if e.Type == "response.output_item.added" {
		return nil
	}
	switch it.Type {
	case "reasoning":
		// Only the finished item has the sealed reasoning in its final form.
		if err := a.Opaque(key, e.Item); err != nil {
			return err
		}
	case "function_call":
		a.Arguments(key, it.Arguments)
	}
	a.End(key)
	return nil
}

func finish(e *event, a *wire.Accumulator) error {
	switch reason := e.Response.Incomplete.Reason; {
	case reason == "max_output_tokens":
		a.Finish(model.StopLength)
	case reason == "content_filter":
		a.Finish(model.StopFilter)
	case e.Type == "response.incomplete":
		return wire.InStream("the response is incomplete: "+reason, "server_error")
	case a.HasCall():
		a.Finish(model.StopTools)
	default:
		a.Finish(model.StopEnd)
	}
	return wire.ErrDone
}
