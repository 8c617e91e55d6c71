package turn_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"carrel/agent/model"
	"carrel/agent/tool"
	"carrel/agent/turn"
)

// BenchmarkStreams is the delay of events, from the streamer to the host, and the memory of
// conversations that stream 50 deltas a second each.
func BenchmarkStreams(b *testing.B) {
	for _, n := range []int{1, 100} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var mu sync.Mutex
			var delays []time.Duration
			base := time.Now()
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			var all []*desk
			for range n {
				d := &desk{t: b, dir: b.TempDir(), grew: make(chan struct{})}
				d.cfg = turn.Config{Workspace: "w", Queue: &memory{}, Choice: turn.Choice{Model: "fake:one"},
					Env: func(context.Context) (tool.Env, error) { return tool.Env{}, nil },
					Events: func(e turn.Event) {
						if e.Stream == nil {
							return
						}
						at, _, _ := strings.Cut(e.Stream.Event.Delta, " ")
						ns, err := strconv.ParseInt(at, 10, 64)
						if err != nil {
							b.Error(err)
						}
						mu.Lock()
						defer mu.Unlock()
						delays = append(delays, time.Since(base)-time.Duration(ns))
					},
					Resolve: func(context.Context, turn.Choice) (turn.Endpoint, error) {
						return turn.Endpoint{ID: "fake:one", Streamer: ticker{base}}, nil
					}}
				d.start()
				d.post("", "go")
				all = append(all, d)
			}
			time.Sleep(5 * time.Second)
			runtime.GC()
			runtime.ReadMemStats(&after)
			for _, d := range all {
				d.stop()
			}
			slices.Sort(delays)
			b.ReportMetric(float64(delays[len(delays)*99/100].Microseconds()), "p99-us")
			b.ReportMetric(float64(int64(after.HeapInuse)-int64(before.HeapInuse))/float64(n)/1e6, "MB-each")
			b.ReportMetric(float64(len(delays))/float64(n)/5, "deltas-per-s")
		})
	}
}

// ticker streams the time since base, 50 times a second.
type ticker struct{ base time.Time }

func (s ticker) Stream(ctx context.Context, _ *model.Request, emit func(model.Event)) (*model.Message, error) {
	m := &model.Message{Role: model.Assistant, Parts: []model.Part{{Kind: model.Text}}}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	var text strings.Builder
	for {
		select {
		case <-ctx.Done():
			return m, &model.Error{Kind: model.ErrCancelled, Message: "cancelled"}
		case <-tick.C:
		}
		word := fmt.Sprint(time.Since(s.base).Nanoseconds(), " and some more text of a response that grows ")
		text.WriteString(word)
		m.Parts[0].Text = text.String()
		emit(model.Event{Type: model.PartDelta, Kind: model.Text, Delta: word, Message: m})
	}
}
