package fakewire

import (
	"encoding/json"
	"fmt"
	"strings"

	"carrel/agent/model"
)

type geminiFormat struct{}

func (geminiFormat) name() string { return "gemini" }

// geminiAction ends the path of a request; the model's name is before it.
const geminiAction = ":streamGenerateContent"

// geminiOld reports whether a path is that of a model from before Gemini 3: one below /old.
func geminiOld(path string) bool { return strings.HasPrefix(path, "/old/") }

// geminiUnsigned is what stands for a signature that nobody has.
const geminiUnsigned = "skip_thought_signature_validator"

type geminiPart struct {
	Text      *string         `json:"text"`
	Thought   bool            `json:"thought"`
	Signature string          `json:"thoughtSignature"`
	Inline    *geminiBlob     `json:"inlineData"`
	Call      *geminiCall     `json:"functionCall"`
	Response  *geminiResponse `json:"functionResponse"`
	Use       *geminiNative   `json:"toolCall"`
	Result    *geminiNative   `json:"toolResponse"`
}

type geminiBlob struct {
	Mime string `json:"mimeType"`
	Data string `json:"data"`
}

type geminiCall struct {
	ID   string          `json:"id"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

type geminiResponse struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Response struct {
		Output string `json:"output"`
		Error  string `json:"error"`
	} `json:"response"`
	Parts []struct {
		Inline geminiBlob `json:"inlineData"`
	} `json:"parts"`
}

type geminiNative struct {
	ID   string `json:"id"`
	Type string `json:"toolType"`
}

func (geminiFormat) parse(r *Request) error {
	var body struct {
		System struct {
			Parts []geminiPart `json:"parts"`
		} `json:"systemInstruction"`
		Contents []struct {
			Role  string       `json:"role"`
			Parts []geminiPart `json:"parts"`
		} `json:"contents"`
	}
	if err := json.Unmarshal(r.Raw, &body); err != nil {
		return fmt.Errorf("body: %w", err)
	}
	if err := geminiRules(r); err != nil {
		return err
	}
	path := strings.TrimSuffix(r.Path, geminiAction)
	r.Model = path[strings.LastIndexByte(path, '/')+1:]
	for _, p := range body.System.Parts {
		if p.Text != nil {
			r.System += *p.Text
		}
	}
	for i, c := range body.Contents {
		if c.Role != "user" && c.Role != "model" || i == 0 && c.Role != "user" {
			return fmt.Errorf("contents[%d].role: please use a valid role: user, model", i)
		}
		if len(c.Parts) == 0 || i > 0 && body.Contents[i-1].Role == c.Role {
			return fmt.Errorf("contents[%d]: it is empty, or has the role of the one before", i)
		}
		called := false
		for j, p := range c.Parts {
			if p.Call != nil && !called && p.Signature == "" && !geminiOld(r.Path) {
				return fmt.Errorf("contents[%d].parts[%d]: function call is missing a thought_signature in functionCall parts", i, j)
			}
			called = called || p.Call != nil
			if p.Response != nil && p.Response.Parts != nil && geminiOld(r.Path) {
				return fmt.Errorf("contents[%d].parts[%d]: multimodal function response is not supported by this model", i, j)
			}
			if err := r.geminiPart(c.Role, p); err != nil {
				return fmt.Errorf("contents[%d].parts[%d]: %w", i, j, err)
			}
		}
	}
	return nil
}

func (r *Request) geminiPart(role string, p geminiPart) error {
	if role == "model" {
		role = "assistant"
	}
	switch {
	case p.Response != nil:
		return r.geminiResult(p.Response)
	case p.Inline != nil:
		r.add(role).Images++
		return p.Inline.check()
	case p.Call != nil:
		m := r.add(role)
		if p.Signature != "" && p.Signature != geminiUnsigned {
			m.proofs = append(m.proofs, proof{p.Call.Name + string(p.Call.Args), p.Signature})
		}
		m.Calls = append(m.Calls, Call{ID: p.Call.ID, Name: p.Call.Name, Input: string(p.Call.Args)})
		m.last = "call"
	case p.Use != nil:
		r.add(role).native(true, p.Use.ID)
	case p.Result != nil:
		r.add(role).native(false, p.Result.ID)
	case p.Text != nil && p.Thought:
		return fmt.Errorf("thoughts are not to be sent")
	case p.Text != nil:
		m := r.add(role)
		if p.Signature != "" {
			m.proofs = append(m.proofs, proof{*p.Text, p.Signature})
		} else if *p.Text == "" {
			return fmt.Errorf("required oneof field 'data' must have one initialized field")
		}
		if *p.Text != "" {
			m.say(*p.Text)
		}
	default:
		return fmt.Errorf("required oneof field 'data' must have one initialized field")
	}
	return nil
}

func (r *Request) geminiResult(in *geminiResponse) error {
	m := r.add("tool")
	m.Results = append(m.Results, Result{ID: in.ID, Text: in.Response.Output + in.Response.Error, IsError: in.Response.Error != ""})
	for _, q := range in.Parts {
		m.Images++
		if err := q.Inline.check(); err != nil {
			return err
		}
	}
	return nil
}

func (b geminiBlob) check() error {
	if b.Mime == "image/gif" {
		return fmt.Errorf("unsupported MIME type: image/gif")
	}
	return checkFile(b.Mime, b.Data)
}

// geminiStream sends pieces of one response.
type geminiStream struct {
	*stream
	usage object
}

func (s geminiStream) piece(candidate object) {
	s.event("", object{"candidates": []any{candidate}, "usageMetadata": s.usage, "modelVersion": "m", "responseId": "r"})
}

func (s geminiStream) part(p object) {
	s.piece(object{"content": object{"role": "model", "parts": []any{p}}, "index": 0})
}

func (geminiFormat) content(out *stream, r Request) {
	u := out.reply.usage()
	s := geminiStream{out, object{"promptTokenCount": u.Input + u.CacheRead, "totalTokenCount": u.Input + u.CacheRead}}
	out.deltas(out.reply.Reasoning, func(piece string) { s.part(object{"text": piece, "thought": true}) })
	if q := out.reply.Search; q != nil {
		id := fmt.Sprintf("search_%d", r.N)
		s.part(object{"toolCall": object{"toolType": "GOOGLE_SEARCH_WEB", "id": id, "args": object{"queries": []any{q.Query}}},
			"thoughtSignature": prove(r.Model, id)})
		if !q.Alone {
			s.part(object{"toolResponse": object{"toolType": "GOOGLE_SEARCH_WEB", "id": id, "response": object{"search_suggestions": "<div>"}},
				"thoughtSignature": prove(r.Model, id)})
		}
	}
	out.deltas(out.reply.Text, func(piece string) { s.part(object{"text": piece}) })
	if out.reply.Text != "" && len(out.reply.Calls) == 0 {
		s.part(object{"text": "", "thoughtSignature": prove(r.Model, "")})
	}
	for i, c := range out.reply.Calls {
		if c.Input == "" {
			c.Input = "{}"
		}
		if !json.Valid([]byte(c.Input)) { // it is parsed before it is sent, so a call that was cut never comes
			continue
		}
		call := object{"name": c.Name, "args": json.RawMessage(c.Input)}
		if c.ID != "" || i%2 == 0 { // the id can be missing
			if call["id"] = c.ID; c.ID == "" {
				call["id"] = r.callID(i)
			}
		}
		p := object{"functionCall": call}
		if i == 0 { // of calls side by side only the first is signed
			p["thoughtSignature"] = prove(r.Model, c.Name+c.Input)
		}
		s.part(p)
	}
}

func (geminiFormat) end(out *stream, _ Request) {
	u := out.reply.usage()
	s := geminiStream{out, object{"promptTokenCount": u.Input + u.CacheRead, "cachedContentTokenCount": u.CacheRead,
		"candidatesTokenCount": u.Output - u.Reasoning, "thoughtsTokenCount": u.Reasoning,
		"totalTokenCount": u.Input + u.CacheRead + u.Output}}
	reason := map[model.Stop]string{model.StopLength: "MAX_TOKENS", model.StopFilter: "SAFETY"}[out.reply.stop()]
	if reason == "" {
		reason = "STOP"
	}
	last := object{"content": object{"role": "model"}, "finishReason": reason, "index": 0}
	if q := out.reply.Search; q != nil {
		var found []any
		for _, f := range q.Found {
			found = append(found, object{"web": object{"uri": f.URL, "title": f.Title}})
		}
		last["groundingMetadata"] = object{"webSearchQueries": []any{q.Query}, "groundingChunks": found}
	}
	s.piece(last)
}

func (geminiFormat) fail(s *stream) {
	s.event("", geminiError(Reply{ErrorType: s.reply.ErrorType, ErrorMessage: s.reply.ErrorMessage}))
}

// geminiError is the form of its errors. Ours are told by the reason.
func geminiError(r Reply) object {
	status, code := "UNKNOWN", r.Status
	if code/100 == 4 {
		status = "INVALID_ARGUMENT"
	}
	for _, known := range []struct {
		word, status string
		code         int
	}{
		{"overloaded", "UNAVAILABLE", 503}, {"server_error", "INTERNAL", 500}, {"api_error", "INTERNAL", 500},
		{"rate_limit", "RESOURCE_EXHAUSTED", 429}, {"quota", "RESOURCE_EXHAUSTED", 429}, {"authentication", "UNAUTHENTICATED", 401},
		{"permission", "PERMISSION_DENIED", 403}, {"not_found", "NOT_FOUND", 404}, {"invalid_request", "INVALID_ARGUMENT", 400},
		{"context_length", "INVALID_ARGUMENT", 400},
	} {
		if strings.Contains(r.ErrorType, known.word) {
			status = known.status
			if code == 0 {
				code = known.code
			}
			break
		}
	}
	e := object{"code": code, "message": r.ErrorMessage, "status": status}
	if r.ErrorType != "" && r.ErrorType != "invalid_request_error" {
		e["details"] = []any{object{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": strings.ToUpper(r.ErrorType)}}
	}
	return object{"error": e}
}
