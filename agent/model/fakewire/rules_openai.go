package fakewire

import (
	"encoding/json"
	"fmt"
	"slices"
)

// responsesRules checks what is not in the messages.
func responsesRules(r *Request) error {
	body, err := parseFields(r.Raw)
	if err != nil {
		return err
	}
	if err := body.only("model", "input", "instructions", "tools", "tool_choice", "parallel_tool_calls", "include", "store",
		"stream", "prompt_cache_key", "max_output_tokens", "reasoning", "service_tier", "access_programs", "temperature",
		"top_p", "metadata", "text", "truncation", "safety_identifier", "user", "previous_response_id"); err != nil {
		return err
	}
	if len(body.text("prompt_cache_key")) > 64 {
		return fmt.Errorf("prompt_cache_key: longer than 64 characters")
	}
	var names []string
	var schemas []json.RawMessage
	for i, t := range body.list("tools") {
		switch t.text("type") {
		case "function":
			names, schemas = append(names, t.text("name")), append(schemas, t["parameters"])
			err = t.only("type", "name", "description", "parameters", "strict")
		case "web_search":
			r.Search = true
			err = t.only("type", "filters", "user_location", "search_context_size")
		default:
			err = fmt.Errorf("type %q is not known", t.text("type"))
		}
		if err != nil {
			return fmt.Errorf("tools[%d]: %w", i, err)
		}
	}
	if err := toolRules(names, schemas); err != nil {
		return err
	}
	r.Force, r.OneTool = body.object("tool_choice").text("name"), string(body["parallel_tool_calls"]) == "false"
	if r.Force != "" && !slices.Contains(names, r.Force) {
		return fmt.Errorf("tool_choice: %q is no tool", r.Force)
	}
	think := body.object("reasoning")
	if err := think.only("effort", "summary", "mode"); err != nil {
		return err
	}
	for _, err := range []error{
		oneOf("reasoning.effort", think.text("effort"), "none", "minimal", "low", "medium", "high", "xhigh", "max"),
		oneOf("reasoning.mode", think.text("mode"), "standard", "pro"),
		oneOf("service_tier", body.text("service_tier"), "auto", "default", "flex", "priority", "ultrafast"),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

// chatRules checks what is not in the messages. Servers of this format differ, so it knows the
// fields of many.
func chatRules(r *Request) error {
	body, err := parseFields(r.Raw)
	if err != nil {
		return err
	}
	if err := body.only("model", "messages", "tools", "tool_choice", "parallel_tool_calls", "stream", "stream_options",
		"max_tokens", "max_completion_tokens", "reasoning_effort", "service_tier", "temperature", "top_p", "seed",
		"frequency_penalty", "presence_penalty", "prompt_cache_key", "metadata", "user", "web_search_options",
		"top_k", "reasoning", "provider", "plugins", "cache_control", "search_parameters", "thinking"); err != nil {
		return err
	}
	var names []string
	var schemas []json.RawMessage
	for i, t := range body.list("tools") {
		switch t.text("type") {
		case "function":
			f := t.object("function")
			if err := f.only("name", "description", "parameters", "strict"); err != nil {
				return fmt.Errorf("tools[%d].function: %w", i, err)
			}
			names, schemas = append(names, f.text("name")), append(schemas, f["parameters"])
		case "web_search":
			r.Search = true
		default:
			return fmt.Errorf("tools[%d]: type %q is not known", i, t.text("type"))
		}
	}
	if err := toolRules(names, schemas); err != nil {
		return err
	}
	r.Force = body.object("tool_choice").object("function").text("name")
	r.OneTool = string(body["parallel_tool_calls"]) == "false"
	r.Search = r.Search || body["search_parameters"] != nil || body["plugins"] != nil || body["web_search_options"] != nil
	if r.Force != "" && !slices.Contains(names, r.Force) {
		return fmt.Errorf("tool_choice: %q is no tool", r.Force)
	}
	if body.text("stream") == "" && body["stream_options"] != nil && string(body["stream"]) != "true" {
		return fmt.Errorf("stream_options: only with stream")
	}
	return nil
}
