package catalog

import (
	"slices"
	"strings"

	"carrel/store"
)

// ownModel is what the settings say of a model, read.
type ownModel struct {
	store.ModelConfig
	levels []Level
	level  Level
}

// models are the models of settings.jsonc by provider:id. What can't be read there is reported by
// the store and left out here.
func (c *Catalog) models() map[string]ownModel {
	s, err := c.config.Settings()
	if err != nil {
		return nil
	}
	out := make(map[string]ownModel, len(s.Models))
	for id, m := range s.Models {
		o := ownModel{ModelConfig: m}
		for _, text := range m.Levels {
			if l, err := ParseLevel(text); err == nil && l != Default && !l.digit() {
				o.levels = append(o.levels, l)
			}
		}
		slices.SortFunc(o.levels, func(a, b Level) int { return slices.Index(ladder[:], a) - slices.Index(ladder[:], b) })
		o.levels = slices.Compact(o.levels)
		if l, err := ParseLevel(m.DefaultLevel); err == nil && !l.digit() {
			o.level = l
		}
		out[id] = o
	}
	return out
}

// aliases gives the short names of an own model as they are looked for.
func (o ownModel) aliases() []string {
	var out []string
	for _, a := range o.Aliases {
		if a = strings.ToLower(strings.TrimSpace(a)); isAlias(a) {
			out = append(out, a)
		}
	}
	return out
}

// lay puts what the settings say of a provider's model over what is built in.
func (k *known) lay(provider string, o ownModel) {
	if o.Like != "" {
		if maker, id, ok := strings.Cut(o.Like, ":"); ok {
			like := lookup(maker, id)
			like.id, like.name, like.aliases, like.first = k.id, k.name, k.aliases, k.first
			if maker != provider && provider != "bedrock" { // a server's ways are its own, Bedrock's the maker's
				like.style = k.style
			}
			like.tiers, like.pro, like.cyber, like.fast, like.like = k.tiers, k.pro, k.cyber, k.fast, o.Like
			*k = like
		}
	}
	if o.Name != "" {
		k.name = o.Name
	}
	for _, name := range o.aliases() {
		if !slices.Contains(k.aliases, name) {
			k.aliases = append(slices.Clip(k.aliases), name)
		}
	}
	if o.Context > 0 {
		k.context = o.Context
	}
	if o.MaxOutput > 0 {
		k.output = o.MaxOutput
	}
	if o.levels != nil {
		k.levels = o.levels
	}
	if o.level != Default {
		k.level = o.level
	}
	if o.Images != nil {
		k.images = *o.Images
	}
	if o.Prices != nil {
		k.prices = ownPrices(o.Prices)
	}
	k.found = k.found || o.said()
}

// said reports whether the settings say anything of the model.
func (o ownModel) said() bool {
	return o.Name != "" || o.Like != "" || len(o.Aliases) > 0 || o.Context > 0 || o.MaxOutput > 0 || len(o.Levels) > 0 ||
		o.DefaultLevel != "" || o.Images != nil || o.Prices != nil
}

// ownPrices reads a person's prices: a price of the cache that is not given is that of the input.
func ownPrices(p *store.ModelPrices) *Prices {
	or := func(v *float64, otherwise float64) float64 {
		if v == nil || *v < 0 {
			return otherwise
		}
		return *v
	}
	out := &Prices{Input: max(p.Input, 0), Output: max(p.Output, 0)}
	out.CacheRead = or(p.CacheRead, out.Input)
	out.CacheWrite = or(p.CacheWrite, out.Input)
	out.CacheWriteHour = or(p.CacheWriteHour, out.CacheWrite)
	out.Search = or(p.Search, 0)
	if l := p.Long; l != nil && l.Above > 0 {
		in := max(l.Input, 0)
		out.Long = &LongPrices{Above: l.Above, Input: in, Output: max(l.Output, 0), CacheRead: or(l.CacheRead, in),
			CacheWrite: or(l.CacheWrite, in)}
		out.Long.CacheWriteHour = or(l.CacheWriteHour, out.Long.CacheWrite)
	}
	return out
}
