package catalog

import (
	"slices"
)

// Info is what is known of a model.
type Info struct {
	ID      string // provider:id
	Name    string
	Aliases []string // short names, in lower case
	// Context is how many tokens a request and its response may have together, MaxOutput how many the
	// response; 0 is unknown.
	Context   int64
	MaxOutput int64
	// Levels are the levels of thinking that the model allows, ascending; empty where it can't think
	// or nobody knows. DefaultLevel is what the model does when it is asked for none; "" is unknown.
	Levels       []Level
	DefaultLevel Level
	Images       bool // it can see pictures
	Search       bool // its provider can search the web for it
	Pro          bool // it has OpenAI's pro mode, over the route that is set up
	Cyber        bool // it can take part in OpenAI's cyber programs, over the route that is set up
	Force        bool // it can be made to call a tool; Prepare leaves Request.Force out where it can't
	// Tiers are the service tiers that can be asked for, in the provider's words.
	Tiers  []string
	Prices *Prices // nil is unknown
	Known  bool    // the catalogue or the settings have an entry for it

	row known // how thinking is asked for
}

// Info tells what is known of a model, given as provider:id or by a short name. Of one that nobody
// knows it gives the name alone. What the settings say of a model comes before what is built in.
func (c *Catalog) Info(id string) Info {
	own := c.models()
	provider, name, err := c.split(id, own)
	if err != nil {
		return Info{ID: id, Name: id}
	}
	if provider == "demo" {
		return demoInfo()
	}
	s, _ := c.one(provider)
	return c.info(s, provider, name, own)
}

// info is Info for a settled provider, the zero one for a provider that is not there.
func (c *Catalog) info(s settled, provider, name string, own map[string]ownModel) Info {
	k := lookup(provider, name)
	k.lay(provider, own[provider+":"+name])
	return s.describe(provider, k)
}

// describe makes the Info of a row for the way in which its provider is set up.
func (s *settled) describe(provider string, k known) Info {
	if s.wire != AnthropicMessages && s.wire != Bedrock && s.custom { // only these formats have Anthropic's ways
		k.style = styleEffort
	}
	i := Info{ID: provider + ":" + k.id, Name: k.name, Aliases: slices.Clone(k.aliases), Context: k.context, MaxOutput: k.output,
		Levels: slices.Clone(k.levels), DefaultLevel: k.level, Images: k.images, Prices: k.prices, Known: k.found,
		Force: !k.noForce, row: k}
	if i.Name == "" {
		i.Name = k.id
	}
	i.Search = s.searches()
	i.Pro = k.pro && s.direct()
	i.Cyber = k.cyber != "" && s.direct() && s.entry.Cyber
	i.Tiers = s.tiers(k)
	if s.id == "openai" && s.wire == OpenAICompatible && k.chatOff { // it calls functions there only without thinking
		i.Levels, i.DefaultLevel = []Level{Off}, Off
	}
	return i
}
