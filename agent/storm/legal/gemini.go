package legal

import (
	"slices"
	"strings"
)

// gemini judges a body of Google's streamGenerateContent.
func (j *judge) gemini(body object) {
	j.said.Format = "gemini"
	j.credentials("X-Goog-Api-Key", "Authorization")
	_, rest, _ := strings.Cut(j.path, "/models/")
	j.said.Model, _, _ = strings.Cut(rest, ":")
	j.must(j.said.Model != "", "path", "names no model")
	j.only(body, "body", "contents", "systemInstruction", "tools", "toolConfig", "safetySettings", "generationConfig", "cachedContent", "labels", "serviceTier")
	if body["systemInstruction"] != nil {
		for _, p := range asObjects(j.object(body["systemInstruction"], "systemInstruction")["parts"]) {
			j.said.System += j.full(p["text"], "systemInstruction.parts.text")
		}
	}
	names := j.geminiTools(body)
	if body["toolConfig"] != nil {
		c := j.object(j.object(body["toolConfig"], "toolConfig")["functionCallingConfig"], "toolConfig.functionCallingConfig")
		if list, ok := c["allowedFunctionNames"].([]any); ok {
			for _, n := range list {
				j.must(slices.Contains(names, j.text(n, "allowedFunctionNames")), "allowedFunctionNames", "is no function")
			}
			j.must(c["mode"] == "ANY" || c["mode"] == "VALIDATED", "toolConfig", "allowedFunctionNames needs the mode ANY")
		}
	}
	w := &geminiContents{judge: j}
	list := j.list(body["contents"], "contents")
	j.must(len(list) > 0, "contents", "is not specified")
	for i, v := range list {
		w.content(j.object(v, at("contents", i)), at("contents", i), i == 0)
	}
	j.must(len(w.open) == 0, "contents", "a function call without its function response")
	j.must(w.role == "user", "contents", "the last content is not the user's")
}

func (j *judge) geminiTools(body object) (names []string) {
	if body["tools"] == nil {
		return nil
	}
	for i, v := range j.list(body["tools"], "tools") {
		where := at("tools", i)
		t := j.object(v, where)
		j.only(t, where, "functionDeclarations", "googleSearch", "urlContext", "codeExecution")
		for k, f := range asObjects(t["functionDeclarations"]) {
			w := at(where+".functionDeclarations", k)
			j.only(f, w, "name", "description", "parameters", "parametersJsonSchema", "response", "responseJsonSchema", "behavior")
			name := j.name(f["name"], w+".name")
			j.must(!slices.Contains(names, name), w, "the name comes twice")
			names = append(names, name)
			j.must(f["parameters"] == nil || f["parametersJsonSchema"] == nil, w, "has two schemas")
			if s := f["parametersJsonSchema"]; s != nil {
				j.schema(s, w+".parametersJsonSchema")
			} else if f["parameters"] != nil {
				j.schema(f["parameters"], w+".parameters")
			}
		}
	}
	return names
}

// geminiContents is the walk through the contents.
type geminiContents struct {
	*judge
	role string   // of the content before
	open []string // names of the calls of the content before, in order
}

func (w *geminiContents) content(c object, where string, first bool) {
	w.only(c, where, "role", "parts")
	role := w.among(c["role"], where+".role", "user", "model")
	w.must(!first || role == "user", where, "the first content must be the user's")
	parts := asObjects(c["parts"])
	w.must(len(parts) > 0, where, "must include at least one parts field")
	want := w.open
	w.open = nil
	for i, p := range parts {
		pw := at(where+".parts", i)
		w.only(p, pw, "text", "thought", "thoughtSignature", "inlineData", "functionCall", "functionResponse", "executableCode", "codeExecutionResult", "videoMetadata")
		want = w.part(p, pw, role, want)
	}
	w.must(len(want) == 0, where, "the number of function response parts is not that of the function call parts of the turn before")
	if len(w.open) > 0 {
		w.must(w.role == "user", where, "a function call turn comes immediately after a user turn or after a function response turn")
	}
	w.role = role
}

func (w *geminiContents) part(p object, where, role string, want []string) (left []string) {
	kinds := 0
	for _, k := range []string{"text", "inlineData", "functionCall", "functionResponse"} {
		if p[k] != nil {
			kinds++
		}
	}
	w.must(kinds == 1 || kinds == 0 && p["executableCode"] != nil || kinds == 0 && p["codeExecutionResult"] != nil, where,
		"the required oneof field data must have one initialized field")
	switch {
	case p["text"] != nil:
		text := w.text(p["text"], where+".text")
		w.must(text != "" || p["thoughtSignature"] != nil, where, "the text is empty")
		if role == "user" {
			w.said.Texts = append(w.said.Texts, text)
		}
	case p["inlineData"] != nil:
		d := w.object(p["inlineData"], where+".inlineData")
		if media := w.full(d["mimeType"], where+".mimeType"); strings.HasPrefix(media, "image/") {
			w.picture(media, w.text(d["data"], where+".data"), where+".inlineData")
		}
	case p["functionCall"] != nil:
		c := w.object(p["functionCall"], where+".functionCall")
		w.only(c, where+".functionCall", "id", "name", "args")
		w.must(role == "model", where, "function calls are the model's")
		w.open = append(w.open, w.name(c["name"], where+".functionCall.name"))
		if c["args"] != nil {
			w.object(c["args"], where+".functionCall.args")
		}
		w.said.Calls++
	case p["functionResponse"] != nil:
		r := w.object(p["functionResponse"], where+".functionResponse")
		w.only(r, where+".functionResponse", "id", "name", "response", "parts", "willContinue", "scheduling")
		w.must(role == "user", where, "function responses are the user's")
		w.object(r["response"], where+".functionResponse.response")
		i := slices.Index(want, w.name(r["name"], where+".functionResponse.name"))
		if i < 0 {
			w.fail(where, "a function response without a function call in the turn before")
			return want
		}
		return slices.Delete(slices.Clone(want), i, i+1)
	}
	return want
}
