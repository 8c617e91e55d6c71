package turn

import "carrel/agent/model"

// gauge estimates how large the context is: what the provider counted last, and what came since.
type gauge struct {
	counted int64       // tokens of the newest request and its response, as counted by the provider
	last    model.Usage // of that response
	grown   int64       // tokens since, estimated
}

// answered takes what the provider counted.
func (g *gauge) answered(u model.Usage) {
	if n := u.Input + u.CacheRead + u.CacheWrite; n > 0 {
		g.counted, g.last, g.grown = n+u.Output, u, 0
	}
}

// grow takes what was added to the context, at 4 bytes a token.
func (g *gauge) grow(parts []model.Part) { g.grown += int64(sizeOf(parts) / 4) }

// tokens is the estimate.
func (g *gauge) tokens() int64 { return g.counted + g.grown }

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

// roughly is how many tokens a request has, at 4 bytes each.
func roughly(req *model.Request) int64 {
	n := len(req.System)
	for _, t := range req.Tools {
		n += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	for _, m := range req.Messages {
		n += sizeOf(m.Parts)
	}
	return int64(n / 4)
}

// sizeOf is how many bytes of text parts have.
func sizeOf(parts []model.Part) (n int) {
	for _, p := range parts {
		n += len(p.Text) + len(p.Input) + sizeOf(p.Parts)
	}
	return n
}
