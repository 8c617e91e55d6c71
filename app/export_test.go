package app

import "time"

// CloseIdle closes what is idle at that time, without the wait for it.
func (a *App) CloseIdle(at time.Time) { a.closeIdle(at) }
