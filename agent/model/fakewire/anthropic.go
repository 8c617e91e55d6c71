package fakewire

import (
	"encoding/json"
	"fmt"

	"carrel/agent/model"
)

type anthropicFormat struct{}

func (anthropicFormat) name() string { return "anthropic" }

type anthropicBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	IsError   bool            `json:"is_error"`
	Content   []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"content"`
	Source source `json:"source"`
}

func (anthropicFormat) parse(r *Request) error {
	var body struct {
		Model  string `json:"model"`
		System []struct {
			Text string `json:"text"`
		} `json:"system"`
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"`
		MaxTokens int `json:"max_tokens"`
		Messages  []struct {
			Role    string           `json:"role"`
			Content []anthropicBlock `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(r.Raw, &body); err != nil {
		return fmt.Errorf("body: %w", err)
	}
	if err := anthropicRules(r); err != nil {
		return err
	}
	r.Model = body.Model
	for _, t := range body.Tools {
		r.Tools = append(r.Tools, t.Name)
	}
	for _, s := range body.System {
		r.System += s.Text
	}
	if body.MaxTokens < 1 {
		return fmt.Errorf("max_tokens: must be at least 1")
	}
	for i, m := range body.Messages {
		if len(m.Content) == 0 {
			return fmt.Errorf("messages.%d: content is empty", i)
		}
		if i > 0 && body.Messages[i-1].Role == m.Role {
			return fmt.Errorf("messages.%d: two messages of role %s in a row", i, m.Role)
		}
		for j, b := range m.Content {
			if err := r.block(m.Role, b); err != nil {
				return fmt.Errorf("messages.%d.content.%d: %w", i, j, err)
			}
		}
	}
	return nil
}

func (r *Request) block(role string, b anthropicBlock) error {
	switch b.Type {
	case "text":
		if b.Text == "" {
			return fmt.Errorf("text content blocks must be non-empty")
		}
		r.add(role).say(b.Text)
	case "image", "document":
		if err := b.Source.check(); err != nil {
			return err
		}
		r.add(role).Images++
	case "thinking":
		m := r.add(role)
		m.proofs = append(m.proofs, proof{b.Thinking, b.Signature})
		m.last = "reasoning"
	case "redacted_thinking":
		r.add(role).last = "reasoning"
	case "tool_use":
		m := r.add(role)
		m.Calls = append(m.Calls, Call{ID: b.ID, Name: b.Name, Input: string(b.Input)})
		m.last = "call"
	case "server_tool_use", "web_search_tool_result":
		r.add(role).native(b.Type == "server_tool_use", b.ID+b.ToolUseID)
	case "tool_result":
		m := r.add("tool")
		result := Result{ID: b.ToolUseID, IsError: b.IsError}
		for _, c := range b.Content {
			if c.Type == "text" {
				result.Text += c.Text
			} else {
				m.Images++
			}
		}
		m.Results = append(m.Results, result)
	default:
		return fmt.Errorf("unknown type %q", b.Type)
	}
	return nil
}

func (anthropicFormat) content(s *stream, r Request) {
	u := s.reply.usage()
	s.event("message_start", object{"type": "message_start", "message": object{
		"id": "msg_fake", "type": "message", "role": "assistant", "model": r.Model, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil,
		"usage": object{"input_tokens": u.Input, "cache_creation_input_tokens": u.CacheWrite,
			"cache_creation": object{"ephemeral_5m_input_tokens": u.CacheWrite - u.CacheWriteHour,
				"ephemeral_1h_input_tokens": u.CacheWriteHour},
			"cache_read_input_tokens": u.CacheRead, "output_tokens": 1, "service_tier": "standard"}}})
	s.event("ping", object{"type": "ping"})
	b := &anthropicBlocks{stream: s}
	if t := s.reply.Reasoning; t != "" {
		b.block(object{"type": "thinking", "thinking": "", "signature": ""}, "thinking", "thinking_delta", t,
			object{"type": "signature_delta", "signature": prove(r.Model, t)})
	}
	var citations []object
	if s.reply.Search != nil {
		citations = b.search(r, s.reply.Search)
	}
	if t := s.reply.Text; t != "" {
		b.block(object{"type": "text", "text": ""}, "text", "text_delta", t, citations...)
	}
	for i, c := range s.reply.Calls {
		if c.ID == "" {
			c.ID = r.callID(i)
		}
		b.block(object{"type": "tool_use", "id": c.ID, "name": c.Name, "input": object{}},
			"partial_json", "input_json_delta", c.Input)
	}
}

// anthropicBlocks counts the blocks of a response.
type anthropicBlocks struct {
	*stream
	index int
}

func (s *anthropicBlocks) block(start object, field, kind, text string, after ...object) {
	s.event("content_block_start", object{"type": "content_block_start", "index": s.index, "content_block": start})
	send := func(delta object) {
		s.event("content_block_delta", object{"type": "content_block_delta", "index": s.index, "delta": delta})
	}
	s.deltas(text, func(piece string) { send(object{"type": kind, field: piece}) })
	for _, delta := range after {
		send(delta)
	}
	s.event("content_block_stop", object{"type": "content_block_stop", "index": s.index})
	s.index++
}

// search sends a use of the search and its result, and gives the citations of the text to come.
func (s *anthropicBlocks) search(r Request, q *Search) []object {
	id := fmt.Sprintf("srvtoolu_%d", r.N)
	input, err := json.Marshal(object{"query": q.Query})
	if err != nil {
		panic(err) // the values are ours
	}
	s.block(object{"type": "server_tool_use", "id": id, "name": "web_search", "input": object{}},
		"partial_json", "input_json_delta", string(input))
	if q.Alone {
		return nil
	}
	var found []any
	var citations []object
	for i, f := range q.Found {
		sealed := prove(r.Model, f.URL)
		found = append(found, object{"type": "web_search_result", "url": f.URL, "title": f.Title, "encrypted_content": sealed})
		citations = append(citations, object{"type": "citations_delta", "citation": object{"type": "web_search_result_location",
			"url": f.URL, "title": f.Title, "encrypted_index": sealed, "cited_text": fmt.Sprintf("line %d", i)}})
	}
	s.block(object{"type": "web_search_tool_result", "tool_use_id": id, "content": found}, "", "", "")
	return citations
}

func (anthropicFormat) end(s *stream, _ Request) {
	reason := map[model.Stop]string{
		model.StopEnd: "end_turn", model.StopTools: "tool_use", model.StopLength: "max_tokens",
		model.StopOverflow: "model_context_window_exceeded", model.StopPause: "pause_turn", model.StopFilter: "refusal",
	}[s.reply.stop()]
	s.event("message_delta", object{"type": "message_delta",
		"delta": object{"stop_reason": reason, "stop_sequence": nil},
		"usage": anthropicUsage(s.reply)})
	s.event("message_stop", object{"type": "message_stop"})
}

func anthropicUsage(r Reply) object {
	u := object{"output_tokens": r.usage().Output}
	if n := r.usage().Searches; n > 0 {
		u["server_tool_use"] = object{"web_search_requests": n}
	}
	if r.Tier != "" {
		u["speed"] = r.Tier
	}
	return u
}

func (anthropicFormat) fail(s *stream) {
	s.event("error", object{"type": "error", "error": object{"type": s.reply.ErrorType, "message": s.reply.ErrorMessage}})
}
