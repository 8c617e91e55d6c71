package turn

import (
	"time"

	"carrel/agent/model"
	"carrel/agent/tokens"
)

// tellEvery is how often the size of the context is told while it grows.
const tellEvery = time.Second

// gauge estimates how large the context is: what the provider counted last, and what came since.
type gauge struct {
	counted int64       // tokens of the newest request and its response
	last    model.Usage // of the newest response that was counted
	grown   int64       // bytes since
	seq     uint64      // StepSeq of the request that counted, 0: of the history as a whole
	sent    tokens.Estimate
	told    time.Time
}

// bytesPerToken is what texts have on average; it is used for what was not counted yet.
const bytesPerToken = 4

// grow takes what was added to the context.
func (g *gauge) grow(parts []model.Part) { g.grown += int64(sizeOf(parts)) }

// tokens is the estimate.
func (g *gauge) tokens() int64 { return g.counted + g.grown/bytesPerToken }

// next is what the next request is likely to use: the context so far from the cache, where the
// provider has one, and a response like the last.
func (g *gauge) next(req *model.Request) model.Usage {
	if g.counted == 0 {
		return model.Usage{Input: roughly(req)}
	}
	u := model.Usage{Input: g.tokens(), Output: g.last.Output}
	if g.last.CacheRead+g.last.CacheWrite > 0 {
		u.CacheRead = g.counted
		u.Input -= u.CacheRead
	}
	return u
}

// sized notes a request that was sent and counts it, beside everything else.
func (c *Conversation) sized(t *openTurn, req *model.Request) {
	tally, id, seq := c.tally, t.end.ID, t.stepSeq
	c.gauge.seq, c.gauge.sent = seq, tokens.Estimate{}
	if tally == nil {
		return
	}
	c.work.Go(func() {
		sent := tally.Request(id, req)
		l := letter{done: func(error) {}, do: func(func(error)) { c.counted(seq, sent) }}
		select {
		case c.mail <- l:
		case <-c.gone:
		}
	})
}

// counted takes the estimate of a request, unless its response told better.
func (c *Conversation) counted(seq uint64, sent tokens.Estimate) {
	if c.gauge.seq != seq {
		return
	}
	c.gauge.sent = sent
	c.gauge.counted, c.gauge.grown = sent.Tokens, 0
	if t := c.turn; t != nil && t.live != nil {
		c.gauge.grow(t.live.Parts)
	}
	c.tell()
}

// answered takes what the provider counted, and learns from it.
func (c *Conversation) answered(u model.Usage) {
	n := u.Input + u.CacheRead + u.CacheWrite
	if n == 0 {
		return
	}
	g := &c.gauge
	if raw := g.sent.Raw; raw > 0 && c.cfg.Tokens != nil && c.turn != nil {
		id := c.turn.end.ID
		c.work.Go(func() { c.cfg.Tokens.Learn(id, raw, n) })
	}
	*g = gauge{counted: n + u.Output, last: u, told: g.told}
}

// grew notes an increment of a response, and tells now and then.
func (c *Conversation) grew(e *model.Event) {
	c.gauge.grown += int64(len(e.Delta))
	if now := c.cfg.Now(); now.Sub(c.gauge.told) >= tellEvery {
		c.gauge.told = now
		c.tell()
	}
}

// roughly is how many tokens a request has, by its bytes.
func roughly(req *model.Request) int64 {
	n := len(req.System)
	for _, t := range req.Tools {
		n += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	for _, m := range req.Messages {
		n += sizeOf(m.Parts)
	}
	return int64(n / bytesPerToken)
}

// sizeOf is how many bytes of text parts have.
func sizeOf(parts []model.Part) (n int) {
	for _, p := range parts {
		n += len(p.Text) + len(p.Input) + sizeOf(p.Parts)
	}
	return n
}
