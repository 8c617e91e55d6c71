package app

import (
	"context"
	"time"
)

// CloseIdle closes what is idle at that time, without the wait for it.
func (a *App) CloseIdle(at time.Time) { a.closeIdle(at) }

// SendFirst is the sending of a fork's first message.
func (a *App) SendFirst(ctx context.Context, id, text string) (unsent string) {
	return desks{a}.sendFirst(ctx, id, text)
}
