package app

// CoderState is how a Coder deployment is connected.
type CoderState struct {
	URL       string          `json:"url,omitempty"`
	Connected bool            `json:"connected"`
	Providers []CoderProvider `json:"providers"` // of the deployment's AI Gateway
	Loaded    bool            `json:"loaded"`    // the catalogue is
	Models    int             `json:"models"`    // in it
	Routes    []CoderRoute    `json:"routes"`    // of the native providers
}

// CoderProvider is one of the providers of a deployment's AI Gateway.
type CoderProvider struct {
	Name string `json:"name"`
	Type string `json:"type"`
	Own  bool   `json:"own,omitempty"` // the settings name it, not the deployment
}

// CoderRoute says where the models of a native provider go.
type CoderRoute struct {
	Native   string `json:"native"`             // anthropic, openai or google
	Mapped   string `json:"mapped,omitempty"`   // what the person chose; "" is the default
	Provider string `json:"provider,omitempty"` // what serves them; "" is none: they don't go through Coder
}

// LoginCoder asks for a login. Origin is that of the page in browser mode, such as
// https://carrel.example.com: the browser comes back to it; "" is this machine's loopback.
type LoginCoder struct {
	URL    string `json:"url"`
	Origin string `json:"origin,omitempty"`
}

// CoderLogin is a login that waits for the person's approval.
type CoderLogin struct {
	ID      string `json:"id"`
	Address string `json:"address"` // to be opened in the browser
}

// SetModelRoute chooses the way to one model of Anthropic, OpenAI or Google.
type SetModelRoute struct {
	Model string `json:"model"` // provider:id
	Route string `json:"route"` // coder, direct, or "" as it is for all
}

// SetCoderRoute maps a native provider; "" is the default.
type SetCoderRoute struct {
	Native   string `json:"native"`
	Provider string `json:"provider"`
}
