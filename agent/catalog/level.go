package catalog

import (
	"fmt"
	"slices"
	"strings"
)

// Level is how much a model should think, in a person's words: one of the constants, a digit "0" to
// "9" that counts up from the lowest that the model allows, or "" for the model's default.
type Level string

// The named levels.
const (
	Default Level = ""
	Off     Level = "off"
	Low     Level = "low"
	Medium  Level = "medium"
	High    Level = "high"
	XHigh   Level = "xhigh"
	Max     Level = "max"
)

// ladder is every named level, ascending.
var ladder = [...]Level{Off, Low, Medium, High, XHigh, Max}

// ParseLevel reads a level as people write it: a name, "med", a digit, or "" for the default. Its
// error is a *ConfigError.
func ParseLevel(s string) (Level, error) {
	l := Level(strings.ToLower(strings.TrimSpace(s)))
	switch {
	case l == Default, l.digit(), slices.Contains(ladder[:], l):
		return l, nil
	case l == "med":
		return Medium, nil
	}
	return Default, &ConfigError{BadLevel, fmt.Sprintf(
		"There is no thinking level %q. Use off, low, medium, high, xhigh, max, or a digit from 0 (the model's lowest) to 9.", clip(s))}
}

func (l Level) digit() bool { return len(l) == 1 && l[0] >= '0' && l[0] <= '9' }

// Clamp gives the level that the model will think with: the one asked for if the model allows it,
// else the nearest below it, else the lowest. "" and what is no level give the model's default.
// Thinking that was asked for is turned off only where the model can't think at all.
func (c *Catalog) Clamp(id string, l Level) Level {
	i := c.Info(id)
	return clamp(i.Levels, i.DefaultLevel, l)
}

// clamp does it for the levels that are allowed, ascending, and a default.
func clamp(allowed []Level, fallback, l Level) Level {
	if len(allowed) == 0 {
		return fallback
	}
	if l.digit() {
		return allowed[min(int(l[0]-'0'), len(allowed)-1)]
	}
	wish := slices.Index(ladder[:], l)
	if wish < 0 {
		return fallback
	}
	var able []Level // the levels in question, ascending
	for _, a := range allowed {
		if a != Off || l == Off {
			able = append(able, a)
		}
	}
	if len(able) == 0 {
		return allowed[0]
	}
	best := able[0]
	for _, a := range able {
		if slices.Index(ladder[:], a) <= wish {
			best = a
		}
	}
	return best
}

// clip shortens what is repeated in a message.
func clip(s string) string {
	const most = 80
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
