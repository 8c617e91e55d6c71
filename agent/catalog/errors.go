package catalog

import "fmt"

// Code says what is wrong with a setting.
type Code = string

// The codes of a ConfigError.
const (
	BadModel        Code = "bad_model"        // no such form of a model's name
	UnknownProvider Code = "unknown_provider" // no provider of that id
	Disabled        Code = "provider_disabled"
	NoKey           Code = "no_key"
	BadKey          Code = "bad_key" // it can't be read or sent
	BadBaseURL      Code = "bad_base_url"
	BadProvider     Code = "bad_provider" // id, providerType, wireFormat or headers
	BadLevel        Code = "bad_level"    // no such level of thinking
	BadParameters   Code = "bad_parameters"
	BadChoice       Code = "bad_choice" // what was chosen does not go together
	NoRegion        Code = "no_region"
	NoRoute         Code = "no_route"   // the way that was chosen for the model does not lead to it
	NoList          Code = "no_list"    // the provider's models can't be listed as it is set up
	Unreadable      Code = "unreadable" // the settings themselves
)

// ConfigError is a setting that keeps a model from being asked. Message is a sentence for people: it
// says what is wrong and how to mend it, and holds no key.
type ConfigError struct {
	Code    Code
	Message string
}

// Error gives the message.
func (e *ConfigError) Error() string { return e.Message }

func unknownProvider(id string) *ConfigError {
	return &ConfigError{UnknownProvider, fmt.Sprintf(
		"There is no provider %q. Add it to providers.jsonc with providerType and baseUrl, or choose one of those in Settings.", id)}
}

func noKey(b builtin) *ConfigError {
	return &ConfigError{NoKey, fmt.Sprintf(
		"There is no key for %s. Get one at %s and add it under Settings, Providers, or set %s and start Carrel again.", b.name, b.keyPage, b.keyEnv[0])}
}

func bad(code Code, id, format string, args ...any) *ConfigError {
	return &ConfigError{code, fmt.Sprintf("Provider %q in providers.jsonc: ", id) + fmt.Sprintf(format, args...)}
}
