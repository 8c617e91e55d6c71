package catalog

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"charm.land/catwalk/pkg/catwalk"
	"charm.land/catwalk/pkg/embedded"

	"carrel/agent/model/bedrock"
)

// shelf is the catalogue that comes with the program, by our providers' ids and then the models'. It
// is decoded when a model is first looked for that the table of our own does not have: that takes
// some 6 ms, and nothing before.
var shelf = sync.OnceValue(func() map[string]map[string]known {
	out := map[string]map[string]known{}
	for _, p := range embedded.GetAll() {
		id := ourID(string(p.ID))
		if id == "" {
			continue
		}
		if out[id] == nil {
			out[id] = make(map[string]known, len(p.Models))
		}
		for _, m := range p.Models {
			out[id][m.ID] = shelved(id, m)
		}
	}
	return out
})

// ourID is our name of one of the catalogue's providers; "" is one that is not built in.
func ourID(id string) string {
	switch id {
	case "anthropic", "openai", "xai", "deepseek", "zai", "openrouter", "bedrock":
		return id
	case "gemini":
		return "google"
	case "moonshot":
		return "moonshotai"
	case "bedrock-europe":
		return "bedrock"
	case "copilot":
		return "github-copilot"
	}
	return ""
}

// shelved reads a row of the catalogue.
func shelved(provider string, m catwalk.Model) known {
	k := known{id: m.ID, name: m.Name, context: m.ContextWindow, output: m.DefaultMaxTokens, images: m.SupportsImages, found: true,
		prices: shelvedPrices(provider, m)}
	for _, word := range m.ReasoningLevels {
		switch l := Level(word); {
		case word == "none":
			k.levels = append(k.levels, Off)
		case word == "minimal":
			k.levels, k.style = append(k.levels, Off), styleMinimal
		case slices.Contains(ladder[:], l):
			k.levels = append(k.levels, l)
		}
	}
	k.level, _ = ParseLevel(m.DefaultReasoningEffort) // what is no level of ours is unknown
	if m.DefaultReasoningEffort == "minimal" {
		k.level = Off
	}
	k.refine(provider, m.CanReason)
	slices.SortFunc(k.levels, func(a, b Level) int {
		return cmp.Compare(slices.Index(ladder[:], a), slices.Index(ladder[:], b))
	})
	return k
}

// refine adds what the catalogue does not say of a row and is the same for a provider's models.
func (k *known) refine(provider string, thinks bool) {
	claude := strings.Contains(k.id, "claude-")
	switch provider {
	case "anthropic", "bedrock":
		switch {
		case !claude || !thinks:
		case len(k.levels) == 0 || strings.Contains(k.id, "opus-4-5"): // from before effort alone was enough
			k.levels, k.level, k.style = fromOff(High), Off, styleBudget
		case strings.Contains(k.id, "fable"), strings.Contains(k.id, "mythos"): // these always think
			k.noForce = true
		default:
			k.levels = append(k.levels, Off)
		}
		k.fast = k.id == "claude-opus-5" || k.id == "claude-opus-4-8"
	case "openai":
		k.tiers = []string{"flex", "priority"}
	case "google":
		if thinks && len(k.levels) == 0 {
			k.levels, k.style = fromOff(High), styleBudget
			if strings.Contains(k.id, "2.5-pro") {
				k.levels = fromLow(High)
			}
		}
	case "deepseek", "zai", "moonshotai":
		if k.style = styleSwitch; thinks && len(k.levels) == 0 {
			k.levels = []Level{Off, High}
		}
	case "openrouter":
		k.style = styleRouter
		if thinks && len(k.levels) == 0 {
			k.levels = fromOff(High)
		}
	}
}

// shelvedPrices reads a row's prices. The catalogue says "in_cached" for writing to the cache and
// "out_cached" for reading from it, but every seventh row has them otherwise: what is below the price
// of the input can only be for reading.
func shelvedPrices(provider string, m catwalk.Model) *Prices {
	in := m.CostPer1MIn
	if in <= 0 && m.CostPer1MOut <= 0 {
		if provider == "openrouter" && strings.HasSuffix(m.ID, ":free") {
			return &Prices{}
		}
		return nil // a subscription, or nobody knows
	}
	p := &Prices{Input: in, Output: m.CostPer1MOut, CacheRead: in, CacheWrite: in, CacheWriteHour: in}
	switch {
	case 0 < m.CostPer1MOutCached && m.CostPer1MOutCached < in:
		p.CacheRead = m.CostPer1MOutCached
	case 0 < m.CostPer1MInCached && m.CostPer1MInCached < in:
		p.CacheRead = m.CostPer1MInCached
	}
	if m.CostPer1MInCached >= in {
		p.CacheWrite = m.CostPer1MInCached
	}
	switch provider {
	case "anthropic", "bedrock":
		p.CacheWriteHour, p.Search = 2*in, 10
		if m.ID == "claude-opus-5" || m.ID == "claude-opus-4-8" {
			p.Tiers = fastTier()
		}
	case "openai":
		p.Tiers, p.Search = openaiTiers(), 10
		if m.ContextWindow > 1_000_000 && strings.HasPrefix(m.ID, "gpt-5.") {
			p.Long = longGPT(in, m.CostPer1MOut, p.CacheRead)
		}
	case "google":
		if p.Search = 14; strings.Contains(m.ID, "-pro") {
			p.Long = longGemini(in, m.CostPer1MOut, p.CacheRead)
		}
	}
	return p
}

// lookup finds a model of a provider: in the table of our own, in the catalogue, or as another name of
// one of theirs. Of what nobody knows it gives the id.
func lookup(provider, id string) known {
	if k, ok := ours(provider, id); ok {
		return k
	}
	if k, ok := shelf()[provider][id]; ok {
		k.asMade(provider)
		return k
	}
	for _, other := range sameModel(provider, id) {
		k, ok := ours(other.provider, other.id)
		if !ok {
			k, ok = shelf()[other.provider][other.id]
		}
		if !ok {
			continue
		}
		if other.provider != provider { // a gateway has prices, tiers and ways of its own
			k.prices, k.tiers, k.pro, k.cyber, k.fast, k.chatOff, k.name = nil, nil, false, "", false, false, ""
			switch provider {
			case "openrouter":
				k.style = styleRouter
			case "bedrock":
			default:
				k.level = Default // nothing is said unless the person does: the server may not know it
			}
		}
		k.id, k.aliases, k.first = id, nil, false
		return k
	}
	k := known{id: id, style: styleEffort}
	switch provider {
	case "openrouter":
		k.style = styleRouter
	case "ollama":
		k.levels, k.prices = fromOff(High), &Prices{} // it runs on a machine of the person's own
	}
	return k
}

// asMade gives a model of OpenRouter's the levels that its maker allows: the catalogue says the same
// three of every model there.
func (k *known) asMade(provider string) {
	if provider != "openrouter" || len(k.levels) == 0 {
		return
	}
	for _, other := range sameModel(provider, k.id) {
		if other.provider == provider {
			continue
		}
		maker, ok := ours(other.provider, other.id)
		if !ok {
			maker, ok = shelf()[other.provider][other.id]
		}
		if ok && len(maker.levels) > 0 {
			k.levels, k.level = maker.levels, maker.level
			return
		}
	}
}

// ours finds a model in the table of our own.
func ours(provider, id string) (known, bool) {
	for _, b := range builtins() {
		if b.id != provider {
			continue
		}
		for _, k := range b.models {
			if k.id == id {
				k.found = true
				return k, true
			}
		}
	}
	return known{}, false
}

type modelName struct{ provider, id string }

// undated is a model's id without the date of a snapshot, as in "-20250929" and "-2026-09-29".
func undated(id string) string {
	for _, shape := range []string{"-20dddddd", "-20dd-dd-dd"} {
		if at := len(id) - len(shape); at > 0 && shaped(id[at:], shape) {
			return id[:at]
		}
	}
	return id
}

// shaped compares a text with a shape of the same length, in which "d" is any digit.
func shaped(s, shape string) bool {
	for i := range len(shape) {
		if digit := '0' <= s[i] && s[i] <= '9'; s[i] != shape[i] && !(shape[i] == 'd' && digit) {
			return false
		}
	}
	return true
}

// atBedrock is the maker's id in one of Bedrock's for a Claude, such as
// "eu.anthropic.claude-opus-4-6-v1:0"; "" is another model.
func atBedrock(id string) string {
	before, name, ok := strings.Cut(id, "anthropic.")
	if !ok || before != "" && !strings.HasSuffix(before, ".") || !strings.HasPrefix(name, "claude-") {
		return ""
	}
	name, _, _ = strings.Cut(name, ":")
	if at := strings.LastIndex(name, "-v"); at > 0 && len(name) == at+3 && '0' <= name[at+2] && name[at+2] <= '9' {
		name = name[:at]
	}
	return name
}

// madeBy is whose model it is, of those that nobody else can run: behind another server it is the
// same.
func madeBy(id string) string {
	switch {
	case strings.HasPrefix(id, "claude-"):
		return "anthropic"
	case strings.HasPrefix(id, "gpt-"):
		return "openai"
	}
	return ""
}

// sameModel lists other names under which a model could be known.
func sameModel(provider, id string) []modelName {
	var out []modelName
	plain := undated(id)
	if plain != id {
		out = append(out, modelName{provider, plain})
	}
	for known := range shelf()[provider] { // a snapshot of it
		if undated(known) == plain && known != id {
			out = append(out, modelName{provider, known})
		}
	}
	slices.SortFunc(out, func(a, b modelName) int { return -cmp.Compare(a.id, b.id) }) // the latest first
	switch provider {
	case "bedrock":
		named := bedrock.Named(id)
		if named != id {
			out = append(out, modelName{provider, named})
		}
		if name := atBedrock(named); name != "" {
			out = append(out, modelName{"anthropic", name}, modelName{"anthropic", undated(name)})
		}
	case "openrouter":
		vendor, name, _ := strings.Cut(id, "/")
		name, _, _ = strings.Cut(name, ":")
		switch vendor {
		case "anthropic":
			out = append(out, modelName{vendor, strings.ReplaceAll(name, ".", "-")})
		case "x-ai":
			out = append(out, modelName{"xai", name})
		case "z-ai":
			out = append(out, modelName{"zai", name})
		default:
			out = append(out, modelName{vendor, name})
		}
	case "coder": // what its providers are called says nothing of the model
		_, name, _ := strings.Cut(id, "/")
		plain := undated(name)
		for _, maker := range []string{"anthropic", "openai", "google"} {
			out = append(out, modelName{maker, name}, modelName{maker, plain})
		}
		if name := atBedrock(name); name != "" {
			out = append(out, modelName{"anthropic", name}, modelName{"anthropic", undated(name)})
		}
	case "github-copilot", "ollama": // their limits are their own
	default:
		if maker := madeBy(id); maker != provider {
			out = append(out, modelName{maker, id}, modelName{maker, plain})
		}
	}
	return out
}
