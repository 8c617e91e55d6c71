package gemini

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"carrel/agent/model"
	"carrel/agent/model/wire"
)

// failure is the value of "error".
type failure struct {
	Code    int    `json:"code"` // of HTTP
	Status  string `json:"status"`
	Message string `json:"message"`
	Details []struct {
		Reason     string `json:"reason"`     // of google.rpc.ErrorInfo
		RetryDelay string `json:"retryDelay"` // of google.rpc.RetryInfo, such as "34.5s"
		Violations []struct {
			QuotaID string `json:"quotaId"`
		} `json:"violations"` // of google.rpc.QuotaFailure
	} `json:"details"`
}

// noLimit recognises a quota that is nothing at all, which no waiting mends.
var noLimit = regexp.MustCompile(`limit: 0\b`)

// passing are states of a server that another try may not meet.
var passing = []string{"DEADLINE_EXCEEDED", "CANCELLED", "ABORTED", "INTERNAL", "UNKNOWN"} // read only

// Explain reads the details of an error, which say what the text alone does not.
func (format) Explain(_ http.Header, body []byte, e *model.Error) {
	var top struct {
		Error failure `json:"error"`
	}
	if json.Unmarshal(body, &top) != nil {
		var list []struct {
			Error failure `json:"error"`
		}
		if json.Unmarshal(body, &list) != nil || len(list) == 0 {
			return
		}
		top = list[0]
	}
	top.Error.explain(e)
}

// inStream is the error that an event tells of.
func inStream(raw json.RawMessage) error {
	var f failure
	code, kind, text := wire.ErrorObject(raw)
	e := wire.InStream(text, code, kind)
	if json.Unmarshal(raw, &f) == nil {
		f.explain(e)
	}
	return e
}

// explain puts the details into e.
func (f failure) explain(e *model.Error) {
	if f.Status == "" && f.Message == "" {
		return
	}
	e.Code = f.Status
	e.Kind = wire.KindOf(f.Code, f.Status, f.Message)
	daily := noLimit.MatchString(f.Message)
	for _, d := range f.Details {
		if d.Reason != "" {
			e.Code = d.Reason
			if k := wire.KindOf(f.Code, d.Reason, f.Message); k != model.ErrBadRequest {
				e.Kind = k
			}
		}
		if wait, err := time.ParseDuration(d.RetryDelay); err == nil && wait > 0 {
			e.RetryAfter = wait
		}
		for _, v := range d.Violations {
			daily = daily || strings.Contains(v.QuotaID, "PerDay")
		}
	}
	switch {
	case strings.HasPrefix(e.Code, "API_KEY_"), f.Status == "UNAUTHENTICATED", strings.Contains(f.Message, "API key not valid"):
		e.Kind = model.ErrAuth
		e.Hint = "Google refuses the key: make a new one at aistudio.google.com and put it in under Settings, Providers."
	case f.Status == "RESOURCE_EXHAUSTED" && daily:
		e.Kind, e.RetryAfter = model.ErrQuota, 0
		e.Hint = "The quota of this model is used up: choose another model, or raise the limit at aistudio.google.com."
	case f.Status == "RESOURCE_EXHAUSTED" && e.Code == f.Status:
		e.Kind = model.ErrRateLimit // its text speaks of a quota also where that is one per minute
	case f.Status == "FAILED_PRECONDITION" && strings.Contains(f.Message, "location"):
		e.Hint = "Google does not serve the place that you connect from: turn billing on for the key's project, or use another provider."
	case e.Kind == model.ErrBadRequest && slices.Contains(passing, f.Status):
		e.Kind = model.ErrServer
	}
}
