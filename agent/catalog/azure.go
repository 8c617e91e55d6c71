package catalog

import (
	"carrel/agent/model/wire"
)

// fromAzure reads the environment's AZURE_OPENAI_*, which put Azure behind OpenAI's provider where
// nothing else says how to reach it.
func (c *Catalog) fromAzure() (wire.Azure, key, bool) {
	z := wire.Azure{Endpoint: c.lookup("AZURE_OPENAI_ENDPOINT"), Deployment: c.lookup("AZURE_OPENAI_DEPLOYMENT"),
		APIVersion: c.lookup("AZURE_OPENAI_API_VERSION")}
	k := key{value: c.lookup("AZURE_OPENAI_API_KEY"), source: "AZURE_OPENAI_API_KEY"}
	return z, k, z.Endpoint != "" && k.value != "" && sendable(k.value)
}
