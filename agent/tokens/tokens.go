// Package tokens counts what a conversation costs a model, without asking the provider.
//
// It promises: counting works offline, in time that grows with the text and not with its square,
// and in bounded memory; a Counter that is asked again about a conversation that grew counts only
// what is new. The vocabulary (OpenAI's o200k) is another model's for most models, so a Counter
// learns from the usage that providers report how much each model's count differs.
package tokens

import (
	"sync"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer/codec"
)

// Memory and speed: the vocabulary takes about 7 MB and 20 ms, once, when something is counted for
// the first time; text is worked on in pieces.
const (
	// piece is how many bytes of a text are worked on at a time by Count.
	piece = 64 << 10
	// small is how many bytes are counted and remembered as one by a Counter, so that of a text that
	// grows only the end is counted again.
	small = 4 << 10
)

// vocabulary is loaded on first use, for the whole process.
var vocabulary = sync.OnceValue(codec.NewO200kBase)

// Count gives the number of o200k tokens of a text. A text of more than 64 KiB is counted in pieces,
// which can add one token for each.
func Count(text string) int {
	n := 0
	for len(text) > 0 {
		at := cut(text, piece)
		n += count(text[:at])
		text = text[at:]
	}
	return n
}

func count(text string) int {
	if text == "" {
		return 0
	}
	n, err := vocabulary().Count(text)
	if err != nil { // only for limits that we don't set
		return (len(text) + 3) / 4
	}
	return n
}

// cut gives where to divide a text that is longer than size bytes: after the last line, else before
// the last word, that begins in the second half, else anywhere between two characters. It depends
// on the text before it and one character after it alone.
func cut(text string, size int) int {
	if len(text) <= size {
		return len(text)
	}
	word := 0
	for i := size; i > size/2; i-- {
		if text[i-1] == '\n' && !space(text[i]) {
			return i
		}
		if word == 0 && text[i] == ' ' && !space(text[i-1]) {
			word = i
		}
	}
	if word > 0 {
		return word
	}
	for i := size; i > size-utf8.UTFMax; i-- {
		if utf8.RuneStart(text[i]) {
			return i
		}
	}
	return size
}

func space(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }
