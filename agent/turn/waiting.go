package turn

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"carrel/agent/model"
	"carrel/agent/picture"
	"carrel/agent/transcript"
)

// deliver records the messages that wait for a step to end, in their order, and takes them out of
// the queue once they are on disk. It gives the newest choice that one of them made.
func (c *Conversation) deliver(t *openTurn) (choice *Choice, err error) {
	if c.held {
		return nil, nil
	}
	var sent []string
	for _, q := range c.queue {
		if q.Dispatch == AfterTurn {
			continue
		}
		_, err = c.append(transcript.Record{
			Kind: transcript.User, Turn: t.id, MessageID: q.ID, Message: q.message(), Choice: (*transcript.Choice)(q.Choice),
		})
		if err != nil {
			err = fmt.Errorf("record message %q: %w", q.ID, err)
			break
		}
		sent = append(sent, q.ID)
		if q.Choice != nil {
			choice = q.Choice
		}
	}
	if len(sent) == 0 {
		return nil, err
	}
	if err == nil {
		err = c.log.Sync()
	}
	c.queue = slices.DeleteFunc(slices.Clone(c.queue), func(q Queued) bool { return slices.Contains(sent, q.ID) })
	if err == nil {
		// A row that stays is dropped at the next Start, since its id is in the log.
		_ = c.withQueue(func(ctx context.Context) error {
			for _, id := range sent {
				if err := c.cfg.Queue.Remove(ctx, id); err != nil {
					return err
				}
			}
			return nil
		})
	}
	c.tell()
	return choice, err
}

// queued makes the form in which a message waits. It keeps the message's files, so it may take a
// while: it runs on the sender's goroutine.
func (c *Conversation) queued(m Message) (Queued, error) {
	q := Queued{ID: m.ID, Text: m.Text, At: c.cfg.Now().UTC(), Dispatch: m.Dispatch, Choice: m.Choice}
	if q.ID == "" {
		q.ID = newID()
	}
	if q.Dispatch != AfterTurn {
		q.Dispatch = AfterStep
	}
	var err error
	if q.parts, err = c.keepFiles(m.Files); err != nil {
		return Queued{}, err
	}
	q.Files = len(q.parts)
	return q, nil
}

// keepFiles keeps a message's files; nil stays nil.
func (c *Conversation) keepFiles(files []model.Part) ([]model.Part, error) {
	if files == nil {
		return nil, nil
	}
	parts := make([]model.Part, 0, len(files))
	for _, f := range files {
		p, err := c.keepFile(f)
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// Parts gives the message's files. They are not the caller's to change.
func (q *Queued) Parts() []model.Part { return q.parts }

// empty reports whether nothing is in a message.
func (q *Queued) empty() bool { return strings.TrimSpace(q.Text) == "" && len(q.parts) == 0 }

// keepFile puts a picture of a message into the blobs, made fit for models. Its error is for the
// person.
func (c *Conversation) keepFile(f model.Part) (model.Part, error) {
	p := model.Part{Kind: model.File, Mime: f.Mime, Blob: f.Blob, Name: f.Name}
	if f.Blob != "" {
		return p, nil
	}
	data, mime, err := picture.Fit(f.Data, f.Mime)
	if err != nil {
		return model.Part{}, &FileError{f.Name, err}
	}
	if p.Blob, err = c.log.PutBlob(data, mime); err != nil {
		return model.Part{}, fmt.Errorf("attach %q: %w", f.Name, err)
	}
	p.Mime = mime
	return p, nil
}

// message is the form in which a queued message enters the log.
func (q *Queued) message() *model.Message {
	m := &model.Message{Role: model.User}
	if q.Text != "" || len(q.parts) == 0 {
		m.Parts = append(m.Parts, model.Part{Kind: model.Text, Text: q.Text})
	}
	m.Parts = append(m.Parts, q.parts...)
	return m
}

// keep takes the files and the choice of the message that this one replaces, where it has none.
func (q *Queued) keep(old *transcript.Record) {
	if q.Choice == nil {
		q.Choice = (*Choice)(old.Choice)
	}
	if q.parts != nil {
		return
	}
	for _, p := range old.Message.Parts {
		if p.Kind == model.File {
			q.parts = append(q.parts, p)
		}
	}
	q.Files = len(q.parts)
}

// RemoveQueued takes a message out of the queue. One that is not there is no error.
func (c *Conversation) RemoveQueued(ctx context.Context, id string) error {
	return c.ask(ctx, func(done func(error)) {
		err := c.withQueue(func(ctx context.Context) error { return c.cfg.Queue.Remove(ctx, id) })
		if err == nil {
			c.dropQueued(id)
			c.tell()
		}
		done(err)
	})
}

// QueuedChange is what changes of a message in the queue; nil leaves as is.
type QueuedChange struct {
	Text     *string
	Dispatch *Dispatch
	Choice   *Choice
	Files    []model.Part // as Message.Files
}

// EditQueued is ChangeQueued for text and dispatch.
func (c *Conversation) EditQueued(ctx context.Context, id string, text *string, d *Dispatch) error {
	return c.ChangeQueued(ctx, id, QueuedChange{Text: text, Dispatch: d})
}

// ChangeQueued changes a message in the queue. ErrNotQueued is wrapped when it is not there any more,
// ErrEmpty when nothing would be left in it.
func (c *Conversation) ChangeQueued(ctx context.Context, id string, change QueuedChange) error {
	parts, err := c.keepFiles(change.Files)
	if err != nil {
		return err
	}
	change.Files = parts
	return c.ask(ctx, func(done func(error)) { done(c.changeQueued(id, change)) })
}

// changeQueued changes a message; the change's files are kept already.
func (c *Conversation) changeQueued(id string, change QueuedChange) error {
	i := slices.IndexFunc(c.queue, func(q Queued) bool { return q.ID == id })
	if i < 0 {
		return fmt.Errorf("edit queued message %q: %w", id, ErrNotQueued)
	}
	q := c.queue[i]
	if change.Text != nil {
		q.Text = *change.Text
	}
	if change.Choice != nil {
		q.Choice = change.Choice
	}
	if change.Files != nil {
		q.parts, q.Files = change.Files, len(change.Files)
	}
	if q.empty() {
		return fmt.Errorf("edit queued message %q: %w", id, ErrEmpty)
	}
	if d := change.Dispatch; d != nil && *d == AfterTurn {
		q.Dispatch = AfterTurn
	} else if d != nil {
		q.Dispatch = AfterStep
	}
	if err := c.withQueue(func(ctx context.Context) error { return c.cfg.Queue.Change(ctx, q) }); err != nil {
		return err
	}
	c.queue = slices.Clone(c.queue) // hosts may hold the old one
	c.queue[i] = q
	c.tell()
	return nil
}

// MoveQueued puts a message before another one of the queue, or last when before is "". ErrNotQueued
// is wrapped when either is not there any more.
func (c *Conversation) MoveQueued(ctx context.Context, id, before string) error {
	return c.ask(ctx, func(done func(error)) { done(c.moveQueued(id, before)) })
}

func (c *Conversation) moveQueued(id, before string) error {
	if id == before {
		return nil
	}
	at := func(queue []Queued, id string) int {
		return slices.IndexFunc(queue, func(q Queued) bool { return q.ID == id })
	}
	from := at(c.queue, id)
	if from < 0 {
		return fmt.Errorf("move queued message %q: %w", id, ErrNotQueued)
	}
	q := c.queue[from]
	queue := slices.Delete(slices.Clone(c.queue), from, from+1)
	to := len(queue)
	if before != "" {
		if to = at(queue, before); to < 0 {
			return fmt.Errorf("move before queued message %q: %w", before, ErrNotQueued)
		}
	}
	queue = slices.Insert(queue, to, q)
	ids := make([]string, len(queue))
	for i := range queue {
		ids[i] = queue[i].ID
	}
	if err := c.withQueue(func(ctx context.Context) error { return c.cfg.Queue.Order(ctx, ids) }); err != nil {
		return err
	}
	c.queue = queue
	c.tell()
	return nil
}
