package app

import (
	"log/slog"
	"strings"
	"testing"

	"carrel/agent/model"
	"carrel/agent/tokens"
	"carrel/store"
)

func TestWhatIsLearnedAboutTokensIsKept(t *testing.T) {
	root, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := root.Close(); err != nil {
			t.Error(err)
		}
	})
	db, err := root.DB(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	a := &App{logger: slog.New(slog.DiscardHandler)}
	msgs := []model.Message{{Role: model.User, Parts: []model.Part{{Kind: model.Text, Text: strings.Repeat("some words ", 1000)}}}}
	c := a.newCounter(t.Context(), db)
	raw := c.Estimate("x:y", msgs)
	c.Learn("x:y", raw.Raw, raw.Raw*3/2)
	want := c.Estimate("x:y", msgs).Tokens
	known, err := tokenFactors(t.Context(), db)
	if err != nil || len(known) != 1 {
		t.Fatalf("%v, %v", known, err)
	}
	if got := tokens.New(known, nil).Estimate("x:y", msgs).Tokens; got != want || got == raw.Tokens {
		t.Errorf("it counts %d after a restart, %d before and %d unlearned", got, want, raw.Tokens)
	}
	if got := a.newCounter(t.Context(), db).Estimate("x:y", msgs).Tokens; got != want {
		t.Errorf("%d tokens, want %d", got, want)
	}
}
