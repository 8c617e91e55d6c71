package catalog

// known is what the catalogue holds of a model.
type known struct {
	id, name string
	aliases  []string
	first    bool // its provider's default

	context, output int64 // tokens
	levels          []Level
	level           Level // its own default
	style           style
	images          bool
	pro             bool     // OpenAI's pro mode
	cyber           string   // the value of OpenAI's access program
	fast            bool     // Anthropic's fast mode
	tiers           []string // OpenAI's service tiers beside the standard one
	noForce         bool     // a request that forces a tool is refused
	chatOff         bool     // over Chat Completions it takes tools only with thinking off
	prices          *Prices
	found           bool   // there is an entry
	like            string // provider:id that the settings say it is like
}

// style is how a model is told how much to think.
type style string

const (
	styleEffort  style = ""        // a word; off is said as such
	styleBudget  style = "budget"  // a number of tokens
	styleMinimal style = "minimal" // a word; the lowest is "minimal" instead of off
	styleBetween style = "between" // a word; off is Anthropic's between_tools
	styleSwitch  style = "switch"  // a switch beside the word, as DeepSeek, Moonshot and Z.ai have it
	styleRouter  style = "router"  // OpenRouter's reasoning object
	styleNothing style = "nothing" // it can't be told
)

// Sets of levels that many models share.
func fromLow(top Level) []Level { return upTo(Low, top) }
func fromOff(top Level) []Level { return upTo(Off, top) }

func upTo(bottom, top Level) []Level {
	var out []Level
	in := false
	for _, l := range ladder {
		if in = in || l == bottom; in {
			out = append(out, l)
		}
		if l == top {
			break
		}
	}
	return out
}

const (
	million      = 1_000_000
	binMillion   = 1 << 20
	claudeOutput = 128_000
	gptContext   = 1_050_000
	gptOutput    = 128_000
	gptLong      = 272_000 // from here on a request costs more
)

// What follows is from the providers' own pages, read in November 2026.

func anthropicModels() []known {
	claude := func(id, name, alias string, levels []Level, level Level, p Prices) known {
		p.Search = 10
		return known{id: id, name: name, aliases: []string{alias}, context: million, output: claudeOutput, levels: levels, level: level,
			images: true, noForce: true, prices: &p}
	}
	opus := claude("claude-opus-5-5", "Opus 5.5", "opus", fromLow(Max), Medium,
		Prices{Input: 4, Output: 20, CacheRead: 0.2, CacheWrite: 5, CacheWriteHour: 8, Tiers: fastTier()})
	opus.first, opus.fast = true, true
	sonnet := claude("claude-sonnet-5-5", "Sonnet 5.5", "sonnet", fromOff(Max), High,
		Prices{Input: 2, Output: 10, CacheRead: 0.1, CacheWrite: 2.5, CacheWriteHour: 4})
	sonnet.style = styleBetween
	haiku := claude("claude-haiku-5-5", "Haiku 5.5", "haiku", fromOff(Max), Medium,
		Prices{Input: 0.1, Output: 0.5, CacheRead: 0.01, CacheWrite: 0.125, CacheWriteHour: 0.2,
			Long: &LongPrices{Above: 100_000, Input: 0.5, Output: 2.5, CacheRead: 0.05, CacheWrite: 0.625, CacheWriteHour: 1}})
	haiku.noForce = false
	big := Prices{Input: 10, Output: 50, CacheRead: 0.25, CacheWrite: 12.5, CacheWriteHour: 20}
	return []known{
		claude("claude-fable-5-1", "Fable 5.1", "fable", fromLow(Max), High, big),
		claude("claude-mythos-5-1", "Mythos 5.1", "mythos", fromLow(Max), High, big),
		opus, sonnet, haiku,
	}
}

// fastTier is what Anthropic's fast mode costs.
func fastTier() map[string]float64 { return map[string]float64{"fast": 2} }

func openaiModels() []known {
	gpt := func(id, name string, in, out, read float64) known {
		return known{id: id, name: name, context: gptContext, output: gptOutput, levels: fromLow(Max), level: Medium, images: true,
			pro: true, tiers: []string{"flex", "priority"}, prices: &Prices{Input: in, Output: out, CacheRead: read, CacheWrite: in * 1.25,
				CacheWriteHour: in * 1.25, Search: 10, Tiers: openaiTiers(), Long: longGPT(in, out, read)}}
	}
	sol := gpt("gpt-6.1-sol", "GPT-6.1 Sol", 2, 10, 0.1)
	sol.aliases, sol.first, sol.cyber = []string{"gpt", "sol"}, true, "daybreak_blue"
	luna := gpt("gpt-6-luna", "GPT-6 Luna", 0.1, 0.5, 0.01)
	luna.aliases, luna.levels, luna.chatOff = []string{"luna"}, fromOff(Max), true
	astra := gpt("gpt-6-astra", "GPT-6 Astra", 10, 50, 1)
	astra.aliases, astra.cyber = []string{"astra", "gpt-6-astra"}, "daybreak_blue"
	astra.tiers = append(astra.tiers, "ultrafast")
	return []known{sol, luna, astra}
}

// openaiTiers are what OpenAI's service tiers cost beside the standard one; fast is the name that it
// gives priority in its price list.
func openaiTiers() map[string]float64 {
	return map[string]float64{"flex": 0.5, "priority": 2, "fast": 2, "ultrafast": 6}
}

// longGPT are OpenAI's prices of a long input: twice the input, half as much again for the output.
func longGPT(in, out, read float64) *LongPrices {
	return &LongPrices{Above: gptLong, Input: 2 * in, Output: 1.5 * out, CacheRead: 2 * read, CacheWrite: 2.5 * in, CacheWriteHour: 2.5 * in}
}

func googleModels() []known {
	gemini := func(id, name string, level Level, in, out, read float64, aliases ...string) known {
		return known{id: id, name: name, aliases: aliases, context: binMillion, output: 65_536, levels: fromLow(High), level: level, images: true,
			prices: &Prices{Input: in, Output: out, CacheRead: read, CacheWrite: in, CacheWriteHour: in, Search: 14}}
	}
	pro := gemini("gemini-3.1-pro-preview", "Gemini 3.1 Pro Preview", High, 2, 12, 0.2, "gemini", "gemini-pro")
	pro.first = true
	pro.prices.Long = longGemini(2, 12, 0.2)
	return []known{pro, gemini("gemini-3.8-flash", "Gemini 3.8 Flash", Medium, 0.75, 3.75, 0.075, "gemini-flash")}
}

// longGemini are Google's prices of a long input for its Pro models.
func longGemini(in, out, read float64) *LongPrices {
	return &LongPrices{Above: 200_000, Input: 2 * in, Output: 1.5 * out, CacheRead: 2 * read, CacheWrite: 2 * in, CacheWriteHour: 2 * in}
}

func xaiModels() []known {
	return []known{{id: "grok-4.7", name: "Grok 4.7", aliases: []string{"grok", "grok-4.7"}, first: true, context: 500_000,
		levels: fromLow(XHigh), level: High, images: true,
		prices: &Prices{Input: 2, Output: 6, CacheRead: 0.5, CacheWrite: 2, CacheWriteHour: 2, Search: 5,
			Long: &LongPrices{Above: 199_999, Input: 4, Output: 12, CacheRead: 1, CacheWrite: 4, CacheWriteHour: 4}}}}
}

func deepseekModels() []known {
	flash := func(id, name string, in, out, read float64, aliases ...string) known {
		return known{id: id, name: name, aliases: aliases, context: million, output: 384_000, levels: []Level{Off, Low, High, Max}, level: High,
			style: styleSwitch, prices: &Prices{Input: in, Output: out, CacheRead: read, CacheWrite: in, CacheWriteHour: in}}
	}
	pro := flash("deepseek-v4-pro", "DeepSeek V4 Pro", 0.435, 0.87, 0.003625, "deepseek", "deepseek-pro", "deepseek-v4", "deepseek-v4-pro")
	pro.first = true
	return []known{pro, flash("deepseek-v4-flash", "DeepSeek V4 Flash", 0.14, 0.28, 0.0028, "deepseek-flash", "deepseek-v4-flash")}
}

func moonshotModels() []known {
	return []known{{id: "kimi-k3", name: "Kimi K3", aliases: []string{"kimi", "k3", "kimi-k3"}, first: true, context: binMillion, output: 131_072,
		levels: []Level{Low, High, Max}, level: Max, images: true,
		prices: &Prices{Input: 3, Output: 15, CacheRead: 0.3, CacheWrite: 3, CacheWriteHour: 3}}}
}

func zaiModels() []known {
	return []known{{id: "glm-5.3-flash", name: "GLM 5.3 Flash", aliases: []string{"glm", "glm-flash", "glm-5.3-flash"}, first: true,
		context: binMillion, output: 128_000, levels: []Level{Low, High, Max}, level: High, style: styleSwitch, images: true,
		prices: &Prices{Input: 0.15, Output: 0.5, CacheRead: 0.03, CacheWrite: 0.15, CacheWriteHour: 0.15}}}
}
