package fakewire

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// anthropicBlockFields are the fields of a type of block.
func anthropicBlockFields(kind string) []string {
	common := []string{"type", "cache_control"}
	switch kind {
	case "text":
		return append(common, "text", "citations")
	case "image":
		return append(common, "source")
	case "document":
		return append(common, "source", "title", "context", "citations")
	case "thinking":
		return []string{"type", "thinking", "signature"}
	case "redacted_thinking":
		return []string{"type", "data"}
	case "tool_use", "server_tool_use":
		return append(common, "id", "name", "input")
	case "tool_result", "web_search_tool_result":
		return append(common, "tool_use_id", "content", "is_error")
	}
	return common
}

// anthropicRules checks what is not in the meaning of the messages.
func anthropicRules(r *Request) error {
	body, err := parseFields(r.Raw)
	if err != nil {
		return err
	}
	if err := body.only("model", "max_tokens", "messages", "system", "tools", "tool_choice", "thinking", "output_config",
		"temperature", "top_p", "top_k", "stop_sequences", "stream", "metadata", "service_tier", "speed", "container",
		"context_management"); err != nil {
		return err
	}
	if body["speed"] != nil && !strings.Contains(r.Header.Get("Anthropic-Beta"), "fast-mode") && r.Header != nil {
		return fmt.Errorf("speed: extra inputs are not permitted without the beta header")
	}
	r.Force, r.OneTool = body.object("tool_choice").text("name"), string(body.object("tool_choice")["disable_parallel_tool_use"]) == "true"
	r.Hour = strings.Contains(string(r.Raw), `"ttl":"1h"`)
	names, err := anthropicTools(r, body)
	if err != nil {
		return err
	}
	if err := anthropicThinking(body, names); err != nil {
		return err
	}
	marks := &cacheMarks{}
	for _, t := range body.list("tools") {
		marks.add(t)
	}
	for _, t := range body.list("system") {
		marks.add(t)
	}
	for i, m := range body.list("messages") {
		if role := m.text("role"); role != "user" && role != "assistant" || i == 0 && role != "user" {
			return fmt.Errorf("messages.%d.role: %q is not allowed here", i, role)
		}
		for j, b := range m.list("content") {
			if err := b.only(anthropicBlockFields(b.text("type"))...); err != nil {
				return fmt.Errorf("messages.%d.content.%d: %w", i, j, err)
			}
			marks.add(b)
		}
	}
	return marks.err()
}

func anthropicTools(r *Request, body fields) (names []string, err error) {
	var schemas []json.RawMessage
	for i, t := range body.list("tools") {
		switch {
		case t["type"] == nil || t.text("type") == "custom":
			err = t.only("type", "name", "description", "input_schema", "cache_control", "strict")
			names, schemas = append(names, t.text("name")), append(schemas, t["input_schema"])
		case strings.HasPrefix(t.text("type"), "web_search_20"):
			r.Search = true
			err = t.only("type", "name", "max_uses", "allowed_domains", "blocked_domains", "user_location", "cache_control")
		default:
			err = fmt.Errorf("type %q is not known", t.text("type"))
		}
		if err != nil {
			return nil, fmt.Errorf("tools.%d: %w", i, err)
		}
	}
	return names, toolRules(names, schemas)
}

func anthropicThinking(body fields, names []string) error {
	think, choice := body.object("thinking"), body.object("tool_choice")
	kind, forced := think.text("type"), choice.text("type") == "any" || choice.text("type") == "tool"
	budget := think.number("budget_tokens")
	switch {
	case oneOf("thinking.type", kind, "enabled", "adaptive", "disabled", "between_tools") != nil:
		return fmt.Errorf("thinking.type: %q is not known", kind)
	case kind == "enabled" && (budget < 1024 || budget >= body.number("max_tokens")):
		return fmt.Errorf("thinking.budget_tokens: must be at least 1024 and less than max_tokens")
	case kind != "enabled" && think["budget_tokens"] != nil:
		return fmt.Errorf("thinking.budget_tokens: extra inputs are not permitted")
	case forced && (kind == "enabled" || kind == "adaptive"):
		return fmt.Errorf("thinking may not be enabled when tool_choice forces tool use")
	case choice.text("type") == "tool" && !slices.Contains(names, choice.text("name")):
		return fmt.Errorf("tool_choice: %q is no tool", choice.text("name"))
	case choice != nil && body["tools"] == nil:
		return fmt.Errorf("tool_choice: may only be specified while providing tools")
	}
	return oneOf("output_config.effort", body.object("output_config").text("effort"), "low", "medium", "high", "xhigh", "max")
}

// cacheMarks counts the marks of the prompt cache.
type cacheMarks struct {
	n    int
	ttls []string
	bad  error
}

func (c *cacheMarks) add(o fields) {
	mark := o.object("cache_control")
	if mark == nil {
		return
	}
	c.n++
	ttl := mark.text("ttl")
	if ttl == "" {
		ttl = "5m"
	}
	switch {
	case mark.text("type") != "ephemeral" || ttl != "5m" && ttl != "1h":
		c.bad = fmt.Errorf("cache_control: %s is not known", o["cache_control"])
	case ttl == "1h" && slices.Contains(c.ttls, "5m"):
		c.bad = fmt.Errorf("cache_control: a ttl of 1h must not come after one of 5m")
	case o["text"] != nil && o.text("text") == "":
		c.bad = fmt.Errorf("cache_control cannot be set for empty text blocks")
	}
	c.ttls = append(c.ttls, ttl)
}

func (c *cacheMarks) err() error {
	if c.n > 4 {
		return fmt.Errorf("a maximum of 4 blocks with cache_control may be provided, found %d", c.n)
	}
	return c.bad
}
