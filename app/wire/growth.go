package wire

import (
	"unicode/utf8"

	"carrel/app"
)

// growKey names a text that grows: events with the same key are merged while they wait.
type growKey struct{ topic, entry, field string }

// growKeyOf returns the key of an event that tells of growth.
func growKeyOf(ev app.Event) (growKey, bool) {
	switch e := ev.(type) {
	case app.EntryGrew:
		return growKey{e.Topic(), e.Entry, e.Field}, true
	case app.InitOutput:
		return growKey{e.Topic(), "", "init"}, true
	default:
		return growKey{}, false
	}
}

// growth is one growth or several, merged.
type growth struct {
	key  growKey
	last app.Event // as it came; its other fields are the merged event's
	at   int       // of the first
	end  int       // in UTF-16 code units, as At is
	text []byte
}

func newGrowth(key growKey, ev app.Event) *growth {
	at, text := grown(ev)
	return &growth{key: key, last: ev, at: at, end: at + utf16Len(text), text: []byte(text)}
}

// add merges ev if it continues where g ends and the whole is not too long.
func (g *growth) add(ev app.Event) bool {
	at, text := grown(ev)
	if _, counted := ev.(app.EntryGrew); counted && at != g.end {
		return false
	}
	if len(g.text)+len(text) > maxMerged {
		return false
	}
	g.last, g.end, g.text = ev, g.end+utf16Len(text), append(g.text, text...)
	return true
}

// event returns the merged event.
func (g *growth) event() app.Event {
	switch e := g.last.(type) {
	case app.EntryGrew:
		e.At, e.Text = g.at, string(g.text)
		return e
	case app.InitOutput:
		e.Text = string(g.text)
		return e
	default:
		return g.last
	}
}

func grown(ev app.Event) (at int, text string) {
	switch e := ev.(type) {
	case app.EntryGrew:
		return e.At, e.Text
	case app.InitOutput:
		return 0, e.Text
	default:
		return 0, ""
	}
}

// utf16Len returns the length of s in UTF-16 code units.
func utf16Len(s string) int {
	n := utf8.RuneCountInString(s)
	for i := range len(s) {
		if s[i] >= 0xF0 { // the first byte of a rune beyond the basic plane, which takes two units
			if r, size := utf8.DecodeRuneInString(s[i:]); size == 4 && r != utf8.RuneError {
				n++
			}
		}
	}
	return n
}
