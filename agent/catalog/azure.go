package catalog

import (
	"net/http"
	"strings"

	"carrel/agent/model/wire"
)

// azure is OpenAI's provider with Azure behind it, as AZURE_OPENAI_* say.
type azure struct {
	endpoint   string // such as https://mine.openai.azure.com
	deployment string // the name that is sent instead of a model's; "" sends the model's
	version    string // of the API; "" and "v1" are the one without versions
}

// azure reads the environment. It counts where nothing else says how to reach OpenAI.
func (c *Catalog) azure() (azure, key, bool) {
	a := azure{endpoint: c.lookup("AZURE_OPENAI_ENDPOINT"), deployment: c.lookup("AZURE_OPENAI_DEPLOYMENT"),
		version: c.lookup("AZURE_OPENAI_API_VERSION")}
	k := key{value: c.lookup("AZURE_OPENAI_API_KEY"), source: "AZURE_OPENAI_API_KEY"}
	a.endpoint = strings.TrimRight(a.endpoint, "/")
	for _, tail := range []string{"/v1", "/openai"} {
		a.endpoint = strings.TrimSuffix(a.endpoint, tail)
	}
	return a, k, a.endpoint != "" && k.value != ""
}

// on reports whether Azure is behind the provider.
func (a azure) on() bool { return a.endpoint != "" }

// plain reports whether the API without versions is meant.
func (a azure) plain() bool { return a.version == "" || a.version == "v1" || a.version == "preview" }

// base is the base URL for a wire.
func (a azure) base(w Wire) string {
	switch {
	case a.plain():
		return a.endpoint + "/openai/v1"
	case w == OpenAICompatible && a.deployment != "":
		return a.endpoint + "/openai/deployments/" + a.deployment
	}
	return a.endpoint + "/openai"
}

// header carries the key in Azure's way.
func (a azure) header(k key, further http.Header) http.Header {
	h := http.Header{"Api-Key": {k.value}}
	wire.Overlay(h, further)
	return h
}

// query is what the endpoint's address ends in.
func (a azure) query() string {
	if a.version == "" || a.version == "v1" {
		return ""
	}
	return "?api-version=" + strings.NewReplacer("&", "", "#", "", " ", "").Replace(a.version)
}
