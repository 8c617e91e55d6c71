package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"carrel/agent/model"
	"carrel/agent/transcript"
	"carrel/app"
)

// The two lengths of a conversation that are compared, in messages.
const (
	shortTalk = 200
	longTalk  = 20_000
	// What the page promises: the longest conversation, beside one that fits a page.
	pageTalk    = 100
	longestTalk = 100_000
)

// measureConversation opens and continues a long conversation and a short one.
func measureConversation(ctx context.Context, b *bench) ([]line, error) {
	logs, err := openingLogs(ctx, b)
	if err != nil {
		return nil, err
	}
	host, err := openingInApp(ctx, b, shortTalk, longTalk, "opening it as a host does, with a core that just started")
	if err != nil {
		return nil, err
	}
	longest, err := openingInApp(ctx, b, pageTalk, longestTalk, "the same, 100,000 messages; 100")
	if err != nil {
		return nil, err
	}
	appending, err := appendingToLogs(ctx, b)
	if err != nil {
		return nil, err
	}
	return []line{logs, host, longest, appending}, nil
}

// writeTalk writes a conversation of about that many messages, of 1 KB each, twenty to a turn.
func writeTalk(dir string, messages int) (err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	log, err := transcript.Open(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	text := strings.Repeat("some words of an answer ", 42)
	say := func(role model.Role) *model.Message {
		return &model.Message{Role: role, Parts: []model.Part{{Kind: model.Text, Text: text}}}
	}
	for n := range messages / 20 {
		turn := fmt.Sprint("turn-", n)
		records := []transcript.Record{
			{Kind: transcript.User, Turn: turn, MessageID: "message-" + turn, Message: say(model.User)},
			{Kind: transcript.TurnStart, Turn: turn, Model: "demo:demo"},
		}
		for step := 1; step < 20; step++ {
			records = append(records, transcript.Record{Kind: transcript.StepStart, Turn: turn, Step: step},
				transcript.Record{Kind: transcript.Assistant, Turn: turn, Step: step, Message: say(model.Assistant)})
		}
		records = append(records, transcript.Record{Kind: transcript.TurnEnd, Turn: turn, End: transcript.Done})
		stepSeq := uint64(0)
		for _, r := range records {
			if r.Kind == transcript.Assistant {
				r.StepSeq = stepSeq
			}
			if r, err = log.Append(r); err != nil {
				return err
			}
			if r.Kind == transcript.StepStart {
				stepSeq = r.Seq
			}
		}
	}
	return nil
}

// openingLogs measures what a host's first look costs in the log alone.
func openingLogs(ctx context.Context, b *bench) (line, error) {
	look := func(messages int) (work, error) {
		dir := b.path(fmt.Sprint("talk-", messages))
		if err := writeTalk(dir, messages); err != nil {
			return nil, err
		}
		return func(context.Context) (sample, error) {
			return timed(func() error { return firstLook(dir, messages) })
		}, nil
	}
	short, err := look(shortTalk)
	if err != nil {
		return line{}, err
	}
	long, err := look(longTalk)
	if err != nil {
		return line{}, err
	}
	p, err := alternate(ctx, 200, short, long)
	return p.ratio("opening a transcript of 20,000 messages; of 200", 2), err
}

func firstLook(dir string, messages int) error {
	log, err := transcript.Open(dir)
	if err != nil {
		return err
	}
	page, _, err := log.Before(0, 200)
	if n := log.State().Messages; err == nil && (n != messages || len(page) != 200) {
		err = fmt.Errorf("%d messages and a page of %d", n, len(page))
	}
	return errors.Join(err, log.Close())
}

// openingInApp measures the call that a host makes, with a new core each time.
func openingInApp(ctx context.Context, b *bench, short, long int, what string) (line, error) {
	var works [2]work
	for i, messages := range []int{short, long} {
		root, folder := fmt.Sprint("talks-", messages), b.path(fmt.Sprint("folder-", messages))
		id, err := b.talkingWorkspace(ctx, root, folder, messages)
		if err != nil {
			return line{}, err
		}
		works[i] = func(ctx context.Context) (sample, error) { return b.openConversation(ctx, root, id, 50) }
	}
	p, err := alternate(ctx, 30, works[0], works[1])
	return p.ratio(what, 2), err
}

func (b *bench) talkingWorkspace(ctx context.Context, root, folder string, messages int) (id string, err error) {
	if err := os.Mkdir(folder, 0o700); err != nil {
		return "", err
	}
	p, err := b.open(ctx, root, true)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	project, err := p.api.Projects.Add(ctx, app.AddProject{Path: folder})
	if err != nil {
		return "", err
	}
	w, err := p.api.Workspaces.Create(ctx, app.NewWorkspace{ProjectID: project.ID, Model: "demo:demo"})
	if err != nil {
		return "", err
	}
	dir, err := p.root.SessionDir(w.ID)
	if err != nil {
		return "", err
	}
	return w.ID, writeTalk(dir, messages)
}

// openConversation opens a conversation, which must show so many entries, with a core that just started.
func (b *bench) openConversation(ctx context.Context, root, id string, least int) (s sample, err error) {
	p, err := b.open(ctx, root, true)
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	return timed(func() error {
		c, err := p.api.Conversations.Open(ctx, app.ByID{ID: id})
		if err == nil && len(c.Entries) < least {
			err = fmt.Errorf("only %d entries", len(c.Entries))
		}
		return err
	})
}

// appendBatch is how many records one sample appends.
const appendBatch = 100

// appendingToLogs measures one more record in both, in batches. The logs stay open meanwhile, as in
// a conversation that goes on.
func appendingToLogs(ctx context.Context, b *bench) (_ line, err error) {
	record := transcript.Record{Kind: transcript.Note, Note: strings.Repeat("x", 200)}
	appending := func(messages int) (work, func() error, error) {
		log, err := transcript.Open(b.path(fmt.Sprint("talk-", messages)))
		if err != nil {
			return nil, nil, err
		}
		return func(context.Context) (sample, error) {
			s, err := timed(func() error {
				for range appendBatch {
					if _, err := log.Append(record); err != nil {
						return err
					}
				}
				return nil
			})
			s.wall, s.cpu = s.wall/appendBatch, s.cpu/appendBatch
			return s, err
		}, log.Close, nil
	}
	short, closeShort, err := appending(shortTalk)
	if err != nil {
		return line{}, err
	}
	defer func() { err = errors.Join(err, closeShort()) }()
	long, closeLong, err := appending(longTalk)
	if err != nil {
		return line{}, err
	}
	defer func() { err = errors.Join(err, closeLong()) }()
	p, err := alternate(ctx, 200, short, long)
	return p.ratio("appending a record to 20,000 messages; to 200", 1.1), err
}
