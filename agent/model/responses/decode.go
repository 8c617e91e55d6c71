package responses

import (
	"encoding/json"
	"strconv"
	"strings"

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
	Annotation   annotation      `json:"annotation"`
	Response     struct {
		Status string `json:"status"`
		Error  struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
		Incomplete struct {
			Reason string `json:"reason"`
		} `json:"incomplete_details"`
		Usage usage  `json:"usage"`
		Tier  string `json:"service_tier"`
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

type annotation struct {
	Type  string `json:"type"`
	URL   string `json:"url"`
	Title string `json:"title"`
}

func (n annotation) source() model.Source { return model.Source{URL: n.URL, Title: n.Title} }

type item struct {
	ID        string `json:"id"`
	Type      string `json:"type"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	CallID    string `json:"call_id"`
	Phase     string `json:"phase"`
	Content   []struct {
		Annotations []annotation `json:"annotations"`
	} `json:"content"`
	Action struct {
		Query   string       `json:"query"`
		URL     string       `json:"url"`
		Sources []annotation `json:"sources"`
	} `json:"action"`
}

// native is the name of the provider's own tool that an item is about, "" for other items.
func (it *item) native() string {
	name, ok := strings.CutSuffix(it.Type, "_call")
	if !ok || it.Type == "function_call" || it.Type == "custom_tool_call" {
		return ""
	}
	return name
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

type decoder struct {
	refused  bool
	searches int64
}

// Decode understands one event.
func (d *decoder) Decode(data []byte, a *wire.Accumulator) error {
	var e event
	if err := wire.Unmarshal(data, &e); err != nil {
		return err
	}
	key := e.key(e.ItemID)
	switch e.Type {
	case "response.output_item.added", "response.output_item.done":
		return d.item(&e, a)
	case "response.output_text.delta":
		a.Add(key, model.Text, e.Delta)
	case "response.refusal.delta":
		d.refused = true
		a.Add(key, model.Text, e.Delta)
	case "response.output_text.annotation.added":
		a.Cite(key, e.Annotation.source())
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
		u := e.Response.Usage.tokens()
		u.Searches = d.searches
		a.Usage(u)
		a.Tier(e.Response.Tier)
		return d.finish(&e, a)
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

func (d *decoder) item(e *event, a *wire.Accumulator) error {
	var it item
	if err := wire.Unmarshal(e.Item, &it); err != nil {
		return err
	}
	key := e.key(it.ID)
	if !a.Has(key) {
		start(key, &it, a)
	}
	if e.Type == "response.output_item.added" || !a.Has(key) {
		return nil
	}
	defer a.End(key)
	switch it.Type {
	case "reasoning":
		return a.Opaque(key, e.Item) // only the finished item has the sealed reasoning in its final form
	case "function_call":
		a.Arguments(key, it.Arguments)
		return nil
	case "message":
		return said(key, &it, a)
	}
	if it.Type == "web_search_call" {
		d.searches++
	}
	a.Add(key, model.Native, it.Action.Query+it.Action.URL)
	for _, s := range it.Action.Sources {
		a.Cite(key, s.source())
	}
	return a.Opaque(key, e.Item)
}

func start(key string, it *item, a *wire.Accumulator) {
	switch it.Type {
	case "message":
		a.Start(key, model.Part{Kind: model.Text})
	case "reasoning":
		a.Start(key, model.Part{Kind: model.Reasoning})
	case "function_call":
		a.Start(key, model.Part{Kind: model.ToolCall, CallID: it.CallID, Name: it.Name})
	default:
		if name := it.native(); name != "" {
			a.Start(key, model.Part{Kind: model.Native, Name: name, CallID: it.ID})
		}
	}
}

// said completes a text by what the finished item alone holds.
func said(key string, it *item, a *wire.Accumulator) error {
	for _, c := range it.Content {
		for _, n := range c.Annotations {
			a.Cite(key, n.source())
		}
	}
	if it.Phase == "" {
		return nil
	}
	return a.Opaque(key, wire.Encode(wire.Obj("phase", it.Phase)))
}

func (d *decoder) finish(e *event, a *wire.Accumulator) error {
	switch reason := e.Response.Incomplete.Reason; {
	case reason == "max_output_tokens":
		a.Finish(model.StopLength)
	case reason == "content_filter", d.refused:
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
