package bedrock

import (
	"bufio"
	"encoding/json"
	"net/http"

	"carrel/agent/model"
	"carrel/agent/model/wire"
)

// version is the version of Anthropic's format that Bedrock wants to be told.
const version = "bedrock-2023-05-31"

// claude is Anthropic's format: the model is in the address, and the events are in frames.
type claude struct{ inner Messages }

func (claude) Name() string { return "bedrock" }

func (c claude) Replays(p model.Part) bool { return c.inner.Replays(p) }

func (c claude) Trim(parts []model.Part, last bool) []model.Part { return c.inner.Trim(parts, last) }

func (c claude) Items(m model.Message) []any { return c.inner.Items(m) }

func (c claude) Decoder() wire.Decoder { return c.inner.Decoder() }

// Body leaves out what Bedrock does not have: tiers and native tools.
func (c claude) Body(r *model.Request) wire.Body {
	q := *r
	q.Tier, q.Native = "", nil
	b := c.inner.Body(&q)
	b.Head = append(wire.Obj("anthropic_version", version), b.Head.Without("model", "stream", "anthropic_version")...)
	return b
}

func (claude) Explain(h http.Header, body []byte, e *model.Error) { explain(h, body, e) }

func (claude) Accept() string { return media }

// Frames gives the events that are in the frames.
func (claude) Frames(r *bufio.Reader, data func([]byte) error, alive func()) error {
	return eachFrame(r, func(name string, payload []byte) error {
		var chunk struct {
			Bytes []byte `json:"bytes"`
		}
		if name != "chunk" {
			alive()
			return nil
		}
		if err := json.Unmarshal(payload, &chunk); err != nil {
			return damaged(err)
		}
		return data(chunk.Bytes)
	})
}
