package fakewire

import (
	"encoding/json"
	"fmt"

	"carrel/agent/model"
)

type chatFormat struct{}

func (chatFormat) name() string { return "chat" }

type chatMessage struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	ToolCallID string          `json:"tool_call_id"`
	Reasoning  string          `json:"reasoning_content"`
	ToolCalls  []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

func (chatFormat) parse(r *Request) error {
	var body struct {
		Model string `json:"model"`
		Tools []struct {
			Function struct {
				Name string `json:"name"`
			} `json:"function"`
		} `json:"tools"`
		Messages []chatMessage `json:"messages"`
	}
	if err := json.Unmarshal(r.Raw, &body); err != nil {
		return fmt.Errorf("body: %w", err)
	}
	if err := chatRules(r); err != nil {
		return err
	}
	r.Model = body.Model
	for _, t := range body.Tools {
		r.Tools = append(r.Tools, t.Function.Name)
	}
	for i, m := range body.Messages {
		if err := r.chat(m); err != nil {
			return fmt.Errorf("messages[%d]: %w", i, err)
		}
	}
	return nil
}

func (r *Request) chat(in chatMessage) error {
	text, images, err := chatContent(in.Content)
	if err != nil {
		return err
	}
	switch in.Role {
	case "system":
		r.System += text
	case "tool":
		m := r.add("tool")
		m.Results = append(m.Results, Result{ID: in.ToolCallID, Text: text})
	case "user", "assistant":
		if in.Role == "user" && text == "" && images == 0 {
			return fmt.Errorf("content is empty")
		}
		m := r.add(in.Role)
		if text != "" {
			m.say(text)
		}
		m.Images += images
		if in.Reasoning != "" {
			m.proofs = append(m.proofs, proof{in.Reasoning, ""})
		}
		for _, c := range in.ToolCalls {
			m.Calls = append(m.Calls, Call{ID: c.ID, Name: c.Function.Name, Input: c.Function.Arguments})
		}
	default:
		return fmt.Errorf("unknown role %q", in.Role)
	}
	return nil
}

func chatContent(raw json.RawMessage) (text string, images int, err error) {
	if len(raw) == 0 || json.Unmarshal(raw, &text) == nil {
		return text, 0, nil
	}
	var parts []responsesPart
	if err := json.Unmarshal(raw, &parts); err != nil {
		return "", 0, fmt.Errorf("content: %w", err)
	}
	for _, p := range parts {
		switch p.Type {
		case "text":
			text += p.Text
		case "image_url":
			var image struct {
				URL json.RawMessage `json:"url"`
			}
			if err := json.Unmarshal(p.ImageURL, &image); err != nil {
				return "", 0, fmt.Errorf("image_url: %w", err)
			}
			if err := checkDataURL(image.URL); err != nil {
				return "", 0, err
			}
			images++
		case "file":
			images++
		default:
			return "", 0, fmt.Errorf("unknown type %q", p.Type)
		}
	}
	return text, images, nil
}

func (s *stream) chunk(delta object, finish any) {
	o := object{"id": "chatcmpl-fake", "object": "chat.completion.chunk", "created": 1, "model": "m",
		"choices": []any{object{"index": 0, "delta": delta, "finish_reason": finish}}}
	if s.reply.Tier != "" {
		o["service_tier"] = s.reply.Tier
	}
	if q := s.reply.Search; q != nil && finish != nil {
		var found []any
		for _, f := range q.Found {
			found = append(found, object{"type": "url_citation", "url_citation": object{"url": f.URL, "title": f.Title}})
		}
		delta["annotations"] = found
	}
	s.event("", o)
}

func (chatFormat) content(s *stream, r Request) {
	s.chunk(object{"role": "assistant", "content": ""}, nil)
	s.deltas(s.reply.Reasoning, func(piece string) {
		s.chunk(object{"reasoning_content": piece, "content": nil}, nil)
	})
	s.deltas(s.reply.Text, func(piece string) { s.chunk(object{"content": piece}, nil) })
	for i, c := range s.reply.Calls {
		if c.ID == "" {
			c.ID = r.callID(i)
		}
		s.chunk(object{"tool_calls": []any{object{"index": i, "id": c.ID, "type": "function",
			"function": object{"name": c.Name, "arguments": ""}}}}, nil)
		s.deltas(c.Input, func(piece string) {
			s.chunk(object{"tool_calls": []any{object{"index": i, "function": object{"arguments": piece}}}}, nil)
		})
	}
}

func (chatFormat) end(s *stream, _ Request) {
	reason := map[model.Stop]string{
		model.StopTools: "tool_calls", model.StopLength: "length", model.StopFilter: "content_filter",
	}[s.reply.stop()]
	if reason == "" {
		reason = "stop"
	}
	s.chunk(object{}, reason)
	u := s.reply.usage()
	s.event("", object{"id": "chatcmpl-fake", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": []any{},
		"usage": object{"prompt_tokens": u.Input + u.CacheRead, "completion_tokens": u.Output,
			"total_tokens":              u.Input + u.CacheRead + u.Output,
			"prompt_tokens_details":     object{"cached_tokens": u.CacheRead},
			"completion_tokens_details": object{"reasoning_tokens": u.Reasoning}}})
	s.line("", "[DONE]")
}

func (chatFormat) fail(s *stream) {
	s.event("", object{"error": object{"message": s.reply.ErrorMessage, "type": s.reply.ErrorType, "code": s.reply.ErrorType}})
}
