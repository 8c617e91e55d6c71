package wire

import (
	"carrel/agent/model"
)

// hint says how to mend a failed request, "" when there is nothing to do but to wait.
func hint(e *model.Error) string {
	switch e.Code {
	case "invalid_access_program":
		return "This model needs another access program: turn Cyber mode off or choose another model."
	case "unsupported_access_program":
		return "OpenAI does not offer this access program on this model to you: turn Cyber mode off."
	case "access_program_not_enabled":
		return "The key's project or organization lacks the access program: turn Cyber mode off, or ask OpenAI for access."
	case "unsupported_country_region_territory":
		return "The provider does not serve the place that you connect from."
	case "context_length_exceeded":
		return "Start a new conversation, or choose a model with a larger context."
	}
	switch e.Kind {
	case model.ErrAuth:
		if e.Status == 403 {
			return "The key is known but may not do this: check its permissions and the account's access to the model."
		}
		return "Check the provider's key in the settings."
	case model.ErrQuota:
		return "Add credit or raise the limit in the provider's console, or choose another model."
	case model.ErrNotFound:
		return "Check the model's id, and the base URL if the provider has one in the settings."
	case model.ErrOverflow:
		return "Start a new conversation, or choose a model with a larger context."
	case model.ErrNetwork:
		if e.MidStream || e.Cause == nil {
			return ""
		}
		return "Check the network, and the base URL if the provider has one in the settings."
	case model.ErrRateLimit, model.ErrOverloaded, model.ErrServer, model.ErrBadRequest, model.ErrCancelled:
	}
	return ""
}
