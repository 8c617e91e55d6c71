package bedrock

import (
	"encoding/json"
	"net/http"
	"strings"

	"carrel/agent/model"
	"carrel/agent/model/wire"
)

// explain reads the type of an exception, which is in a header or in the body.
func explain(h http.Header, body []byte, e *model.Error) {
	var said struct {
		Type    string `json:"__type"`
		Message string `json:"message"`
		Upper   string `json:"Message"`
	}
	if json.Unmarshal(body, &said) != nil {
		return
	}
	name := h.Get("X-Amzn-Errortype")
	if name == "" {
		name = said.Type
	}
	if said.Message == "" {
		said.Message = said.Upper
	}
	if name == "" && said.Message == "" {
		return
	}
	if said.Message == "" {
		said.Message = e.Message
	}
	better := failure(e.Status, name, said.Message)
	e.Kind, e.Code, e.Message, e.Hint = better.Kind, better.Code, better.Message, better.Hint
}

// failure makes the error of an exception. status is 0 inside a stream.
func failure(status int, name, text string) *model.Error {
	name, _, _ = strings.Cut(name, ":") // a URL can follow
	name = name[strings.LastIndexByte(name, '#')+1:]
	if text == "" {
		text = name
	}
	e := &model.Error{Status: status, Code: name, Message: text}
	e.Kind, e.Hint = kind(status, strings.ToLower(name), text)
	if strings.EqualFold(name, "InvalidSignatureException") { // what follows repeats the request, session token and all
		e.Message, _, _ = strings.Cut(text, "\n")
	}
	return e
}

// kind sorts an exception by its name first: the texts of throttling speak of too many tokens.
func kind(status int, name, text string) (k model.ErrorKind, hint string) {
	lower := strings.ToLower(text)
	switch name {
	case "throttlingexception", "toomanyrequestsexception":
		if strings.Contains(lower, "per day") {
			return model.ErrQuota, "The account's daily quota for this model is used up: choose another model, or ask AWS for more under Service Quotas."
		}
		return model.ErrRateLimit, ""
	case "servicequotaexceededexception":
		return model.ErrQuota, "Ask AWS for more under Service Quotas, or choose another model or region."
	case "serviceunavailableexception", "modelnotreadyexception":
		return model.ErrOverloaded, ""
	case "internalserverexception", "modelstreamerrorexception", "modelerrorexception", "modeltimeoutexception":
		return model.ErrServer, ""
	case "accessdeniedexception":
		if strings.Contains(lower, "access to the model") {
			return model.ErrAuth, "Ask for access to the model in the Bedrock console, under Model access, in this region."
		}
		if strings.Contains(lower, "api key") {
			return model.ErrAuth, "Bedrock does not know the bearer token: make a new one in its console, under API keys."
		}
		return model.ErrAuth, "Allow bedrock:InvokeModelWithResponseStream for this model in the account's IAM policy, and check the region."
	case "expiredtokenexception", "expiredtoken":
		return model.ErrAuth, "The AWS login has expired: run `aws sso login`, or put new keys in."
	case "unrecognizedclientexception", "invalidsignatureexception", "incompletesignatureexception", "missingauthenticationtokenexception",
		"invalidclienttokenid", "notauthorizedexception":
		return model.ErrAuth, "AWS does not know these credentials: check the key, the secret, the profile and the clock of this machine."
	case "resourcenotfoundexception":
		return model.ErrNotFound, "Check the model's id and that it is served in this region."
	case "validationexception":
		return invalid(status, text, lower)
	}
	k = wire.KindOf(status, name, text)
	return k, ""
}

// invalid sorts a ValidationException, which Bedrock uses for much.
func invalid(status int, text, lower string) (model.ErrorKind, string) {
	switch {
	case strings.Contains(lower, "on-demand throughput"):
		return model.ErrNotFound, "This model is asked through an inference profile: put us., eu., apac. or global. before its id, such as us.anthropic.claude-opus-5."
	case strings.Contains(lower, "model identifier is invalid"), strings.Contains(lower, "end of its life"):
		return model.ErrNotFound, "Check the model's id and that it is served in this region; most need a prefix such as us., eu. or global."
	}
	return wire.KindOf(max(status, http.StatusBadRequest), "", text), ""
}
