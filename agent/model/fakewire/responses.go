package fakewire

import (
	"encoding/json"
	"fmt"
	"maps"
	"strconv"

	"carrel/agent/model"
)

type responsesFormat struct{}

func (responsesFormat) name() string { return "responses" }

type responsesItem struct {
	Type      string          `json:"type"`
	Role      string          `json:"role"`
	Content   []responsesPart `json:"content"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments string          `json:"arguments"`
	Output    json.RawMessage `json:"output"`
	Encrypted string          `json:"encrypted_content"`
	Summary   []responsesPart `json:"summary"`
	Phase     string          `json:"phase"`
}

type responsesPart struct {
	Type     string          `json:"type"`
	Text     string          `json:"text"`
	ImageURL json.RawMessage `json:"image_url"` // a string, or at Chat Completions an object
}

func (responsesFormat) parse(r *Request) error {
	var body struct {
		Model        string `json:"model"`
		Instructions string `json:"instructions"`
		Tools        []struct {
			Name string `json:"name"`
		} `json:"tools"`
		Input []responsesItem `json:"input"`
	}
	if err := json.Unmarshal(r.Raw, &body); err != nil {
		return fmt.Errorf("body: %w", err)
	}
	if err := responsesRules(r); err != nil {
		return err
	}
	r.Model, r.System = body.Model, body.Instructions
	for _, t := range body.Tools {
		r.Tools = append(r.Tools, t.Name)
	}
	for i, it := range body.Input {
		if err := r.item(it); err != nil {
			return fmt.Errorf("input[%d]: %w", i, err)
		}
	}
	return nil
}

func (r *Request) item(it responsesItem) error {
	switch it.Type {
	case "", "message":
		if len(it.Content) == 0 {
			return fmt.Errorf("content is empty")
		}
		m := r.add(it.Role)
		for _, p := range it.Content {
			if err := m.part(p); err != nil {
				return err
			}
		}
	case "reasoning":
		m := r.add("assistant")
		text := ""
		for _, p := range it.Summary {
			text += p.Text
		}
		m.proofs = append(m.proofs, proof{text, it.Encrypted})
		m.last = "reasoning"
	case "function_call":
		m := r.add("assistant")
		m.Calls = append(m.Calls, Call{ID: it.CallID, Name: it.Name, Input: it.Arguments})
		m.last = "call"
	case "function_call_output":
		m := r.add("tool")
		result := Result{ID: it.CallID}
		var list []responsesPart
		if json.Unmarshal(it.Output, &result.Text) != nil {
			if err := json.Unmarshal(it.Output, &list); err != nil {
				return fmt.Errorf("output: %w", err)
			}
			for _, p := range list {
				if err := m.part(p); err != nil {
					return err
				}
				result.Text += p.Text
			}
			m.Text = ""
		}
		m.Results = append(m.Results, result)
	case "web_search_call":
		r.add("assistant").last = "native"
	default:
		return fmt.Errorf("unknown type %q", it.Type)
	}
	return nil
}

func (m *Message) part(p responsesPart) error {
	switch p.Type {
	case "input_text", "output_text":
		m.say(p.Text)
	case "input_image":
		m.Images++
		return checkDataURL(p.ImageURL)
	case "input_file":
		m.Images++
	default:
		return fmt.Errorf("unknown type %q", p.Type)
	}
	return nil
}

// responsesStream counts the items and events of a response.
type responsesStream struct {
	*stream
	model string
	index int
	seq   int
}

func (s *responsesStream) send(kind string, fields object) {
	all := object{"type": kind, "sequence_number": s.seq, "output_index": s.index}
	maps.Copy(all, fields)
	s.seq++
	s.event(kind, all)
}

func (s *responsesStream) response(kind, status string, fields object) {
	resp := object{"id": "resp_fake", "object": "response", "created_at": 1, "model": s.model,
		"output": []any{}, "status": status}
	if s.reply.Tier != "" {
		resp["service_tier"] = s.reply.Tier
	}
	maps.Copy(resp, fields)
	s.event(kind, object{"type": kind, "sequence_number": s.seq, "response": resp})
	s.seq++
}

func (responsesFormat) content(plain *stream, r Request) {
	s := &responsesStream{stream: plain, model: r.Model}
	s.response("response.created", "in_progress", nil)
	s.response("response.in_progress", "in_progress", nil)
	if t := s.reply.Reasoning; t != "" {
		s.reasoning(t)
	}
	if q := s.reply.Search; q != nil {
		s.search(q)
	}
	if t := s.reply.Text; t != "" {
		s.text(t)
	}
	for i, c := range s.reply.Calls {
		if c.ID == "" {
			c.ID = r.callID(i)
		}
		s.call(c)
	}
}

func (s *responsesStream) reasoning(text string) {
	id := "rs_" + strconv.Itoa(s.index)
	summary := object{"type": "summary_text", "text": text}
	s.send("response.output_item.added", object{"item": object{"id": id, "type": "reasoning", "summary": []any{}}})
	s.send("response.reasoning_summary_part.added", object{"item_id": id, "summary_index": 0, "part": object{"type": "summary_text", "text": ""}})
	s.deltas(text, func(piece string) {
		s.send("response.reasoning_summary_text.delta", object{"item_id": id, "summary_index": 0, "delta": piece})
	})
	s.send("response.reasoning_summary_text.done", object{"item_id": id, "summary_index": 0, "text": text})
	s.send("response.reasoning_summary_part.done", object{"item_id": id, "summary_index": 0, "part": summary})
	s.send("response.output_item.done", object{"item": object{"id": id, "type": "reasoning",
		"encrypted_content": prove(s.model, text), "summary": []any{summary}}})
	s.index++
}

func (s *responsesStream) text(text string) {
	id := "msg_" + strconv.Itoa(s.index)
	notes := []any{}
	if q := s.reply.Search; q != nil {
		for _, f := range q.Found {
			notes = append(notes, object{"type": "url_citation", "url": f.URL, "title": f.Title, "start_index": 0, "end_index": 1})
		}
	}
	part := func(t string) object {
		if t == "" {
			return object{"type": "output_text", "text": t, "annotations": []any{}}
		}
		return object{"type": "output_text", "text": t, "annotations": notes}
	}
	s.send("response.output_item.added", object{"item": object{"id": id, "type": "message", "status": "in_progress", "role": "assistant", "content": []any{}}})
	s.send("response.content_part.added", object{"item_id": id, "content_index": 0, "part": part("")})
	s.deltas(text, func(piece string) {
		s.send("response.output_text.delta", object{"item_id": id, "content_index": 0, "delta": piece, "logprobs": []any{}})
	})
	for i, n := range notes {
		s.send("response.output_text.annotation.added", object{"item_id": id, "content_index": 0, "annotation_index": i, "annotation": n})
	}
	s.send("response.output_text.done", object{"item_id": id, "content_index": 0, "text": text, "logprobs": []any{}})
	s.send("response.content_part.done", object{"item_id": id, "content_index": 0, "part": part(text)})
	s.send("response.output_item.done", object{"item": object{"id": id, "type": "message", "status": "completed", "role": "assistant", "content": []any{part(text)}}})
	s.index++
}

func (s *responsesStream) search(q *Search) {
	id := "ws_" + strconv.Itoa(s.index)
	s.send("response.output_item.added", object{"item": object{"id": id, "type": "web_search_call", "status": "in_progress"}})
	s.send("response.web_search_call.searching", object{"item_id": id})
	var sources []any
	for _, f := range q.Found {
		sources = append(sources, object{"type": "url", "url": f.URL})
	}
	s.send("response.output_item.done", object{"item": object{"id": id, "type": "web_search_call", "status": "completed",
		"action": object{"type": "search", "query": q.Query, "sources": sources}}})
	s.index++
}

func (s *responsesStream) call(c Call) {
	id := "fc_" + strconv.Itoa(s.index)
	item := func(status, input string) object {
		return object{"id": id, "type": "function_call", "status": status, "call_id": c.ID, "name": c.Name, "arguments": input}
	}
	s.send("response.output_item.added", object{"item": item("in_progress", "")})
	s.deltas(c.Input, func(piece string) {
		s.send("response.function_call_arguments.delta", object{"item_id": id, "delta": piece})
	})
	s.send("response.function_call_arguments.done", object{"item_id": id, "name": c.Name, "arguments": c.Input})
	s.send("response.output_item.done", object{"item": item("completed", c.Input)})
	s.index++
}

func (responsesFormat) end(plain *stream, r Request) {
	s := &responsesStream{stream: plain, model: r.Model, seq: plain.events}
	u := s.reply.usage()
	usage := object{"input_tokens": u.Input + u.CacheRead, "input_tokens_details": object{"cached_tokens": u.CacheRead},
		"output_tokens": u.Output, "output_tokens_details": object{"reasoning_tokens": u.Reasoning},
		"total_tokens": u.Input + u.CacheRead + u.Output}
	switch s.reply.stop() {
	case model.StopLength:
		s.response("response.incomplete", "incomplete", object{"usage": usage, "incomplete_details": object{"reason": "max_output_tokens"}})
	case model.StopFilter:
		s.response("response.incomplete", "incomplete", object{"usage": usage, "incomplete_details": object{"reason": "content_filter"}})
	case model.StopEnd, model.StopTools, model.StopPause, model.StopOverflow, model.StopError, model.StopCancelled:
		s.response("response.completed", "completed", object{"usage": usage})
	}
}

func (responsesFormat) fail(plain *stream) {
	s := &responsesStream{stream: plain}
	s.response("response.failed", "failed", object{"error": object{"code": s.reply.ErrorType, "message": s.reply.ErrorMessage}})
}
