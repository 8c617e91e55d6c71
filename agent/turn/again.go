package turn

import (
	"context"
	"errors"
)

var errSoon = errors.New("not there yet")

// Edit replaces a past message of the person, the User record of that Seq: an open turn is
// interrupted, what was said from there on is left, and the message is sent. Nothing is erased, and
// what tools did to files stays done.
func (c *Conversation) Edit(ctx context.Context, seq uint64, m Message) error {
	_, _, _ = ctx, seq, m
	return errSoon
}

// Retry ends the wait for the next attempt, or repeats what failed or was interrupted last without a
// new message. ErrNothing is wrapped when there is nothing to repeat.
func (c *Conversation) Retry(ctx context.Context) error {
	_ = ctx
	return errSoon
}

// StopRetry gives up waiting for the next attempt: the turn fails with the error that it waits for.
// Without a wait it does nothing.
func (c *Conversation) StopRetry(ctx context.Context) error {
	_ = ctx
	return errSoon
}

// Clear starts the conversation anew: models don't get what was said before, and people don't see it
// any more unless soft. Nothing is erased. Clearing what is clear does nothing.
func (c *Conversation) Clear(ctx context.Context, soft bool) error {
	_, _ = ctx, soft
	return errSoon
}

// Mended says that settings changed: a failure of key, quota or model is cleared when the model can
// be resolved now. It sends nothing.
func (c *Conversation) Mended(ctx context.Context) error {
	_ = ctx
	return errSoon
}
