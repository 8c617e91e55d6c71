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
			"cache_read_input_tokens": u.CacheRead, "output_tokens": 1}}})
	s.event("ping", object{"type": "ping"})
	index := 0
	block := func(start object, field, kind, text string, after ...object) {
		s.event("content_block_start", object{"type": "content_block_start", "index": index, "content_block": start})
		send := func(delta object) {
			s.event("content_block_delta", object{"type": "content_block_delta", "index": index, "delta": delta})
		}
		s.deltas(text, func(piece string) { send(object{"type": kind, field: piece}) })
		for _, delta := range after {
			send(delta)
		}
		s.event("content_block_stop", object{"type": "content_block_stop", "index": index})
		index++
	}
	if t := s.reply.Reasoning; t != "" {
		block(object{"type": "thinking", "thinking": "", "signature": ""}, "thinking", "thinking_delta", t,
			object{"type": "signature_delta", "signature": prove(r.Model, t)})
	}
	if t := s.reply.Text; t != "" {
		block(object{"type": "text", "text": ""}, "text", "text_delta", t)
	}
	for i, c := range s.reply.Calls {
		if c.ID == "" {
			c.ID = r.callID(i)
		}
		block(object{"type": "tool_use", "id": c.ID, "name": c.Name, "input": object{}},
			"partial_json", "input_json_delta", c.Input)
	}
}

func (anthropicFormat) end(s *stream, _ Request) {
	reason := map[model.Stop]string{
		model.StopEnd: "end_turn", model.StopTools: "tool_use", model.StopLength: "max_tokens",
		model.StopOverflow: "model_context_window_exceeded", model.StopPause: "pause_turn", model.StopFilter: "refusal",
	}[s.reply.stop()]
	s.event("message_delta", object{"type": "message_delta",
		"delta": object{"stop_reason": reason, "stop_sequence": nil},
		"usage": object{"output_tokens": s.reply.usage().Output}})
	s.event("message_stop", object{"type": "message_stop"})
}

func (anthropicFormat) fail(s *stream) {
	s.event("error", object{"type": "error", "error": object{"type": s.reply.ErrorType, "message": s.reply.ErrorMessage}})
}
