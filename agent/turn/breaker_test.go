package turn_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"carrel/agent/model"
	"carrel/agent/turn"
)

// desks are conversations that share breakers; down says whether the provider fails.
func desks(t *testing.T, n int, down *atomic.Bool, requests *atomic.Int64) []*desk {
	t.Helper()
	breakers := turn.NewBreakers(nil)
	var out []*desk
	for range n {
		d := clockDesk(t).with(func(cfg *turn.Config) { cfg.Breakers = breakers })
		for range 100 {
			d.model.then(func(ctx context.Context, emit func(model.Event)) (*model.Message, error) {
				requests.Add(1)
				time.Sleep(50 * time.Millisecond)
				if down.Load() {
					return nil, &model.Error{Kind: model.ErrServer, Message: "down"}
				}
				return says("up")(ctx, emit)
			})
		}
		out = append(out, d)
	}
	return out
}

func TestAProviderThatFailsAllIsAskedByOneAtATime(t *testing.T) {
	inTime(t, func(t *testing.T) {
		var down atomic.Bool
		var requests atomic.Int64
		down.Store(true)
		all := desks(t, 8, &down, &requests)
		for i, d := range all[:7] {
			d.post(fmt.Sprint(i), "go")
		}
		time.Sleep(15 * time.Second)
		before := requests.Load()
		late := all[7]
		late.post("late", "go")
		if s := late.settle(); s.State != turn.Retrying || s.Retry.Attempt != 0 || s.Retry.Code != "overloaded" {
			t.Errorf("%+v", s)
		}
		time.Sleep(2 * time.Minute)
		if n := requests.Load() - before; n < 1 || n > 10 {
			t.Errorf("%d requests in two minutes", n)
		}
		down.Store(false)
		for _, d := range all {
			if s := d.now().State; s == turn.Retrying {
				d.until(turn.Idle)
			}
		}
		if s := late.until(turn.Idle); s.Error != "" {
			t.Errorf("%+v", s)
		}
	})
}

func TestAPersonNeedNotWaitForTheBreaker(t *testing.T) {
	inTime(t, func(t *testing.T) {
		var down atomic.Bool
		var requests atomic.Int64
		down.Store(true)
		all := desks(t, 7, &down, &requests)
		for i, d := range all[:6] {
			d.post(fmt.Sprint(i), "go")
		}
		time.Sleep(time.Second)
		d := all[6]
		d.post("1", "go")
		if s := d.settle(); s.State != turn.Retrying {
			t.Fatalf("%+v", s)
		}
		down.Store(false)
		d.must(d.Retry(context.Background()))
		time.Sleep(100 * time.Millisecond)
		if s := d.settle(); s.State != turn.Idle {
			t.Errorf("%+v", s)
		}
		for _, d := range all { // its answer shows the others that they can come
			d.until(turn.Idle)
		}
	})
}

func TestAnInterruptedProbeLetsTheNextOneGo(t *testing.T) {
	inTime(t, func(t *testing.T) {
		var down atomic.Bool
		var requests atomic.Int64
		down.Store(true)
		all := desks(t, 7, &down, &requests)
		for i, d := range all[:5] {
			d.post(fmt.Sprint(i), "go")
		}
		time.Sleep(500 * time.Millisecond)
		for _, d := range all[:5] {
			d.must(d.Interrupt(context.Background()))
		}
		probe, next := all[5], all[6]
		begun := make(chan struct{})
		probe.model.replies = nil
		probe.model.then(hangs("x", begun))
		probe.post("1", "go")
		probe.settle()
		<-begun
		down.Store(false)
		next.post("1", "go")
		if s := next.settle(); s.State != turn.Retrying {
			t.Fatalf("%+v", s)
		}
		probe.must(probe.Interrupt(context.Background()))
		time.Sleep(time.Second)
		if s := next.settle(); s.State != turn.Idle {
			t.Errorf("%+v", s)
		}
	})
}
