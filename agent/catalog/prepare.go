package catalog

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"carrel/agent/model"
)

// prepare makes what fills in the requests of a model. What it needs is read once, here.
func (s *settled) prepare(r Resolved, ch Choice) (func(*model.Request), error) {
	row := r.Info.row
	_, plain, _ := strings.Cut(r.ID, ":")
	params, err := s.parameters(r.Model, plain)
	if err != nil {
		return nil, err
	}
	thinking, extra := row.think(r.Level)
	thinking.Pro = ch.Pro && r.Info.Pro
	s.route(extra)
	maps.Copy(extra, params.Extra) // the person's own come last
	params.Extra = nil
	limit := s.limit(row, params.MaxOutput)
	tier, native := s.tier(r.Info), s.native()
	cyber := ""
	if ch.Cyber && r.Info.Cyber {
		cyber = row.cyber
	}
	hour := s.entry.CacheTTL == "1h"
	alone := (s.wire == AnthropicMessages || s.wire == Bedrock) && slices.Contains(r.Info.Levels, Off)
	return func(q *model.Request) {
		q.Model, q.Thinking, q.Params = r.Model, thinking, params
		if len(extra) > 0 {
			q.Params.Extra = maps.Clone(extra)
		}
		if q.MaxTokens == 0 {
			q.MaxTokens = limit
		}
		q.Tier, q.Native, q.Cyber, q.CacheHour = tier, slices.Clone(native), cyber, hour
		switch {
		case !r.Info.Force:
			q.Force = ""
		case q.Force != "" && alone: // a forced tool and thinking exclude each other
			q.Thinking = model.Thinking{Off: true}
		}
	}, nil
}

// limit is how many tokens of output are asked for: what the settings say, else the model's own limit
// where the format wants one.
func (s *settled) limit(row known, own *int) int {
	switch {
	case own != nil:
		return *own
	case s.wire == AnthropicMessages, s.wire == Bedrock:
		return int(min(row.output, 1<<30))
	}
	return 0
}

// think says a level in the provider's terms: in the fields that formats know, or in a field of the
// body that only this provider has.
func (k known) think(l Level) (t model.Thinking, extra map[string]json.RawMessage) {
	extra = map[string]json.RawMessage{}
	switch {
	case l == Default, k.style == styleNothing:
	case k.style == styleBudget:
		t.Off, t.Budget = l == Off, budget(l)
	case l != Off:
		t.Effort = string(l)
	case k.style == styleMinimal:
		t.Effort = "minimal"
	case k.style == styleBetween:
		extra["thinking"] = json.RawMessage(`{"type":"between_tools"}`)
	default:
		t.Off = true
	}
	return t, extra
}

// budget is how many tokens a level is, for models that take a number.
func budget(l Level) int {
	switch l {
	case Low:
		return 4_000
	case Medium:
		return 10_000
	case High:
		return 20_000
	case XHigh, Max:
		return 32_000
	case Off, Default:
	}
	return 0
}

// tier is the service tier to ask for; "" is none.
func (s *settled) tier(i Info) string {
	want := s.entry.ServiceTier
	switch s.id {
	case "anthropic":
		want = s.entry.Speed
	case "openai":
		if want == "fast" {
			want = "priority"
		}
		if want == "default" { // also where the project's own default is another
			return want
		}
	default:
		return ""
	}
	if slices.Contains(i.Tiers, want) {
		return want
	}
	return ""
}

// native are the provider's own tools to switch on.
func (s *settled) native() []string {
	if !s.searches() {
		return nil
	}
	on := s.entry.WebSearch != nil && *s.entry.WebSearch
	if s.id == "xai" && s.entry.WebSearch == nil {
		on = s.searchMode() != "off"
	}
	if !on {
		return nil
	}
	return []string{model.WebSearch}
}

// searchMode is the mode of xAI's search parameters.
func (s *settled) searchMode() string {
	mode := "auto"
	if raw, ok := s.entry.SearchParameters["mode"]; ok && json.Unmarshal(raw, &mode) != nil {
		return "auto"
	}
	return mode
}

// route adds the fields that only one provider has, from its entry.
func (s *settled) route(extra map[string]json.RawMessage) {
	switch {
	case s.id == "openrouter":
		choice := map[string]any{}
		for name, list := range map[string][]string{"order": s.entry.Order, "only": s.entry.Only, "ignore": s.entry.Ignore} {
			if len(list) > 0 {
				choice[name] = list
			}
		}
		if s.entry.AllowFallbacks != nil {
			choice["allow_fallbacks"] = *s.entry.AllowFallbacks
		}
		if s.entry.DataCollection != "" {
			choice["data_collection"] = s.entry.DataCollection
		}
		if len(choice) > 0 {
			extra["provider"] = encode(choice)
		}
	case s.id == "xai" && s.wire == OpenAICompatible && (s.entry.WebSearch == nil || *s.entry.WebSearch):
		search := maps.Clone(s.entry.SearchParameters)
		if search == nil {
			search = map[string]json.RawMessage{}
		}
		if _, ok := search["mode"]; !ok {
			search["mode"] = json.RawMessage(`"auto"`)
		}
		extra["search_parameters"] = encode(search)
	}
}

// encode writes what always can be written, with its fields in order.
func encode(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return b
}
