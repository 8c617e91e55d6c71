package fakewire

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"carrel/agent/model"
)

// converseFormat is Bedrock's own format.
type converseFormat struct{}

func (converseFormat) name() string { return "converse" }

type converseBlock struct {
	Text     *string       `json:"text"`
	Image    *converseFile `json:"image"`
	Document *converseFile `json:"document"`
	Point    *struct {
		Type string `json:"type"`
	} `json:"cachePoint"`
	Use *struct {
		ID    string          `json:"toolUseId"`
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input"`
	} `json:"toolUse"`
	Result *struct {
		ID      string          `json:"toolUseId"`
		Status  string          `json:"status"`
		Content []converseBlock `json:"content"`
	} `json:"toolResult"`
	Reasoning *struct {
		Text *struct {
			Text      string `json:"text"`
			Signature string `json:"signature"`
		} `json:"reasoningText"`
		Redacted json.RawMessage `json:"redactedContent"`
	} `json:"reasoningContent"`
}

type converseFile struct {
	Format string `json:"format"`
	Name   string `json:"name"`
	Source struct {
		Bytes string `json:"bytes"`
	} `json:"source"`
}

func (f converseFile) check() error {
	kind := "image/"
	if f.Format == "pdf" {
		kind = "application/"
	}
	return checkFile(kind+f.Format, f.Source.Bytes)
}

func (converseFormat) parse(r *Request) error {
	var body struct {
		System   []converseBlock `json:"system"`
		Messages []struct {
			Role    string          `json:"role"`
			Content []converseBlock `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(r.Raw, &body); err != nil {
		return fmt.Errorf("body: %w", err)
	}
	if err := converseRules(r); err != nil {
		return err
	}
	r.Model = modelIn(r.Path, converseAction)
	for _, b := range body.System {
		if b.Text != nil {
			r.System += *b.Text
		}
	}
	for i, m := range body.Messages {
		if m.Role != "user" && m.Role != "assistant" || i == 0 && m.Role != "user" || len(m.Content) == 0 || i > 0 && body.Messages[i-1].Role == m.Role {
			return fmt.Errorf("messages.%d: role %q can't be here, or the content is empty", i, m.Role)
		}
		for j, b := range m.Content {
			if err := r.converse(m.Role, b); err != nil {
				return fmt.Errorf("messages.%d.content.%d: %w", i, j, err)
			}
		}
	}
	return nil
}

func (r *Request) converse(role string, b converseBlock) error {
	switch {
	case b.Text != nil:
		if *b.Text == "" {
			return fmt.Errorf("the text field in the ContentBlock object is blank")
		}
		r.add(role).say(*b.Text)
	case b.Point != nil:
		if b.Point.Type != "default" || !takesPoints(r.Model) {
			return fmt.Errorf("you invoked an unsupported model or your request did not allow prompt caching")
		}
	case b.Image != nil:
		r.add(role).Images++
		return b.Image.check()
	case b.Document != nil:
		r.add(role).Images++
		return b.Document.check()
	case b.Use != nil:
		m := r.add(role)
		m.Calls = append(m.Calls, Call{ID: b.Use.ID, Name: b.Use.Name, Input: string(b.Use.Input)})
		m.last = "call"
		if r.Tools == nil {
			return fmt.Errorf("the toolConfig field must be defined when using toolUse and toolResult content blocks")
		}
	case b.Reasoning != nil:
		m := r.add(role)
		m.last = "reasoning"
		if t := b.Reasoning.Text; t != nil {
			m.proofs = append(m.proofs, proof{t.Text, t.Signature})
		}
	case b.Result != nil:
		m := r.add("tool")
		result := Result{ID: b.Result.ID, IsError: b.Result.Status == "error"}
		for _, c := range b.Result.Content {
			switch {
			case c.Text != nil:
				result.Text += *c.Text
			case c.Image != nil:
				m.Images++
				if err := c.Image.check(); err != nil {
					return err
				}
			}
		}
		m.Results = append(m.Results, result)
	default:
		return fmt.Errorf("unknown kind of block")
	}
	return nil
}

// takesPoints tells the models that take cache points. An ARN need not say what it stands for.
func takesPoints(name string) bool {
	return strings.Contains(name, "amazon.nova") || strings.Contains(name, "anthropic.claude") || strings.HasPrefix(name, "arn:")
}

func (converseFormat) media() string { return eventMedia }

func (converseFormat) frame(name, data string) string { return frame("event", name, []byte(data)) }

func (f converseFormat) beat() string { return f.frame("initial-response", "{}") }

func (converseFormat) fail(s *stream) { failFrame(s) }

func (converseFormat) content(s *stream, r Request) {
	s.event("messageStart", object{"role": "assistant", "p": "abc"})
	index := 0
	delta := func(d object) {
		s.event("contentBlockDelta", object{"contentBlockIndex": index, "delta": d, "p": "abcdef"})
	}
	end := func() {
		s.event("contentBlockStop", object{"contentBlockIndex": index})
		index++
	}
	if t := s.reply.Reasoning; t != "" {
		s.deltas(t, func(piece string) { delta(object{"reasoningContent": object{"text": piece}}) })
		delta(object{"reasoningContent": object{"signature": prove(r.Model, t)}})
		end()
	}
	if t := s.reply.Text; t != "" {
		s.deltas(t, func(piece string) { delta(object{"text": piece}) })
		end()
	}
	for i, c := range s.reply.Calls {
		if c.ID == "" {
			c.ID = r.callID(i)
		}
		s.event("contentBlockStart", object{"contentBlockIndex": index, "start": object{"toolUse": object{"toolUseId": c.ID, "name": c.Name}}})
		s.deltas(c.Input, func(piece string) { delta(object{"toolUse": object{"input": piece}}) })
		end()
	}
}

func (converseFormat) end(s *stream, _ Request) {
	reason := map[model.Stop]string{
		model.StopEnd: "end_turn", model.StopTools: "tool_use", model.StopLength: "max_tokens",
		model.StopOverflow: "model_context_window_exceeded", model.StopFilter: "content_filtered",
	}[s.reply.stop()]
	if reason == "" {
		reason = "end_turn"
	}
	s.event("messageStop", object{"stopReason": reason})
	u := s.reply.usage()
	last := object{"usage": object{"inputTokens": u.Input, "outputTokens": u.Output, "totalTokens": u.Input + u.Output + u.CacheRead + u.CacheWrite,
		"cacheReadInputTokens": u.CacheRead, "cacheWriteInputTokens": u.CacheWrite}, "metrics": object{"latencyMs": 1}}
	if s.reply.Tier != "" {
		last["serviceTier"] = object{"type": s.reply.Tier}
	}
	s.event("metadata", last)
}

// converseRules checks what is not in the messages.
func converseRules(r *Request) error {
	body, err := parseFields(r.Raw)
	if err != nil {
		return err
	}
	if err := body.only("messages", "system", "toolConfig", "inferenceConfig", "additionalModelRequestFields", "serviceTier"); err != nil {
		return err
	}
	if err := body.object("inferenceConfig").only("maxTokens", "temperature", "topP", "stopSequences"); err != nil {
		return err
	}
	config := body.object("toolConfig")
	if err := config.only("tools", "toolChoice"); err != nil {
		return err
	}
	var schemas []json.RawMessage
	for i, t := range config.list("tools") {
		spec := t.object("toolSpec")
		if err := spec.only("name", "description", "inputSchema"); err != nil {
			return fmt.Errorf("tools.%d: %w", i, err)
		}
		if spec["description"] != nil && spec.text("description") == "" {
			return fmt.Errorf("tools.%d.description: must have at least one character", i)
		}
		r.Tools, schemas = append(r.Tools, spec.text("name")), append(schemas, spec.object("inputSchema")["json"])
	}
	r.Force = config.object("toolChoice").object("tool").text("name")
	for _, m := range body.list("messages") {
		for j, b := range m.list("content") {
			if len(b) != 1 {
				return fmt.Errorf("content.%d: a block has exactly one member", j)
			}
			if d := b.object("document"); d != nil {
				if _, err := base64.StdEncoding.DecodeString(d.object("source").text("bytes")); err != nil || d.text("name") == "" {
					return fmt.Errorf("content.%d: document: %w", j, err)
				}
			}
		}
	}
	return toolRules(r.Tools, schemas)
}
