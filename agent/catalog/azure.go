package catalog

import (
	"carrel/agent/model/wire"
)

// fromAzure reads the environment's AZURE_OPENAI_*, which put Azure behind OpenAI's provider where
// nothing else says how to reach it. Without a key there an application's login at Microsoft Entra signs
// the requests, where the environment names one.
func (c *Catalog) fromAzure() (wire.Azure, key, signature, bool) {
	z := wire.Azure{Endpoint: c.lookup("AZURE_OPENAI_ENDPOINT"), Deployment: c.lookup("AZURE_OPENAI_DEPLOYMENT"),
		APIVersion: c.lookup("AZURE_OPENAI_API_VERSION")}
	k := key{value: c.lookup("AZURE_OPENAI_API_KEY"), source: "AZURE_OPENAI_API_KEY"}
	if k.value == "" {
		e, ok := c.fromEntra()
		return z, key{source: "AZURE_CLIENT_SECRET"}, c.signEntra(e), ok && z.Endpoint != ""
	}
	return z, k, nil, z.Endpoint != "" && sendable(k.value)
}
