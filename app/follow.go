package app

import (
	"context"
	"fmt"
	"time"

	"carrel/agent/transcript"
	"carrel/agent/turn"
	"carrel/store"
	"carrel/workspaces"
)

// follow reads a log that another process writes, tells hosts what comes, and takes the session over
// when that process lets go of it.
func (s *session) follow(w workspaces.Workspace, dir string) error {
	log, err := transcript.OpenReader(dir)
	if err != nil {
		return fmt.Errorf("read conversation %q: %w", s.id, err)
	}
	ctx, stop := context.WithCancel(context.Background())
	s.log, s.stop, s.done = log, stop, make(chan struct{})
	s.state = turn.StateChange{State: stateIn(log.State()), Model: s.app.modelOf(w)}
	go func() {
		defer close(s.done)
		s.tail(ctx, dir)
	}()
	return nil
}

func (s *session) tail(ctx context.Context, dir string) {
	tick := time.NewTicker(tailEvery)
	defer tick.Stop()
	last := s.reader().State().LastSeq
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		records, err := s.reader().Since(last)
		if err != nil {
			s.app.logger.Warn("read another process's conversation", "workspace", s.id, "err", err)
		}
		for i := range records {
			s.seen(&records[i])
			last = records[i].Seq
		}
		if len(records) > 0 {
			s.followState()
		}
		if lock, err := s.app.root.LockSession(s.id); err == nil {
			s.takeOver(ctx, dir, lock, last)
			return
		}
	}
}

// seen shows a record that another process wrote. Its checkpoints stand for the stream.
func (s *session) seen(r *transcript.Record) {
	if r.Kind == transcript.Partial {
		s.live.checkpoint(r)
		return
	}
	s.live.record(r)
	s.app.noticed(s.id, r)
}

// followState tells hosts what another process's conversation does.
func (s *session) followState() {
	now := stateIn(s.reader().State())
	s.mu.Lock()
	changed := s.state.State != now
	s.state.State = now
	s.mu.Unlock()
	s.publishState()
	if changed {
		s.app.activityChanged(s.id)
	}
}

// stateIn says what a conversation does that its log is all there is to see of.
func stateIn(log transcript.State) turn.State {
	switch {
	case log.Turn != "" && len(log.OpenCalls) > 0:
		return turn.RunningTools
	case log.Turn != "" && log.StepSeq > 0:
		return turn.Streaming
	case log.Turn != "", log.Unanswered != "":
		return turn.Preparing
	case log.LastEnd == nil:
		return turn.Idle
	}
	switch log.LastEnd.End {
	case transcript.Interrupted, transcript.Crashed:
		return turn.Interrupted
	case transcript.Failed:
		return turn.Failed
	case transcript.Done:
	}
	return turn.Idle
}

// takeOver makes the session ours after the other process ended.
func (s *session) takeOver(ctx context.Context, dir string, lock *store.Lock, last uint64) {
	w, err := s.app.registry.Workspace(ctx, s.id)
	if err == nil {
		old := s.reader()
		if err = s.own(w, dir, lock); err == nil {
			_ = old.Close()
		}
	}
	if err != nil {
		_ = lock.Close()
		s.app.logger.Error("take over a conversation", "workspace", s.id, "err", err)
		return
	}
	records, err := s.reader().Since(last)
	if err != nil {
		s.app.logger.Error("take over a conversation", "workspace", s.id, "err", err)
	}
	for i := range records {
		s.seen(&records[i])
	}
	s.publishState()
	s.app.activityChanged(s.id)
}

// checkpoint shows how far another process's response is.
func (l *live) checkpoint(r *transcript.Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.step.apply(r) {
		e.Live = true
		l.changed(e)
	}
}
