package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"carrel/agent/turn"
)

// errEmpty is the answer to a message without text and files.
var errEmpty = &Error{Code: "empty_message", Message: "Write a message first."}

// sayable refuses a text that is no message. files says whether files may be all that it has.
func sayable(text, id string, files bool) error {
	switch {
	case !files && strings.TrimSpace(text) == "":
		return errEmpty
	case len(text) > maxMessage:
		return &Error{Code: "too_large", Message: "The message is larger than 1 MiB. Put long text into a file and name the file."}
	case len(id) > maxID:
		return &Error{Code: "bad_request", Message: "The message's id is too long."}
	}
	return nil
}

// once reads what a message says of the model and level that it alone wants.
func (c conversations) once(m *turn.Message) error {
	once, ok := c.app.catalog.OneShot(m.Text)
	if !ok {
		return nil
	}
	m.Text, m.Choice = once.Text, &turn.Choice{Model: once.Model, Level: string(once.Level)}
	return sayable(m.Text, "", m.Files == nil || len(m.Files) > 0)
}

// steer does something with a conversation that is ours.
func (c conversations) steer(ctx context.Context, id string, do func(*turn.Conversation) error) error {
	s, done, err := c.app.session(ctx, id)
	if err != nil {
		return userError(err)
	}
	defer done()
	conv, err := s.writable()
	if err != nil {
		return err
	}
	return steerError(do(conv))
}

// working does something that may start a turn.
func (c conversations) working(ctx context.Context, id string, do func(*turn.Conversation) error) error {
	done, err := c.app.start(id)
	if err != nil {
		return err
	}
	defer done()
	if err := c.app.usable(ctx, id); err != nil {
		return err
	}
	return c.steer(ctx, id, do)
}

func steerError(err error) error {
	var file *turn.FileError
	switch {
	case errors.As(err, &file):
		return &Error{Code: "bad_file", Cause: err, Message: fmt.Sprintf("%s can't be attached: %v.", called(file.Name), errors.Unwrap(file.Cause))}
	case errors.Is(err, turn.ErrEmpty):
		return errEmpty
	case errors.Is(err, turn.ErrFull):
		return &Error{Code: "queue_full", Cause: err, Message: "Too many messages wait already. Send this one when some of them have been answered."}
	case errors.Is(err, turn.ErrNotQueued):
		return &Error{Code: "not_queued", Message: "This message is not in the queue any more. Most likely it was just sent."}
	case errors.Is(err, turn.ErrNoMessage):
		return &Error{Code: "not_found", Message: "This message can't be edited: it is not part of the conversation any more."}
	case errors.Is(err, turn.ErrNothing):
		return &Error{Code: "nothing_to_retry", Message: "There is nothing to try again."}
	}
	return userError(err)
}

func (c conversations) Queued(ctx context.Context, args QueueItem) (Queued, error) {
	s, done, err := c.app.session(ctx, args.Workspace)
	if err != nil {
		return Queued{}, userError(err)
	}
	defer done()
	queue := s.current().Queue
	i := slices.IndexFunc(queue, func(q turn.Queued) bool { return q.ID == args.ID })
	if i < 0 {
		return Queued{}, steerError(turn.ErrNotQueued)
	}
	return queueView(&queue[i]), nil
}

func (c conversations) EditQueued(ctx context.Context, args EditQueued) error {
	if args.Text != nil {
		if err := sayable(*args.Text, args.ID, args.Files == nil || len(args.Files) > 0); err != nil {
			return err
		}
	}
	files, err := c.app.files(args.Workspace, args.Files)
	if err != nil {
		return err
	}
	change := turn.QueuedChange{Text: args.Text, Dispatch: (*turn.Dispatch)(args.Dispatch), Files: files}
	if args.Text != nil {
		m := turn.Message{Text: *args.Text, Files: files}
		if err := c.once(&m); err != nil {
			return err
		}
		change.Text, change.Choice = &m.Text, m.Choice
	}
	return c.steer(ctx, args.Workspace, func(conv *turn.Conversation) error {
		return conv.ChangeQueued(ctx, args.ID, change)
	})
}

func (c conversations) MoveQueued(ctx context.Context, args MoveQueued) error {
	return c.steer(ctx, args.Workspace, func(conv *turn.Conversation) error {
		return conv.MoveQueued(ctx, args.ID, args.Before)
	})
}

func (c conversations) EditMessage(ctx context.Context, args EditMessage) error {
	if err := sayable(args.Text, args.ID, args.Files == nil || len(args.Files) > 0); err != nil {
		return err
	}
	seq, ok := parseEntryID(args.Entry)
	if !ok {
		return &Error{Code: "bad_request", Message: fmt.Sprintf("%q is not the id of an entry.", short(args.Entry))}
	}
	files, err := c.app.files(args.Workspace, args.Files)
	if err != nil {
		return err
	}
	m := turn.Message{ID: args.ID, Text: args.Text, Files: files}
	if err := c.once(&m); err != nil {
		return err
	}
	return c.working(ctx, args.Workspace, func(conv *turn.Conversation) error { return conv.Edit(ctx, seq, m) })
}

func (c conversations) Retry(ctx context.Context, args ByID) error {
	return c.working(ctx, args.ID, func(conv *turn.Conversation) error { return conv.Retry(ctx) })
}

func (c conversations) StopRetry(ctx context.Context, args ByID) error {
	return c.steer(ctx, args.ID, func(conv *turn.Conversation) error { return conv.StopRetry(ctx) })
}

func (c conversations) Clear(ctx context.Context, args ClearConversation) error {
	return c.steer(ctx, args.Workspace, func(conv *turn.Conversation) error { return conv.Clear(ctx, args.Soft) })
}
