package tokens

import (
	"hash/maphash"
	"sync"

	"carrel/agent/model"
)

// What a message and a call take beside their text, in tokens, about the same for every provider.
const (
	perMessage = 4
	perCall    = 10
	perTool    = 12
)

// remembered is how many counts a Counter keeps, in each of two generations: about 1 MB.
const remembered = 16 << 10

// Counter estimates how many tokens requests have. Its methods may be called from any goroutine.
type Counter struct {
	seed maphash.Seed

	mu       sync.Mutex
	now, old map[uint64]int32 // of pieces and pictures, by hash
	factors  *factors
}

// New gives a Counter that starts with what was learned before. It calls save with what it learns,
// one call at a time and not for every small change; nil: it is forgotten with the Counter.
func New(known map[string]Factor, save func(model string, f Factor)) *Counter {
	return &Counter{seed: maphash.MakeSeed(), now: map[uint64]int32{}, factors: newFactors(known, save)}
}

// Estimate is how many tokens something has.
type Estimate struct {
	Raw    int64 // as counted; what Learn is to be given
	Tokens int64 // with what was learned about the model
}

// Estimate gives the tokens of messages for the model "provider:id".
func (c *Counter) Estimate(id string, msgs []model.Message) Estimate {
	return c.scaled(id, c.messages(id, msgs))
}

// Request gives the tokens of a whole request, with system prompt and tools, for the model
// "provider:id".
func (c *Counter) Request(id string, r *model.Request) Estimate {
	return c.scaled(id, c.frame(r)+c.messages(id, r.Messages))
}

// frame counts what is no message.
func (c *Counter) frame(r *model.Request) int64 {
	raw := c.Count(r.System)
	for _, t := range r.Tools {
		raw += perTool + c.Count(t.Name) + c.Count(t.Description) + c.bytes(t.Schema)
	}
	return raw
}

func (c *Counter) scaled(id string, raw int64) Estimate {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Estimate{Raw: raw, Tokens: int64(float64(raw)*c.factors.of(id) + 0.5)}
}

// Learn tells that a request that was estimated at raw tokens (see Estimate) had real ones, cached
// ones included, as the provider says.
func (c *Counter) Learn(id string, raw, real int64) {
	c.factors.saving.Lock()
	defer c.factors.saving.Unlock()
	c.mu.Lock()
	f, worth := c.factors.learn(id, raw, real)
	c.mu.Unlock()
	if worth && c.factors.save != nil {
		c.factors.save(id, f)
	}
}

// Count gives the tokens of a text, as Count does, but in pieces of 4 KiB that are remembered.
func (c *Counter) Count(text string) int64 {
	var n int64
	for len(text) > 0 {
		at := cut(text, small)
		n += c.piece(text[:at])
		text = text[at:]
	}
	return n
}

// bytes is Count of text that lies in bytes.
func (c *Counter) bytes(text []byte) int64 { return c.Count(string(text)) }

func (c *Counter) piece(text string) int64 {
	key := maphash.String(c.seed, text)
	if n, ok := c.recall(key); ok {
		return n
	}
	n := int64(count(text))
	c.remember(key, n)
	return n
}

func (c *Counter) recall(key uint64) (int64, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n, ok := c.now[key]; ok {
		return int64(n), true
	}
	n, ok := c.old[key]
	if ok {
		c.keep(key, n)
	}
	return int64(n), ok
}

func (c *Counter) remember(key uint64, n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keep(key, int32(n))
}

// keep enters a count; when there are too many, those that were not asked for lately go.
func (c *Counter) keep(key uint64, n int32) {
	if len(c.now) >= remembered {
		c.now, c.old = map[uint64]int32{}, c.now
	}
	c.now[key] = n
}

func (c *Counter) messages(id string, msgs []model.Message) int64 {
	var n int64
	for _, m := range msgs {
		n += perMessage + c.parts(id, m.Parts)
	}
	return n
}

func (c *Counter) parts(id string, parts []model.Part) int64 {
	var n int64
	for _, p := range parts {
		switch p.Kind {
		case model.Text, model.Reasoning:
			n += c.Count(p.Text)
		case model.ToolCall:
			n += perCall + c.Count(p.Name) + c.Count(p.Input)
		case model.ToolResult:
			n += perCall + c.parts(id, p.Parts)
		case model.File:
			n += c.file(id, p)
		case model.Native:
			n += perCall + c.Count(p.Text) + c.bytes(p.Opaque)
		}
	}
	return n
}
