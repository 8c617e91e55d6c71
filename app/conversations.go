package app

import (
	"context"

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
	s, done, err := c.app.session(ctx, args.ID)
	if err != nil {
		return Conversation{}, userError(err)
	}
	defer done()
	snapshot, err := s.snapshot(firstPage)
	if err != nil {
		return Conversation{}, userError(err)
	}
	snapshot.Draft, snapshot.DraftFiles, err = c.app.draft(ctx, args.ID)
	return snapshot, userError(err)
}

func (c conversations) Page(ctx context.Context, args PageRequest) (Page, error) {
	s, done, err := c.app.session(ctx, args.Workspace)
	if err != nil {
		return Page{}, userError(err)
	}
	defer done()
	n := args.Limit
	if n <= 0 || n > maxPage {
		n = firstPage
	}
	switch {
	case args.Around > 0:
		page, err := s.around(args.Around, n)
		return page, userError(err)
	case args.After > 0:
		page, err := s.after(args.After, n)
		return page, userError(err)
	}
	if args.Before == 0 {
		c, err := s.snapshot(n)
		return Page{Entries: c.Entries, More: c.More}, userError(err)
	}
	page, err := s.page(args.Before, n)
	return page, userError(err)
}

func (c conversations) Entry(ctx context.Context, args EntryRequest) (Entry, error) {
	s, done, err := c.app.session(ctx, args.Workspace)
	if err != nil {
		return Entry{}, userError(err)
	}
	defer done()
	entry, err := s.entry(args.Entry)
	return entry, userError(err)
}

func (c conversations) Send(ctx context.Context, args SendMessage) error {
	if err := sayable(args.Text, args.ID, len(args.Files) > 0); err != nil {
		return err
	}
	files, err := c.app.files(args.Workspace, args.Files)
	if err != nil {
		return err
	}
	m := turn.Message{ID: args.ID, Text: args.Text, Files: files, Dispatch: turn.Dispatch(args.Dispatch)}
	if err := c.once(&m); err != nil {
		return err
	}
	return c.working(ctx, args.Workspace, func(conv *turn.Conversation) error { return conv.Send(ctx, m) })
}

func (c conversations) Interrupt(ctx context.Context, args ByID) error {
	return c.steer(ctx, args.ID, func(conv *turn.Conversation) error { return conv.Interrupt(ctx) })
}

func (c conversations) RemoveQueued(ctx context.Context, args QueueItem) error {
	return c.steer(ctx, args.Workspace, func(conv *turn.Conversation) error { return conv.RemoveQueued(ctx, args.ID) })
}

func (c conversations) Release(ctx context.Context, args ByID) error {
	return c.working(ctx, args.ID, func(conv *turn.Conversation) error { return conv.Release(ctx) })
}
