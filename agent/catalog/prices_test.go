package catalog

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"carrel/agent/model"
	"carrel/store"
)

func TestCosts(t *testing.T) {
	c := catalog(nil, nil)
	for _, x := range []struct {
		what, id string
		u        model.Usage
		tier     string
		micro    int64
		known    bool
	}{
		{"input and output", "opus", model.Usage{Input: 1000, Output: 1000}, "", 4000 + 20_000, true},
		{"cache", "opus", model.Usage{CacheRead: 10_000, CacheWrite: 1000}, "standard", 2000 + 5000, true},
		{"an hour of cache", "opus", model.Usage{CacheWrite: 1000, CacheWriteHour: 400}, "", 600*5 + 400*8, true},
		{"more of an hour than written", "opus", model.Usage{CacheWrite: 100, CacheWriteHour: 400}, "", 800, true},
		{"fast", "opus", model.Usage{Input: 1000, Output: 1000}, "fast", 48_000, true},
		{"fast, an older one", "anthropic:claude-opus-4-8", model.Usage{Input: 1000}, "fast", 10_000, true},
		{"fast, where there is none", "sonnet", model.Usage{Input: 1000}, "fast", 2000, false},
		{"reasoning is part of the output", "opus", model.Usage{Output: 1000, Reasoning: 900}, "", 20_000, true},
		{"long", "haiku", model.Usage{Input: 100_001}, "", 50_001, true},
		{"not long", "haiku", model.Usage{Input: 100_000}, "", 10_000, true},
		{"long by what is cached", "haiku", model.Usage{Input: 1, CacheRead: 99_999, CacheWrite: 1, Output: 2}, "", 5006, true},
		{"openai, long", "sol", model.Usage{Input: 272_001, Output: 1000}, "default", 272_001*4 + 15_000, true},
		{"openai, at the limit", "sol", model.Usage{Input: 272_000, Output: 1000}, "default", 272_000*2 + 10_000, true},
		{"priority", "sol", model.Usage{Input: 1000}, "priority", 4000, true},
		{"flex", "sol", model.Usage{Input: 1000}, "flex", 1000, true},
		{"ultrafast", "astra", model.Usage{Input: 1000, Output: 1000, CacheRead: 1000}, "ultrafast", 6 * (10_000 + 50_000 + 1000), true},
		{"ultrafast and long", "astra", model.Usage{Input: 300_000}, "ultrafast", 6 * 20 * 300_000, true},
		{"a tier that nobody knows", "sol", model.Usage{Input: 1000}, "scale", 2000, false},
		{"a small price", "deepseek", model.Usage{CacheRead: 1_000_000}, "", 3625, true},
		{"less than a micro", "deepseek", model.Usage{CacheRead: 100}, "", 0, true},
		{"rounded", "deepseek", model.Usage{CacheRead: 138}, "", 1, true},
		{"grok below", "grok", model.Usage{Input: 199_999}, "", 399_998, true},
		{"grok from", "grok", model.Usage{Input: 200_000}, "", 800_000, true},
		{"gemini long", "gemini", model.Usage{Input: 200_001}, "", 800_004, true},
		{"searches", "opus", model.Usage{Searches: 3}, "fast", 30_000, true},
		{"searches without a price", "deepseek", model.Usage{Searches: 3}, "", 0, false},
		{"from the shelf", "anthropic:claude-sonnet-5", model.Usage{Input: 1000, CacheRead: 1000, CacheWrite: 2000, CacheWriteHour: 1000}, "",
			2000 + 200 + 2500 + 4000, true},
		{"a snapshot", "anthropic:claude-sonnet-4-5-20990101", model.Usage{Input: 1000}, "", 3000, true},
		{"cache columns the other way", "moonshotai:kimi-k2.6", model.Usage{CacheRead: 1000, CacheWrite: 1000}, "", 160 + 950, true},
		{"what the provider says", "openrouter:any/thing", model.Usage{Input: 1000, Cost: 77}, "", 77, true},
		{"free", "openrouter:z-ai/glm-5.2:free", model.Usage{Input: 1000}, "", 0, true},
		{"at home", "ollama:qwen3:8b", model.Usage{Input: 1000}, "", 0, true},
		{"a subscription", "github-copilot:gpt-5.5", model.Usage{Input: 1000}, "", 0, false},
		{"a gateway has its own", "openrouter:anthropic/claude-opus-5.5", model.Usage{Input: 1000}, "", 0, false},
		{"unknown", "mine:m", model.Usage{Input: 1000}, "", 0, false},
		{"the demo", "demo", model.Usage{Input: 1000}, "", 0, true},
		{"nonsense", "opus", model.Usage{Input: -5, Output: math.MinInt64}, "", 0, true},
	} {
		if micro, known := c.Cost(x.id, x.u, x.tier); micro != x.micro || known != x.known {
			t.Errorf("%s: %d, %v; want %d, %v", x.what, micro, known, x.micro, x.known)
		}
	}
}

func TestCostsHaveNoDriftAndDoNotOverflow(t *testing.T) {
	p := Prices{Input: 0.435, Output: 0.87, CacheRead: 0.003625, CacheWrite: 0.1, CacheWriteHour: 0.3}
	million := big.NewInt(1_000_000)
	for range 2000 {
		u := model.Usage{Input: rand.Int64N(1e12), Output: rand.Int64N(1e12), CacheRead: rand.Int64N(1e12)}
		exact := new(big.Int)
		for n, price := range map[int64]int64{u.Input: 435_000, u.Output: 870_000, u.CacheRead: 3625} {
			exact.Add(exact, new(big.Int).Mul(big.NewInt(n), big.NewInt(price)))
		}
		exact.Div(exact.Add(exact, big.NewInt(500_000)), million)
		if got := p.Cost(u, ""); exact.Cmp(big.NewInt(got)) != 0 {
			t.Fatalf("%+v: %d, want %s", u, got, exact)
		}
	}
	huge := model.Usage{Input: math.MaxInt64, Output: math.MaxInt64, CacheRead: math.MaxInt64, CacheWrite: math.MaxInt64, Searches: math.MaxInt64}
	if got := p.Cost(huge, ""); got <= 0 {
		t.Error(got)
	}
}

func TestAPersonsPricesComeFirst(t *testing.T) {
	read := 0.5
	c := New(config{settings: store.Settings{Models: map[string]store.ModelConfig{
		"anthropic:claude-opus-5-5": {Prices: &store.ModelPrices{Input: 1, Output: 2, CacheRead: &read,
			Long: &store.LongPrices{Above: 10, Input: 3, Output: 4}}},
		"mine:m":    {Like: "openai:gpt-6-astra"},
		"mine:free": {Prices: &store.ModelPrices{}},
	}}}, func(string) string { return "" })
	for _, x := range []struct {
		id    string
		u     model.Usage
		micro int64
	}{
		{"opus", model.Usage{Input: 4, Output: 2, CacheRead: 2}, 4 + 4 + 1},
		{"opus", model.Usage{Input: 11, Output: 1}, 37},
		{"mine:m", model.Usage{Input: 1}, 10}, {"mine:free", model.Usage{Input: 1}, 0},
	} {
		if micro, known := c.Cost(x.id, x.u, ""); micro != x.micro || !known {
			t.Errorf("%s %+v: %d, %v", x.id, x.u, micro, known)
		}
	}
}
