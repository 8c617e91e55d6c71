package catalog

import (
	"slices"
	"testing"
)

func TestLevelsAreReadAsPeopleWriteThem(t *testing.T) {
	for in, want := range map[string]Level{"": Default, "off": Off, " LOW ": Low, "med": Medium, "medium": Medium, "High": High, "xhigh": XHigh,
		"max": Max, "0": "0", "9": "9"} {
		if got, err := ParseLevel(in); err != nil || got != want {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
	for _, in := range []string{"10", "-1", "minimal", "none", "ultra", "hi gh", "०", "x\x00"} {
		if got, err := ParseLevel(in); code(err) != BadLevel || got != Default {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
}

func TestLevelsAreClampedToWhatTheModelAllows(t *testing.T) {
	c := catalog(nil, nil)
	for _, x := range []struct {
		model  string
		levels map[Level]Level
	}{
		{"haiku", map[Level]Level{"0": Off, "1": Low, "9": Max, Off: Off, Max: Max, Default: Medium}},
		{"sonnet", map[Level]Level{"0": Off, Off: Off, XHigh: XHigh, Default: High}},
		{"opus", map[Level]Level{"0": Low, Off: Low, "1": Medium, "4": Max, "9": Max, Default: Medium}},
		{"astra", map[Level]Level{"0": Low, Off: Low, "9": Max}},
		{"sol", map[Level]Level{"0": Low, Off: Low, "9": Max}},
		{"luna", map[Level]Level{"0": Off, Off: Off, "9": Max}},
		{"fable", map[Level]Level{Off: Low}}, {"mythos", map[Level]Level{Off: Low}},
		{"gemini", map[Level]Level{Off: Low, "9": High, Max: High, Default: High}},
		{"grok", map[Level]Level{Off: Low, Max: XHigh, "9": XHigh}},
		{"deepseek", map[Level]Level{Off: Off, "0": Off, Medium: Low, XHigh: High, "9": Max}},
		{"kimi", map[Level]Level{Off: Low, Medium: Low, "1": High, "2": Max, Default: Max}},
		{"glm", map[Level]Level{Off: Low, XHigh: High}},
		{"anthropic:claude-opus-5", map[Level]Level{Off: Off, "0": Off, Default: High}},
		{"anthropic:claude-fable-5", map[Level]Level{Off: Low}},
		{"anthropic:claude-sonnet-4-5", map[Level]Level{Off: Off, Max: High, Default: Off}},
		{"openai:gpt-4o", map[Level]Level{High: Default, Off: Default, "3": Default}},
		{"openai:gpt-5", map[Level]Level{Off: Off, Max: High}},
		{"nowhere:nothing", map[Level]Level{High: Default}},
		{"gibberish", map[Level]Level{High: Default}},
	} {
		for in, want := range x.levels {
			if got := c.Clamp(x.model, in); got != want {
				t.Errorf("%s at %q thinks at %q, want %q", x.model, in, got, want)
			}
		}
	}
}

func TestThinkingThatWasAskedForIsNotTurnedOff(t *testing.T) {
	if got := clamp([]Level{Off, High, Max}, Off, Low); got != High {
		t.Error(got)
	}
	if got := clamp([]Level{Off}, Off, Max); got != Off {
		t.Error(got)
	}
}

func TestEveryModelClampsEveryLevelToOneOfItsOwn(t *testing.T) {
	var all []known
	for _, b := range builtins() {
		all = append(all, b.models...)
	}
	for _, rows := range shelf() {
		for _, k := range rows {
			all = append(all, k)
		}
	}
	wishes := slices.Clone(ladder[:])
	for d := '0'; d <= '9'; d++ {
		wishes = append(wishes, Level(d))
	}
	for _, k := range all {
		if !slices.IsSortedFunc(k.levels, func(a, b Level) int { return slices.Index(ladder[:], a) - slices.Index(ladder[:], b) }) {
			t.Errorf("%s: levels %v", k.id, k.levels)
		}
		if k.level != Default && !slices.Contains(k.levels, k.level) {
			t.Errorf("%s: default %q is not in %v", k.id, k.level, k.levels)
		}
		last := -1
		for _, l := range wishes {
			got := clamp(k.levels, k.level, l)
			if len(k.levels) > 0 && !slices.Contains(k.levels, got) {
				t.Errorf("%s at %q: %q", k.id, l, got)
			}
			if at := slices.Index(ladder[:], got); !l.digit() {
				if at < last && len(k.levels) > 0 {
					t.Errorf("%s at %q thinks less than below", k.id, l)
				}
				last = at
			}
		}
	}
}

func FuzzLevel(f *testing.F) {
	for _, s := range []string{"", "off", "med", "9", "MAX", "xhigh", "🙂"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		l, err := ParseLevel(s)
		if err != nil {
			if l != Default || code(err) != BadLevel || len(err.Error()) > 1000 {
				t.Fatalf("%q: %q, %v", s, l, err)
			}
			return
		}
		if again, err := ParseLevel(string(l)); err != nil || again != l {
			t.Fatalf("%q is %q, which is %q, %v", s, l, again, err)
		}
		allowed := []Level{Low, High}
		if got := clamp(allowed, High, l); !slices.Contains(allowed, got) {
			t.Fatalf("%q clamps to %q", s, got)
		}
	})
}
