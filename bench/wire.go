package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	wireRounds = 40
	wireCalls  = 300
	wireEvents = 5_000 // in one go; they fit in a host's queue
	pageWait   = 3 * time.Minute
)

// taken are the page's measures of one kind of work, in milliseconds a round.
type taken struct{ Bare, Ours []float64 }

// measureWire lets the page in the window compare our wire with a bare WebSocket.
func measureWire(ctx context.Context, b *bench) (_ []line, err error) {
	s, closeServer, err := b.servePage(ctx, "wire", fmt.Sprintf("rounds=%d&calls=%d&events=%d", wireRounds, wireCalls, wireEvents))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, closeServer()) }()
	h, err := b.show(ctx, s)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	var found struct{ Calls, Events taken }
	if err := s.report(ctx, pageWait, &found); err != nil {
		return nil, fmt.Errorf("%w; %s said: %s", err, h.name, h.said.String())
	}
	return []line{
		found.Calls.each(wireCalls).ratio("a call of 1 KB and its answer, from "+h.name+"; a bare WebSocket", 1.3),
		found.Events.each(wireEvents).ratio("64-byte events to "+h.name+"; a bare WebSocket", 1.3),
	}, nil
}

// each divides the rounds by what each has done.
func (t taken) each(n int) pair {
	samples := func(all []float64) []sample {
		out := make([]sample, len(all))
		for i, ms := range all {
			out[i] = sample{wall: time.Duration(ms * float64(time.Millisecond) / float64(n))}
		}
		return out
	}
	return pair{ours: samples(t.Ours), base: samples(t.Bare)}
}
