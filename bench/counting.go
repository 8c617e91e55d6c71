package main

import (
	"context"
	"strings"

	"carrel/agent/tokens"
)

const (
	countedText    = 1 << 20
	countedLetters = 200_000
)

// measureCounting counts the tokens of text and of one letter again and again, in which a vocabulary finds
// no words.
func measureCounting(ctx context.Context, _ *bench) ([]line, error) {
	text, letters := newProse().text(countedText), strings.Repeat("a", countedLetters)
	counting := func(s string) work {
		return func(context.Context) (sample, error) {
			return timed(func() error { tokens.Count(s); return nil })
		}
	}
	p, err := alternate(ctx, 10, counting(text), counting(letters))
	if err != nil {
		return nil, err
	}
	return []line{p.ratio("counting 200,000 times one letter; 1 MB of text", 3)}, nil
}
