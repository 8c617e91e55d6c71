package catalog

import (
	"math"

	"carrel/agent/model"
)

// Prices are what a model costs, in USD per million tokens.
type Prices struct {
	Input, Output  float64
	CacheRead      float64
	CacheWrite     float64            // kept for five minutes
	CacheWriteHour float64            // kept for an hour
	Search         float64            // USD for a thousand of the provider's own web searches; 0 unknown
	Long           *LongPrices        // of requests with a long input; nil when these cost the same
	Tiers          map[string]float64 // what a service tier multiplies all of them by, by the provider's word
}

// LongPrices apply to the whole of a request whose input, cached parts included, has more than Above
// tokens.
type LongPrices struct {
	Above                                 int64
	Input, Output                         float64
	CacheRead, CacheWrite, CacheWriteHour float64
}

// A price is counted per token in millionths of a micro-USD, a whole number for every price in use.
const picoPerMicro = 1_000_000

// Cost gives what a response costs, in micro-USD, at the tier that the provider reported. A tier that
// the prices don't know counts as the standard one; see Catalog.Cost for whether it was known. The
// sum is made of whole numbers and rounded once.
func (p *Prices) Cost(u model.Usage, tier string) (micro int64) {
	factor, _ := p.factor(tier)
	in, out, read, write, hour := p.Input, p.Output, p.CacheRead, p.CacheWrite, p.CacheWriteHour
	if l := p.Long; l != nil && u.Input+u.CacheRead+u.CacheWrite > l.Above {
		in, out, read, write, hour = l.Input, l.Output, l.CacheRead, l.CacheWrite, l.CacheWriteHour
	}
	hours := min(u.CacheWriteHour, u.CacheWrite)
	var sum int64
	for _, part := range [...]struct {
		tokens int64
		price  float64
	}{{u.Input, in}, {u.Output, out}, {u.CacheRead, read}, {u.CacheWrite - hours, write}, {hours, hour}} {
		sum = plus(sum, part.tokens, pico(part.price*factor))
	}
	sum = plus(sum, u.Searches, pico(p.Search*1000)) // a search costs the same at every tier
	return (sum + picoPerMicro/2) / picoPerMicro
}

// factor is what a tier multiplies prices by, and whether that is known.
func (p *Prices) factor(tier string) (float64, bool) {
	switch tier {
	case "", "default", "standard", "auto", "on_demand", "standard_only":
		return 1, true
	}
	f, ok := p.Tiers[tier]
	if !ok {
		return 1, false
	}
	return f, true
}

// known reports whether all that a response used has a price.
func (p *Prices) known(u model.Usage, tier string) bool {
	_, ok := p.factor(tier)
	return ok && (u.Searches == 0 || p.Search > 0)
}

// pico is a price per million tokens as millionths of a micro-USD per token.
func pico(price float64) int64 {
	if !(price > 0) || price > 1e6 { // no price that anyone asks
		return 0
	}
	return int64(math.Round(price * picoPerMicro))
}

// plus adds tokens at a price without overflow: counts come from the outside.
func plus(sum, tokens, price int64) int64 {
	if tokens <= 0 || price <= 0 {
		return sum
	}
	if tokens > (math.MaxInt64-picoPerMicro-sum)/price {
		return math.MaxInt64 - picoPerMicro
	}
	return sum + tokens*price
}

// Cost gives what a response of a model costs, in micro-USD, and whether that is known: the model and
// the tier have prices, or the provider said what it billed.
func (c *Catalog) Cost(modelID string, u model.Usage, tier string) (micro int64, known bool) {
	return c.Info(modelID).Cost(u, tier)
}

// Cost is Catalog.Cost for a model at hand.
func (i Info) Cost(u model.Usage, tier string) (micro int64, known bool) {
	if u.Cost > 0 {
		return u.Cost, true
	}
	if i.Prices == nil {
		return 0, false
	}
	return i.Prices.Cost(u, tier), i.Prices.known(u, tier)
}
