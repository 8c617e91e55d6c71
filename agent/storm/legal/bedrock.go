package legal

import (
	"net/url"
	"slices"
	"strings"
)

// bedrock judges a body of Amazon Bedrock's ConverseStream.
func (j *judge) bedrock(body object) {
	j.said.Format = "bedrock"
	j.credentials("Authorization")
	j.said.Model = j.bedrockModel("/converse-stream")
	j.only(body, "body", "messages", "system", "inferenceConfig", "toolConfig", "guardrailConfig", "additionalModelRequestFields",
		"promptVariables", "additionalModelResponseFieldPaths", "requestMetadata", "performanceConfig", "serviceTier")
	w := &bedrockMessages{judge: j, ids: map[string]bool{}}
	for i, b := range asObjects(body["system"]) {
		where := at("system", i)
		if w.cachePoint(b, where) {
			continue
		}
		j.said.System += w.spoken(b, where)
	}
	if body["toolConfig"] != nil {
		w.tools(j.object(body["toolConfig"], "toolConfig"))
	}
	list := j.list(body["messages"], "messages")
	j.must(len(list) > 0, "messages", "is empty")
	for i, v := range list {
		w.message(j.object(v, at("messages", i)), at("messages", i), i == 0)
	}
	j.must(len(w.open) == 0, "messages", "toolUse without toolResult")
	j.must(w.role == "user", "messages", "the conversation must end with a user message")
	j.must(w.points <= 4, "cachePoint", "more than 4 cache points")
	j.must(j.said.Calls == 0 || body["toolConfig"] != nil, "toolConfig", "must be defined when using toolUse and toolResult content blocks")
}

// bedrockModel is the model's name in the path, before an action.
func (j *judge) bedrockModel(action string) string {
	_, rest, _ := strings.Cut(j.path, "/model/")
	name, err := url.PathUnescape(strings.TrimSuffix(rest, action))
	j.must(err == nil && name != "", "path", "names no model")
	return name
}

// bedrockClaude judges a body in Anthropic's format for InvokeModelWithResponseStream.
func (j *judge) bedrockClaude(body object) {
	j.said.Format = "bedrock-claude"
	j.credentials("Authorization")
	j.must(body["anthropic_version"] == "bedrock-2023-05-31", "anthropic_version", "is required")
	j.said.Model = j.bedrockModel("/invoke-with-response-stream")
	j.anthropicBody(body, "anthropic_version", "anthropic_beta", "max_tokens", "messages", "system", "tools", "tool_choice", "thinking",
		"output_config", "temperature", "top_p", "top_k", "stop_sequences", "metadata")
}

// bedrockMessages is the walk through the messages.
type bedrockMessages struct {
	*judge
	ids    map[string]bool
	open   []string // toolUse of the message before
	role   string   // of the message before
	points int
}

func (w *bedrockMessages) cachePoint(b object, where string) bool {
	if b["cachePoint"] == nil {
		return false
	}
	w.points++
	w.among(w.object(b["cachePoint"], where+".cachePoint")["type"], where+".cachePoint.type", "default")
	return true
}

func (w *bedrockMessages) spoken(b object, where string) string {
	text := w.text(b["text"], where+".text")
	w.must(strings.TrimSpace(text) != "", where, "the text field is blank")
	return text
}

func (w *bedrockMessages) tools(c object) {
	var names []string
	list := w.list(c["tools"], "toolConfig.tools")
	w.must(len(list) > 0, "toolConfig.tools", "is empty")
	for i, v := range list {
		where := at("toolConfig.tools", i)
		t := w.object(v, where)
		if w.cachePoint(t, where) {
			continue
		}
		s := w.object(t["toolSpec"], where+".toolSpec")
		w.only(s, where+".toolSpec", "name", "description", "inputSchema", "strict")
		name := w.name(s["name"], where+".toolSpec.name")
		w.must(!slices.Contains(names, name), where, "the name comes twice")
		names = append(names, name)
		if s["description"] != nil {
			w.full(s["description"], where+".toolSpec.description")
		}
		w.schema(w.object(s["inputSchema"], where+".toolSpec.inputSchema")["json"], where+".toolSpec.inputSchema.json")
	}
}

func (w *bedrockMessages) message(m object, where string, first bool) {
	w.only(m, where, "role", "content")
	role := w.among(m["role"], where+".role", "user", "assistant")
	w.must(!first || role == "user", where, "a conversation must start with a user message")
	w.must(role != w.role, where, "a conversation must alternate between user and assistant roles")
	blocks := asObjects(m["content"])
	w.must(len(blocks) > 0, where, "the content field is empty")
	want := w.open
	w.open, w.role = nil, role
	for i, b := range blocks {
		bw := at(where+".content", i)
		w.must(len(b) == 1, bw, "a block has one field")
		want = w.block(b, bw, role, want)
	}
	w.must(len(want) == 0, where, "expected toolResult blocks for: "+strings.Join(want, ", "))
}

func (w *bedrockMessages) block(b object, where, role string, want []string) (left []string) {
	switch {
	case w.cachePoint(b, where):
	case b["text"] != nil:
		if text := w.spoken(b, where); role == "user" {
			w.said.Texts = append(w.said.Texts, text)
		}
	case b["toolUse"] != nil:
		u := w.object(b["toolUse"], where+".toolUse")
		w.only(u, where+".toolUse", "toolUseId", "name", "input", "type")
		id := w.text(u["toolUseId"], where+".toolUseId")
		w.must(toolName.MatchString(id), where+".toolUseId", "does not match [a-zA-Z0-9_-]{1,64}")
		w.must(!w.ids[id], where+".toolUseId", "comes twice")
		w.ids[id] = true
		w.name(u["name"], where+".toolUse.name")
		w.object(u["input"], where+".toolUse.input")
		w.must(role == "assistant", where, "toolUse is the assistant's")
		w.open = append(w.open, id)
		w.said.Calls++
	case b["toolResult"] != nil:
		return w.result(w.object(b["toolResult"], where+".toolResult"), where+".toolResult", role, want)
	case b["reasoningContent"] != nil:
		w.must(role == "assistant", where, "reasoningContent is the assistant's")
	case b["image"] != nil:
		w.image(w.object(b["image"], where+".image"), where+".image")
	case b["document"] != nil:
		w.full(w.object(b["document"], where+".document")["name"], where+".document.name")
	default:
		w.fail(where, "is of no known kind")
	}
	return want
}

func (w *bedrockMessages) image(o object, where string) {
	format := w.among(o["format"], where+".format", "png", "jpeg", "gif", "webp")
	w.picture("image/"+format, w.text(w.object(o["source"], where+".source")["bytes"], where+".source.bytes"), where)
}

func (w *bedrockMessages) result(r object, where, role string, want []string) (left []string) {
	w.only(r, where, "toolUseId", "content", "status", "type")
	w.must(role == "user", where, "toolResult is the user's")
	if r["status"] != nil {
		w.among(r["status"], where+".status", "success", "error")
	}
	content := asObjects(r["content"])
	w.must(len(content) > 0, where, "the content is empty")
	for i, c := range content {
		cw := at(where+".content", i)
		switch {
		case c["text"] != nil:
			w.spoken(c, cw)
		case c["image"] != nil:
			w.image(w.object(c["image"], cw+".image"), cw+".image")
		case c["json"] == nil && c["document"] == nil:
			w.fail(cw, "is of no known kind")
		}
	}
	id := w.text(r["toolUseId"], where+".toolUseId")
	i := slices.Index(want, id)
	if i < 0 {
		w.fail(where, "no toolUse %q in the message before", id)
		return want
	}
	return slices.Delete(slices.Clone(want), i, i+1)
}
