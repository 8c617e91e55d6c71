package catalog

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"

	"carrel/agent/model"
)

// parameters are the model parameters of the settings: those of the id that is sent, else those of the
// model's plain id, else those of "*"; the first that is there counts alone. names are the ids of the
// model, the one that is sent first.
func (s *settled) parameters(names ...string) (model.Params, error) {
	for _, name := range names {
		names = append(names, undated(name))
		if plain := atBedrock(name); plain != "" && s.id == "bedrock" {
			names = append(names, plain, undated(plain))
		}
	}
	for _, name := range append(names, "*") {
		if entry, ok := s.entry.ModelParameters[name]; ok {
			p, err := s.readParameters(name, entry)
			if err != nil {
				return p, err
			}
			return p, nil
		}
	}
	return model.Params{}, nil
}

// readParameters reads one entry of modelParameters. What is no parameter of ours goes on as it is.
func (s *settled) readParameters(name string, entry map[string]json.RawMessage) (model.Params, *ConfigError) {
	p := model.Params{}
	for _, key := range slices.Sorted(maps.Keys(entry)) {
		raw := entry[key]
		if string(raw) == "null" {
			continue
		}
		want := ""
		switch key {
		case "temperature":
			p.Temperature, want = number(raw, 0, 2, "a number from 0 to 2")
		case "top_p":
			p.TopP, want = number(raw, 0, 1, "a number from 0 to 1")
		case "frequency_penalty":
			p.FrequencyPenalty, want = number(raw, -math.MaxFloat64, math.MaxFloat64, "a number")
		case "presence_penalty":
			p.PresencePenalty, want = number(raw, -math.MaxFloat64, math.MaxFloat64, "a number")
		case "top_k":
			p.TopK, want = positive(raw)
		case "max_output_tokens":
			p.MaxOutput, want = positive(raw)
		case "seed":
			n, err := strconv.ParseInt(string(raw), 10, 64)
			if p.Seed = &n; err != nil {
				want = "a whole number"
			}
		default:
			if p.Extra == nil {
				p.Extra = map[string]json.RawMessage{}
			}
			p.Extra[key] = slices.Clone(raw)
		}
		if want != "" {
			return model.Params{}, bad(BadParameters, s.id, "in modelParameters, %q of %q must be %s, not %s.", key, clip(name), want, clip(string(raw)))
		}
	}
	return p, nil
}

// number reads a number; want says what is right when it is not.
func number(raw json.RawMessage, low, high float64, right string) (v *float64, want string) {
	var f float64
	if json.Unmarshal(raw, &f) != nil || f < low || f > high {
		return nil, right
	}
	return &f, ""
}

func positive(raw json.RawMessage) (v *int, want string) {
	n, err := strconv.ParseInt(string(raw), 10, 32)
	if err != nil || n <= 0 {
		return nil, "a whole number above 0"
	}
	i := int(n)
	return &i, ""
}

// checkParameters looks at all entries, so that a wrong one is told before its model is asked.
func (s *settled) checkParameters() {
	for _, name := range slices.Sorted(maps.Keys(s.entry.ModelParameters)) {
		if _, err := s.readParameters(name, s.entry.ModelParameters[name]); err != nil {
			s.fail(err)
		}
	}
}
