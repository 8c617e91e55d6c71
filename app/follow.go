package app

import (
	"context"
	"fmt"
	"time"

	"carrel/agent/transcript"
	"carrel/agent/turn"
)

// tailEvery is how often a conversation that another process holds is read again.
const tailEvery = 500 * time.Millisecond

// follow reads a log that another process writes, tells hosts what comes, and takes the session over
// when that process lets go of it.
func (s *session) follow(dir string) error {
	log, err := transcript.OpenReader(dir)
	if err != nil {
		return fmt.Errorf("read conversation %q: %w", s.id, err)
	}
	st := log.State()
	var step []transcript.Record // of the step under way: later records refer to its calls
	if st.StepSeq > 0 {
		if step, err = log.Since(st.StepSeq - 1); err != nil {
			_ = log.Close()
			return fmt.Errorf("read conversation %q: %w", s.id, err)
		}
	}
	last := s.live.prime(step, st.LastSeq)
	ctx, stop := context.WithCancel(context.Background())
	s.log, s.stop, s.done = log, stop, make(chan struct{})
	s.state = followed(log.State())
	go func() {
		defer close(s.done)
		s.tail(ctx, dir, last)
	}()
	return nil
}

// followed is the state of a conversation that another process holds, as far as its log tells.
func followed(st transcript.State) turn.StateChange {
	out := turn.StateChange{State: endState(st), Model: st.Model, Choice: turn.Choice{Model: st.Model}}
	switch {
	case st.Turn == "":
	case len(st.OpenCalls) > 0:
		out.State = turn.RunningTools
	case st.StepSeq > 0:
		out.State = turn.Streaming
	default:
		out.State = turn.Preparing
	}
	return out
}

func (s *session) tail(ctx context.Context, dir string, last uint64) {
	tick := time.NewTicker(tailEvery)
	defer tick.Stop()
	for {
		last = s.seen(s.reader(), last)
		if s.takeOver(ctx, dir, last) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// seen tells hosts of the records that another process wrote after last, and gives the newest one's
// sequence.
func (s *session) seen(log *transcript.Log, last uint64) uint64 {
	records, err := log.Since(last)
	if err != nil {
		s.app.logger.Warn("read another process's conversation", "workspace", s.id, "err", err)
	}
	for i := range records {
		if records[i].Kind == transcript.Partial { // its checkpoints stand for the stream
			s.live.checkpoint(&records[i])
		} else {
			s.live.record(&records[i])
			s.app.noticed(s.id, &records[i])
		}
		last = records[i].Seq
	}
	if len(records) > 0 {
		if now := followed(log.State()); now.State != s.current().State || now.Model != s.current().Model {
			s.setState(now)
		} else {
			s.publishState() // usage and todos
		}
	}
	return last
}

// takeOver makes the session ours when the other process has ended, and reports whether it did. What
// that process still wrote is told before anybody can write on.
func (s *session) takeOver(ctx context.Context, dir string, last uint64) bool {
	lock, err := s.app.root.LockSession(s.id)
	if err != nil {
		return false // still held
	}
	w, err := s.app.registry.Workspace(ctx, s.id)
	if err != nil {
		_ = lock.Close()
		return false // deleted, or we are closing
	}
	err = s.own(ctx, w, dir, lock, func(log *transcript.Log) { s.seen(log, last) })
	if err != nil {
		s.app.logger.Error("take over a conversation", "workspace", s.id, "err", err)
		return false
	}
	s.tellApp()
	s.publishState()
	return true
}
