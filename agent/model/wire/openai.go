package wire

import (
	"net/http"

	"carrel/agent/model"
)

// OpenAIHeader makes the headers of the formats that began at OpenAI.
func OpenAIHeader(key, organization string, further http.Header) http.Header {
	h := http.Header{}
	if key != "" {
		h.Set("Authorization", "Bearer "+key)
	}
	if organization != "" {
		h.Set("OpenAI-Organization", organization)
	}
	Overlay(h, further)
	return h
}

// At sets where a client of a format that began at OpenAI finds the path: below the base, or at
// Azure, which takes the key in a header of its own.
func (c *Client) At(base string, z Azure, path, key string, further http.Header) error {
	if z.Endpoint == "" {
		base, err := OpenAIBase(base)
		c.URL = base + path
		return err
	}
	address, err := z.URL(path, "-")
	if err != nil {
		return err
	}
	c.URL = address
	c.Endpoint = func(r *model.Request) string {
		deployment := z.Deployment
		if deployment == "" {
			deployment = r.Model
		}
		address, _ := z.URL(path, deployment) // it was tried above
		return address
	}
	if key != "" {
		c.Header.Del("Authorization")
		c.Header.Set("Api-Key", key)
		Overlay(c.Header, further)
	}
	return nil
}

// Copilot gives the headers that GitHub Copilot wants: whether a person or the agent asks, which
// decides what is billed, and whether there are images.
func Copilot(r *model.Request) http.Header {
	h := http.Header{"Openai-Intent": {"conversation-edits"}, "X-Initiator": {"agent"}}
	if n := len(r.Messages); n == 0 || r.Messages[n-1].Role == model.User {
		h.Set("X-Initiator", "user")
	}
	images(r.Messages, func([]byte) { h.Set("Copilot-Vision-Request", "true") })
	return h
}
