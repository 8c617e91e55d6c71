package app

import (
	"context"
	"strings"

	"carrel/agent/transcript"
	"carrel/agent/turn"
)

// Sizes of what hosts get of a conversation.
const (
	firstPage  = 100
	maxPage    = 500
	pageBytes  = 2 << 20 // of a page's texts, unless one step alone has more
	maxMessage = 1 << 20 // bytes of one message of a person
	maxID      = 128     // bytes of a message's id
)

// conversations implements ConversationsAPI.
type conversations struct{ app *App }

func (c conversations) Open(ctx context.Context, args ByID) (Conversation, error) {
	s, err := c.app.session(ctx, args.ID)
	if err != nil {
		return Conversation{}, userError(err)
	}
	snapshot, err := s.snapshot(firstPage)
	return snapshot, userError(err)
}

func (c conversations) Page(ctx context.Context, args PageRequest) (Page, error) {
	s, err := c.app.session(ctx, args.Workspace)
	if err != nil {
		return Page{}, userError(err)
	}
	n := args.Limit
	if n <= 0 || n > maxPage {
		n = firstPage
	}
	if args.Before == 0 {
		c, err := s.snapshot(n)
		return Page{Entries: c.Entries, More: c.More}, userError(err)
	}
	page, err := s.page(args.Before, n)
	return page, userError(err)
}

func (c conversations) Entry(ctx context.Context, args EntryRequest) (Entry, error) {
	s, err := c.app.session(ctx, args.Workspace)
	if err != nil {
		return Entry{}, userError(err)
	}
	entry, err := s.entry(args.Entry)
	return entry, userError(err)
}

func (c conversations) Send(ctx context.Context, args SendMessage) error {
	if strings.TrimSpace(args.Text) == "" {
		return &Error{Code: "empty_message", Message: "Write a message first."}
	}
	if len(args.Text) > maxMessage {
		return &Error{Code: "too_large", Message: "The message is larger than 1 MiB. Put long text into a file and name the file."}
	}
	if len(args.ID) > maxID {
		return &Error{Code: "bad_request", Message: "The message's id is too long."}
	}
	done, err := c.app.start(args.Workspace)
	if err != nil {
		return err
	}
	defer done()
	if err := c.app.usable(ctx, args.Workspace); err != nil {
		return err
	}
	conv, err := c.conversation(ctx, args.Workspace)
	if err != nil {
		return err
	}
	return userError(conv.Send(ctx, turn.Message{ID: args.ID, Text: args.Text}))
}

func (c conversations) Interrupt(ctx context.Context, args ByID) error {
	conv, err := c.conversation(ctx, args.ID)
	if err != nil {
		return err
	}
	return userError(conv.Interrupt(ctx))
}

func (c conversations) RemoveQueued(ctx context.Context, args QueueItem) error {
	conv, err := c.conversation(ctx, args.Workspace)
	if err != nil {
		return err
	}
	return userError(conv.RemoveQueued(ctx, args.ID))
}

func (c conversations) Release(ctx context.Context, args ByID) error {
	done, err := c.app.start(args.ID)
	if err != nil {
		return err
	}
	defer done()
	if err := c.app.usable(ctx, args.ID); err != nil {
		return err
	}
	conv, err := c.conversation(ctx, args.ID)
	if err != nil {
		return err
	}
	return userError(conv.Release(ctx))
}

func (c conversations) conversation(ctx context.Context, id string) (*turn.Conversation, error) {
	s, err := c.app.session(ctx, id)
	if err != nil {
		return nil, userError(err)
	}
	return s.writable()
}

func queueViews(in []turn.Queued) []Queued {
	out := make([]Queued, 0, len(in))
	for _, q := range in {
		out = append(out, Queued{ID: q.ID, Text: q.Text, Time: q.At})
	}
	return out
}

func usageView(s transcript.State) Usage {
	return Usage{Input: s.Usage.Input, Output: s.Usage.Output, CacheRead: s.Usage.CacheRead,
		CacheWrite: s.Usage.CacheWrite, Context: s.Context}
}
