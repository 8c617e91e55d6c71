package fakewire

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// geminiRules checks what is not in the messages.
func geminiRules(r *Request) error {
	body, err := parseFields(r.Raw)
	if err != nil {
		return err
	}
	if err := body.only("contents", "systemInstruction", "tools", "toolConfig", "generationConfig", "safetySettings",
		"cachedContent", "serviceTier", "labels", "store"); err != nil {
		return err
	}
	if r.Header != nil && r.Header.Get("X-Goog-Api-Key") == "" {
		return fmt.Errorf("method doesn't allow unregistered callers: please use API key")
	}
	if err := geminiTools(r, body); err != nil {
		return err
	}
	for i, c := range body.list("contents") {
		if err := c.only("role", "parts"); err != nil {
			return fmt.Errorf("contents[%d]: %w", i, err)
		}
		for j, p := range c.list("parts") {
			if err := geminiPartRules(p); err != nil {
				return fmt.Errorf("contents[%d].parts[%d]: %w", i, j, err)
			}
		}
	}
	return geminiGeneration(body.object("generationConfig"))
}

func geminiPartRules(p fields) error {
	if err := p.only("text", "thought", "thoughtSignature", "inlineData", "functionCall", "functionResponse", "toolCall", "toolResponse"); err != nil {
		return err
	}
	for _, known := range []struct {
		name   string
		fields []string
	}{
		{"inlineData", []string{"mimeType", "data"}}, {"functionCall", []string{"id", "name", "args"}},
		{"functionResponse", []string{"id", "name", "response", "parts"}},
	} {
		if p[known.name] == nil {
			continue
		}
		if err := p.object(known.name).only(known.fields...); err != nil {
			return fmt.Errorf("%s: %w", known.name, err)
		}
	}
	return nil
}

func geminiTools(r *Request, body fields) error {
	var schemas []json.RawMessage
	for i, t := range body.list("tools") {
		if err := t.only("functionDeclarations", "googleSearch"); err != nil {
			return fmt.Errorf("tools[%d]: %w", i, err)
		}
		r.Search = r.Search || t["googleSearch"] != nil
		for j, f := range t.list("functionDeclarations") {
			if err := f.only("name", "description", "parametersJsonSchema"); err != nil {
				return fmt.Errorf("tools[%d].function_declarations[%d]: %w", i, j, err)
			}
			r.Tools, schemas = append(r.Tools, f.text("name")), append(schemas, f["parametersJsonSchema"])
		}
	}
	if err := toolRules(r.Tools, schemas); err != nil {
		return err
	}
	config := body.object("toolConfig")
	if err := config.only("functionCallingConfig", "includeServerSideToolInvocations"); err != nil {
		return fmt.Errorf("tool_config: %w", err)
	}
	call := config.object("functionCallingConfig")
	var allowed []string
	if call["allowedFunctionNames"] != nil {
		if err := json.Unmarshal(call["allowedFunctionNames"], &allowed); err != nil || len(allowed) != 1 || call.text("mode") != "ANY" {
			return fmt.Errorf("tool_config.function_calling_config: allowed_function_names wants mode ANY")
		}
		r.Force = allowed[0]
	}
	switch {
	case r.Force != "" && !slices.Contains(r.Tools, r.Force):
		return fmt.Errorf("allowed_function_names: %q is no function", r.Force)
	case r.Search && r.Tools != nil && string(config["includeServerSideToolInvocations"]) != "true":
		return fmt.Errorf("please enable tool_config.include_server_side_tool_invocations to use built-in tools with function calling")
	}
	return nil
}

func geminiGeneration(g fields) error {
	if err := g.only("maxOutputTokens", "temperature", "topP", "topK", "seed", "presencePenalty", "frequencyPenalty", "stopSequences",
		"thinkingConfig", "responseModalities", "mediaResolution", "candidateCount"); err != nil {
		return fmt.Errorf("generation_config: %w", err)
	}
	think := g.object("thinkingConfig")
	if err := think.only("thinkingLevel", "thinkingBudget", "includeThoughts"); err != nil {
		return fmt.Errorf("thinking_config: %w", err)
	}
	budget := think.number("thinkingBudget")
	switch {
	case think["thinkingLevel"] != nil && think["thinkingBudget"] != nil:
		return fmt.Errorf("thinking_config: you can only set only one of thinking budget and thinking level")
	case budget != 0 && (budget < 512 || budget > 32768):
		return fmt.Errorf("thinking_budget: %v is invalid. Please choose a value between 512 and 32768", budget)
	}
	return oneOf("thinking_level", strings.ToLower(think.text("thinkingLevel")), "minimal", "low", "medium", "high")
}
