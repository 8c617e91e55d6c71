package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"carrel/agent/model"
	"carrel/agent/transcript"
	"carrel/app"
)

// The two histories that are compared, in bytes of logs, and how many conversations each has.
const (
	shortHistory = 10 << 20
	longHistory  = 1 << 30
	talks        = 8
)

// measureHistory opens conversations of a long history and of a short one, and searches a word in the
// long one beside grep. Both are the size that they say; building and indexing the long one takes two
// minutes.
func measureHistory(ctx context.Context, b *bench) ([]line, error) {
	short, err := b.history(ctx, "history-short", shortHistory)
	if err != nil {
		return nil, err
	}
	long, err := b.history(ctx, "history-long", longHistory)
	if err != nil {
		return nil, err
	}
	opening := func(h history) work {
		return func(ctx context.Context) (sample, error) { return b.openConversation(ctx, h.root, h.id, 20) }
	}
	p, err := alternate(ctx, 30, opening(short), opening(long))
	if err != nil {
		return nil, err
	}
	lines := []line{p.ratio("opening a conversation in 1 GB of them; in 10 MB", 2)}
	indexed, search, err := b.searching(ctx, long)
	return append(append(lines, search...), indexed...), err
}

// history is a data root with conversations.
type history struct {
	root string // name of the data root
	id   string // of one conversation, as long as the others
	word string // that is in few of its messages
}

// history makes a data root with that many bytes of conversations.
func (b *bench) history(ctx context.Context, root string, size int64) (h history, err error) {
	h = history{root: root, word: "zanzibar"}
	folder := b.path(root + "-folder")
	if err := os.Mkdir(folder, 0o700); err != nil {
		return h, err
	}
	p, err := b.open(ctx, root, true)
	if err != nil {
		return h, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	project, err := p.api.Projects.Add(ctx, app.AddProject{Path: folder})
	if err != nil {
		return h, err
	}
	words := newProse()
	for range talks {
		w, err := p.api.Workspaces.Create(ctx, app.NewWorkspace{ProjectID: project.ID, Model: "demo:demo"})
		if err != nil {
			return h, err
		}
		dir, err := p.root.SessionDir(w.ID)
		if err != nil {
			return h, err
		}
		if err := writeWords(ctx, dir, size/talks, words, h.word); err != nil {
			return h, err
		}
		h.id = w.ID
	}
	return h, nil
}

// prose is text as it is in code and talk: few words often, many seldom.
type prose struct {
	random *rand.Rand
	pool   string
}

const (
	manyWords = 200_000 // that there are
	poolBytes = 8 << 20 // of text, from which all others are cut
)

var syllables = strings.Fields("ba ce da fo gu ha je ki lo mu na pe ri so tu va we xi yo zu er")

func newProse() *prose {
	random := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(random, 1.1, 10, manyWords-1)
	var b strings.Builder
	for b.Len() < poolBytes {
		for n := zipf.Uint64() + 1; n > 0; n /= uint64(len(syllables)) { // a word of its own for each number
			b.WriteString(syllables[n%uint64(len(syllables))])
		}
		b.WriteByte(" \n"[random.IntN(12)/11])
	}
	return &prose{random, b.String()}
}

// text gives some bytes of text.
func (p *prose) text(size int) string {
	at := p.random.IntN(len(p.pool) - size)
	return p.pool[at : at+size]
}

// writeWords writes a conversation of that many bytes: half of it is what tools printed. One step in
// two hundred has the word.
func writeWords(ctx context.Context, dir string, size int64, words *prose, word string) (err error) {
	log, err := transcript.Open(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	say := func(role model.Role, text string) *model.Message {
		return &model.Message{Role: role, Parts: []model.Part{{Kind: model.Text, Text: text}}}
	}
	written := int64(0)
	for n := 0; written < size; n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		turn, answer, output := fmt.Sprint("turn-", n), words.text(4000), words.text(4000)
		if n%200 == 0 {
			answer += word
		}
		records := []transcript.Record{
			{Kind: transcript.User, Turn: turn, MessageID: turn, Message: say(model.User, words.text(200))},
			{Kind: transcript.TurnStart, Turn: turn, Model: "demo:demo"},
			{Kind: transcript.StepStart, Turn: turn, Step: 1},
			{Kind: transcript.Assistant, Turn: turn, Step: 1, Message: say(model.Assistant, answer)},
			{Kind: transcript.ToolEnd, Turn: turn, Step: 1, CallID: turn, Result: &model.Part{Kind: model.ToolResult,
				CallID: turn, Parts: []model.Part{{Kind: model.Text, Text: output}}}},
			{Kind: transcript.TurnEnd, Turn: turn, End: transcript.Done},
		}
		for _, r := range records {
			if _, err := log.Append(r); err != nil {
				return err
			}
		}
		written += int64(len(answer) + len(output) + 200 + 900)
	}
	return nil
}

// searching indexes a history, as a core does when it sees it for the first time, and searches a word
// that is seldom and one that is often.
func (b *bench) searching(ctx context.Context, h history) (indexed, search []line, err error) {
	p, err := b.open(ctx, h.root, true)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	began := time.Now()
	find := func(ctx context.Context, word string, wait bool) error {
		f, err := p.api.Search.Find(ctx, app.FindText{Text: word, Wait: wait})
		if err == nil && (len(f.Hits) == 0 || f.Behind > 0) {
			err = fmt.Errorf("%d hits of %q, %d bytes behind", len(f.Hits), word, f.Behind)
		}
		return err
	}
	if err := find(ctx, h.word, true); err != nil {
		return nil, nil, err
	}
	took := time.Since(began)
	info, err := os.Stat(p.root.Path("search.db"))
	if err != nil {
		return nil, nil, err
	}
	sessions := p.root.Path("sessions")
	for _, c := range []struct{ about, word string }{{"a word that is seldom", h.word}, {"a word that is often", "da"}} {
		grep := func(ctx context.Context) (sample, error) {
			return command{argv: []string{"grep", "-rc", c.word, sessions}, dir: sessions, env: b.env("LC_ALL=C")}.run(ctx)
		}
		ours := func(ctx context.Context) (sample, error) {
			return timed(func() error { return find(ctx, c.word, false) })
		}
		pair, err := alternate(ctx, 10, grep, ours)
		if err != nil {
			return nil, nil, err
		}
		search = append(search, pair.ratio("searching "+c.about+" in 1 GB; grep -r", 0.1))
	}
	const mib = 1 << 20
	return []line{{work: "the index beside 1 GB of conversations", value: float64(info.Size()) / longHistory, limit: 1, unit: "x",
		note: fmt.Sprintf("indexed in %s, %d MiB", took.Round(time.Second), info.Size()/mib)}}, search, nil
}
