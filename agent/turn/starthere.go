package turn

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"carrel/agent/model"
	"carrel/agent/transcript"
)

// ErrNoStart says that a conversation does not start there, or went on since.
var ErrNoStart = errors.New("the conversation went on, or does not start there")

// startsHere is what a model reads before the text that it goes on from.
const startsHere = "What was said before is left out. This is where we are; go on from it when I say how.\n\n"

// StartHere makes a text all that models know of the conversation; people still see what is before it.
// An open turn is interrupted first. Nothing is erased, and UndoStart takes it back.
func (c *Conversation) StartHere(ctx context.Context, text string) error {
	return c.ask(ctx, func(done func(error)) { c.quietly(done, func() error { return c.startHere(text) }) })
}

func (c *Conversation) startHere(text string) error {
	if err := c.mend(); err != nil {
		return err
	}
	message := &model.Message{Role: model.User, Parts: []model.Part{{Kind: model.Text, Text: startsHere + text}}}
	return c.border(transcript.Record{Kind: transcript.Boundary, Border: transcript.Start, Note: text, Message: message})
}

// UndoStart takes the start at that seq back, as long as nothing was said after it; else ErrNoStart is
// wrapped.
func (c *Conversation) UndoStart(ctx context.Context, seq uint64) error {
	return c.ask(ctx, func(done func(error)) { c.quietly(done, func() error { return c.undoStart(seq) }) })
}

func (c *Conversation) undoStart(seq uint64) error {
	if seq == 0 {
		return ErrNoStart
	}
	recs, err := c.log.Since(seq - 1)
	if err != nil {
		return fmt.Errorf("undo start: %w", err)
	}
	went := func(r transcript.Record) bool { return r.Kind == transcript.User || r.Kind == transcript.TurnStart }
	if len(recs) == 0 || recs[0].Seq != seq || recs[0].Border != transcript.Start || slices.ContainsFunc(recs, went) {
		return fmt.Errorf("undo start at %d: %w", seq, ErrNoStart)
	}
	return c.border(transcript.Record{Kind: transcript.Edit, From: seq})
}

// border writes a record after which models know something else than before.
func (c *Conversation) border(r transcript.Record) error {
	if _, err := c.append(r); err != nil {
		return fmt.Errorf("set a border: %w", err)
	}
	if err := c.log.Sync(); err != nil {
		return fmt.Errorf("set a border: %w", err)
	}
	// A message that was about to be answered is left, too.
	c.next, c.system, c.draft, c.bare = nil, nil, nil, bare{}
	c.state, c.code, c.problem = Idle, "", ""
	c.tell()
	return nil
}
