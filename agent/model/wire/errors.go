package wire

import (
	"encoding/json"
	"math"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"carrel/agent/model"
)

// badEventError is an event that is not what the format says.
type badEventError struct{ cause error }

func (e *badEventError) Error() string { return "event of an unknown form: " + e.cause.Error() }
func (e *badEventError) Unwrap() error { return e.cause }

// Unmarshal reads an event; what can't be read gives an error that the client understands.
func Unmarshal(data []byte, v any) error {
	if err := json.Unmarshal(data, v); err != nil {
		return &badEventError{err}
	}
	return nil
}

// overflowText recognises a full context window where a provider gives no code of its own.
var overflowText = regexp.MustCompile(`(?i)prompt is too long|context[ _]length|context window|maximum context|input token count.*exceeds|too many tokens|exceeds the maximum (?:allowed )?(?:input|number of tokens)|input (?:is )?too long|range of input length|request_too_large`)

// quotaText recognises an empty account where the code only says "invalid request".
var quotaText = regexp.MustCompile(`(?i)credit balance is too low|exceeded your current quota|insufficient (?:balance|credits|funds)`)

// imageText recognises a refusal of an image.
var imageText = regexp.MustCompile(`(?i)image|pixel|\bmedia[ _]type|unsupported file|base64`)

// reasoningText recognises a refusal of reasoning that was sent back.
var reasoningText = regexp.MustCompile(`(?i)signature|thinking|redacted|encrypted[ _]content|reasoning`)

// KindOf sorts an error by its HTTP status (0 inside a stream), its code or type, and its text:
// the code is trusted first.
func KindOf(status int, code, text string) model.ErrorKind {
	code = strings.ToLower(code)
	has := func(s string) bool { return strings.Contains(code, s) }
	client := status == 400 || status == 413 || status == 0
	switch {
	case code == "invalid_access_program", code == "unsupported_access_program", code == "access_program_not_enabled":
		return model.ErrBadRequest // which no key and no waiting mends
	case has("insufficient_quota"), has("billing"), status == http.StatusPaymentRequired,
		(client || status == 429 || status == 403) && quotaText.MatchString(text):
		return model.ErrQuota
	case code == "context_length_exceeded", has("request_too_large"), client && overflowText.MatchString(text):
		return model.ErrOverflow
	case status == 529, status == 503, has("overloaded"), code == "unavailable", code == "503", code == "529":
		return model.ErrOverloaded
	case status == 429, has("rate_limit"), code == "resource_exhausted", code == "429":
		return model.ErrRateLimit
	case has("model_not_found"), has("not_found_error"):
		return model.ErrNotFound
	case status == 401, status == 403, has("authentication"), has("permission_error"), has("invalid_api_key"):
		return model.ErrAuth
	case status == 404:
		return model.ErrNotFound
	case status >= 500, status == 408, status == 409, code == "server_error", code == "api_error",
		code == "internal_error", code == "internal_server_error", code == "timeout_error",
		code == "500", code == "502", code == "504":
		return model.ErrServer
	}
	return model.ErrBadRequest
}

// InStream is the error that an event of a stream tells of. The first code that says something
// decides.
func InStream(text string, codes ...string) *model.Error {
	e := &model.Error{Kind: model.ErrBadRequest, Message: text}
	for _, code := range codes {
		if e.Message == "" {
			e.Message = code
		}
		if e.Code == "" {
			e.Code = code
		}
		if e.Kind == model.ErrBadRequest {
			e.Kind = KindOf(statusIn(code), code, text)
		}
	}
	return e
}

// statusIn is the HTTP status that a code is, 0 for a code that is none.
func statusIn(code string) int {
	if n, err := strconv.Atoi(code); err == nil && 400 <= n && n < 600 {
		return n
	}
	return 0
}

// classify makes the error of a response that is not a success. wait is what its headers ask for.
func classify(status int, body []byte, wait time.Duration) *model.Error {
	code, kind, text := errorBody(body)
	if text == "" {
		text = strings.TrimSpace(string(validUTF8(body)))
	}
	if text == "" || strings.HasPrefix(text, "<") {
		text = http.StatusText(status)
	}
	k := KindOf(status, code, text)
	if k == model.ErrBadRequest || k == model.ErrRateLimit {
		if other := KindOf(status, kind, text); other != model.ErrBadRequest {
			k = other
		}
	}
	return &model.Error{Kind: k, Status: status, Code: code, Message: text, RetryAfter: wait}
}

// errorBody reads the forms of error bodies in use: an error object, an error text, or a message
// or detail at the top.
func errorBody(body []byte) (code, kind, text string) {
	var top struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(body, &top) != nil {
		var list []json.RawMessage
		if json.Unmarshal(body, &list) == nil && len(list) > 0 && list[0][0] == '{' {
			return errorBody(list[0])
		}
		return "", "", ""
	}
	code, kind, text = ErrorObject(top.Error)
	if text == "" {
		text = top.Message
	}
	if text == "" && json.Unmarshal(top.Detail, &text) != nil {
		text = strings.TrimSpace(string(top.Detail))
	}
	return code, kind, text
}

// ErrorObject reads the value of an "error" field: code (also from status), type and text.
func ErrorObject(raw json.RawMessage) (code, kind, text string) {
	if len(raw) == 0 {
		return "", "", ""
	}
	if json.Unmarshal(raw, &text) == nil {
		return "", "", text
	}
	var e struct {
		Type    string          `json:"type"`
		Message string          `json:"message"`
		Status  string          `json:"status"`
		Code    json.RawMessage `json:"code"`
		Param   json.RawMessage `json:"param"`
	}
	if json.Unmarshal(raw, &e) != nil {
		return "", "", strings.TrimSpace(string(raw))
	}
	if code = strings.Trim(string(e.Code), `"`); code == "null" || code == "" {
		if code = e.Status; code == "" {
			code = e.Type
		}
	}
	if param := strings.Trim(string(e.Param), `"`); strings.HasPrefix(param, "tools") && !strings.Contains(e.Message, param) {
		e.Message += " (" + param + ")" // which tool is meant is said nowhere else
	}
	return code, e.Type, e.Message
}

// retryAfter is what the headers of a response ask to wait: in milliseconds, in seconds or until a
// date. now is the time to count a date from.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if d, ok := number(h.Get("Retry-After-Ms"), time.Millisecond); ok {
		return d
	}
	v := h.Get("Retry-After")
	if d, ok := number(v, time.Second); ok {
		return d
	}
	if t, err := http.ParseTime(v); err == nil {
		return max(t.Sub(now), 0)
	}
	return 0
}

func number(s string, unit time.Duration) (time.Duration, bool) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(f) || f < 0 {
		return 0, false
	}
	return time.Duration(min(f, float64(math.MaxInt32)) * float64(unit)), true
}
