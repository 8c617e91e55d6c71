package app

import (
	"context"
	"sync/atomic"
	"time"
)

// An open conversation keeps its log, its history and a goroutine. One that nobody used for idleAfter is
// closed; opening it again takes about a millisecond, whatever its length.
const (
	idleAfter = 5 * time.Minute
	idleLook  = time.Minute // how often idle ones are looked for
)

// SetAudience says how to find out whether any host has joined a topic: what hosts follow stays open.
func (a *App) SetAudience(joined func(topic string) bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.audience = joined
}

// retire closes idle conversations until ctx ends.
func (a *App) retire(ctx context.Context) {
	tick := time.NewTicker(idleLook)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			a.closeIdle(now)
			a.sweepUploads(now)
		}
	}
}

// closeIdle closes the conversations that were idle for long enough at that time.
func (a *App) closeIdle(now time.Time) {
	a.mu.Lock()
	var idle []string
	for id, o := range a.sessions {
		if o.now() != nil && o.users == 0 && o.leaving == nil && now.Sub(o.used) >= idleAfter {
			idle = append(idle, id)
		}
	}
	audience := a.audience
	a.mu.Unlock()
	for _, id := range idle {
		if audience == nil || !audience(conversationTopic(id)) {
			a.closeOneIdle(id, now)
		}
	}
}

// closeOneIdle lets calls wait while it looks once more, and closes the conversation if nothing goes on
// in it. What its commands left running goes on.
func (a *App) closeOneIdle(id string, now time.Time) {
	a.mu.Lock()
	o := a.sessions[id]
	if o == nil || o.now() == nil || o.users > 0 || o.leaving != nil || now.Sub(o.used) < idleAfter {
		a.mu.Unlock()
		return
	}
	o.leaving = make(chan struct{})
	a.mu.Unlock()
	quiet := o.s.quiet()
	if quiet {
		ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
		defer cancel()
		if err := o.s.close(ctx); err != nil {
			a.logger.Warn("close an idle conversation", "workspace", id, "err", err)
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if quiet {
		o.gone = true
		if a.sessions[id] == o {
			delete(a.sessions, id)
		}
	}
	close(o.leaving)
	o.leaving = nil
}

// awaitLeaving waits for somebody who is about to close a session for being idle, and reports whether it
// was closed so.
func (a *App) awaitLeaving(ctx context.Context, o *opening) (gone bool, err error) {
	a.mu.Lock()
	leaving := o.leaving
	a.mu.Unlock()
	if leaving != nil {
		select {
		case <-leaving:
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return o.gone, nil
}

// quiet reports whether nothing goes on in a conversation of ours and nothing waits in it.
func (s *session) quiet() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conv != nil && !s.state.State.Working() && len(s.state.Queue) == 0
}

// stirred notes that something happened in a conversation.
func (a *App) stirred(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if o := a.sessions[id]; o != nil {
		o.used = time.Now()
	}
}

// revisions counts the events of a workspace's conversation. It goes on when that is opened again, so
// that hosts don't take its events for old ones.
func (a *App) revisions(id string) *atomic.Uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	d := a.deskOf(id)
	if d.rev == nil {
		d.rev = &atomic.Uint64{}
	}
	return d.rev
}
