package wire

import (
	"errors"
	"net/url"
	"strings"
)

// Azure says where a model is deployed at Azure OpenAI. The zero value is not at Azure.
type Azure struct {
	// Endpoint is the resource's address, such as https://NAME.openai.azure.com, or a longer one
	// that Azure shows: with /openai, /openai/v1 or /openai/deployments/NAME.
	Endpoint string
	// Deployment is the deployment's name; "" is the model's id.
	Deployment string
	// APIVersion is a dated version, such as 2024-10-21; "" and "v1" mean the address without one.
	APIVersion string
}

// azurePath is where the formats begin.
const azurePath = "/openai"

// URL gives the address of a path, such as "/responses", for a deployment.
func (z Azure) URL(path, deployment string) (string, error) {
	u, err := parseBase(z.Endpoint)
	if err != nil {
		return "", err
	}
	base, tail, found := strings.Cut(strings.TrimRight(u.Path, "/"), azurePath)
	if found && tail != "" && tail[0] != '/' {
		return "", errors.New("the Azure endpoint must end in its host, /openai, /openai/v1 or /openai/deployments/NAME")
	}
	if name, ok := strings.CutPrefix(tail, "/deployments/"); ok {
		if name, _, _ = strings.Cut(name, "/"); name != "" {
			deployment = name
		}
	}
	u.Path = base + azurePath
	switch {
	case z.APIVersion == "" || z.APIVersion == "v1" || tail == "/v1" && z.APIVersion == "preview":
		u.Path += "/v1" + path
		if z.APIVersion == "preview" {
			u.RawQuery = "api-version=preview"
		}
		return u.String(), nil
	case path == "/responses":
		u.Path += path
	default:
		u.Path += "/deployments/" + deployment + path
	}
	u.RawQuery = url.Values{"api-version": {z.APIVersion}}.Encode()
	return u.String(), nil
}
