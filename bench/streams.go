package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"carrel/app"
	"carrel/app/wire"
)

const (
	streamCount = 6
	streamRate  = 200 // events a second and stream
	// An entry is complete after so many events; then the next begins, with an event of its own that
	// is never merged.
	entryEvents = 500

	shortStreams, longStreams = 20 * time.Second, 10 * time.Minute
	// What grows at first, such as the events that are kept for hosts that come back, is not held
	// against flatness.
	shortWarm, longWarm = 15 * time.Second, time.Minute
	streamDrain         = 10 * time.Second
	// memoryNoise is by how much memory may differ between the first and the last third.
	memoryNoise = 1.1
)

// measureStreams publishes numbered events to six conversations at once, as six agents that write
// would, and follows them with a Go client and, in a window, with a page.
func measureStreams(ctx context.Context, b *bench) (_ []line, err error) {
	run := &streams{warm: shortWarm, length: shortStreams}
	if b.long {
		run.warm, run.length = longWarm, longStreams
	}
	if run.server, run.closeServer, err = b.servePage(ctx, "streams", fmt.Sprintf("streams=%d", streamCount)); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, run.closeServer()) }()
	host, err := b.show(ctx, run.server)
	switch {
	case errors.Is(err, errSkipped):
	case err != nil:
		return nil, err
	default:
		defer func() { err = errors.Join(err, host.close()) }()
		run.host = host
		if err := run.server.report(ctx, pageWait, new(struct{})); err != nil {
			return nil, fmt.Errorf("%w; %s said: %s", err, host.name, host.said.String())
		}
	}
	client, err := run.dial(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	if err := run.stream(ctx); err != nil {
		return nil, err
	}
	return run.lines(ctx)
}

// streams is one run.
type streams struct {
	warm, length time.Duration
	server       *pageServer
	closeServer  func() error
	host         *shown // nil without a page

	mu   sync.Mutex // guards what follows
	seen follower
	sent [streamCount]int

	core, page []int64 // bytes, once a second after the warm-up
}

func (r *streams) dial(ctx context.Context) (*wire.Client, error) {
	var topics []string
	r.seen = follower{next: map[string]int{}, length: map[string]int{}}
	for i := range streamCount {
		topics = append(topics, "conversation/"+streamName(i))
	}
	return wire.Dial(ctx, wire.ClientOptions{
		Find: func(context.Context) (wire.Address, error) {
			return wire.Address{URL: r.server.url, Token: r.server.token}, nil
		},
		Role: wire.CLI, Version: "bench", Join: topics,
		Events: func(e wire.Event) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.seen.event(e)
		},
		Reset: func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.seen.Resets++
		},
	})
}

func streamName(i int) string { return fmt.Sprint("stream-", i) }

// stream publishes for the time of the run and looks at the memory.
func (r *streams) stream(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, r.warm+r.length)
	defer cancel()
	var all sync.WaitGroup
	for i := range streamCount {
		all.Go(func() { r.write(ctx, i) })
	}
	warmed := time.Now().Add(r.warm)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for ctx.Err() == nil {
		select {
		case <-tick.C:
			if time.Now().After(warmed) {
				r.weigh()
			}
		case <-ctx.Done():
		}
	}
	all.Wait()
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return nil
	}
	return ctx.Err()
}

// write publishes one stream at its rate, catching up after a pause of the machine.
func (r *streams) write(ctx context.Context, i int) {
	tick := time.NewTicker(time.Second / streamRate)
	defer tick.Stop()
	began, n, at := time.Now(), 0, 0
	name := streamName(i)
	for {
		for due := int(time.Since(began) * streamRate / time.Second); n < due; n++ {
			text, entry := fmt.Sprintf("%08d", n), fmt.Sprint("entry-", n/entryEvents)
			if n%entryEvents == 0 {
				at = 0
				r.server.wire.Publish(app.EntryChanged{Workspace: name, Rev: uint64(n), Entry: app.Entry{ID: entry, Text: text, Live: true}})
			} else {
				r.server.wire.Publish(app.EntryGrew{Workspace: name, Rev: uint64(n), Entry: entry, Field: "text", At: at, Text: text})
			}
			at += len(text)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			r.mu.Lock()
			r.sent[i] = n
			r.mu.Unlock()
			return
		}
	}
}

// weigh notes how much memory is used.
func (r *streams) weigh() {
	if n, ok := memoryOf(0); ok {
		r.core = append(r.core, n)
	}
	if r.host != nil {
		if n, ok := memoryOf(r.host.cmd.Process.Pid); ok {
			r.page = append(r.page, n)
		}
	}
}

// follower checks that what arrives is every number of each stream, in order.
type follower struct {
	next, length          map[string]int
	Tokens, Wrong, Resets int
}

func (f *follower) event(e wire.Event) {
	var d struct {
		Workspace, Text string
		At              int
		Entry           json.RawMessage
	}
	if err := json.Unmarshal(e.Data, &d); err != nil {
		f.Wrong++
		return
	}
	if e.Name == "entry.changed" {
		var entry app.Entry
		if err := json.Unmarshal(d.Entry, &entry); err != nil {
			f.Wrong++
		}
		d.Text, f.length[d.Workspace] = entry.Text, 0
	} else if d.At != f.length[d.Workspace] {
		f.Wrong++
	}
	f.length[d.Workspace] += len(d.Text)
	for token := range slices.Chunk([]byte(d.Text), 8) {
		if string(token) != fmt.Sprintf("%08d", f.next[d.Workspace]) {
			f.Wrong++
		}
		f.next[d.Workspace]++
		f.Tokens++
	}
}

// lines waits until everything has arrived, and judges.
func (r *streams) lines(ctx context.Context) ([]line, error) {
	total := 0
	for _, n := range r.sent {
		total += n
	}
	what := fmt.Sprintf("six streams of 200 events a second for %s", r.length+r.warm)
	var seen follower
	for deadline := time.Now().Add(streamDrain); time.Now().Before(deadline) && seen.Tokens < total; {
		time.Sleep(50 * time.Millisecond)
		r.mu.Lock()
		seen = r.seen
		r.mu.Unlock()
	}
	out := []line{lost(what+", to a Go client", total, seen)}
	if r.host != nil {
		var page follower
		for deadline := time.Now().Add(streamDrain); time.Now().Before(deadline) && page.Tokens < total; {
			if err := r.server.report(ctx, streamDrain, &page); err != nil {
				return out, err
			}
		}
		out = append(out, lost("the same, to the page in "+r.host.name, total, page))
	}
	out = append(out, flat("memory of the core, last third beside the first", r.core)...)
	return append(out, flat("memory of all processes of the window", r.page)...), nil
}

func lost(work string, sent int, f follower) line {
	return line{work: work, value: float64(sent - f.Tokens + f.Wrong + f.Resets), limit: 0, unit: "lost",
		ours: fmt.Sprint(f.Tokens), baseline: fmt.Sprint(sent)}
}

// flat compares the medians of the last and the first third; nothing without measures.
func flat(work string, bytes []int64) []line {
	third := len(bytes) / 3
	if third == 0 {
		return nil
	}
	middle := func(all []int64) float64 { return float64(slices.Sorted(slices.Values(all))[len(all)/2]) }
	first, last := middle(bytes[:third]), middle(bytes[len(bytes)-third:])
	const mib = 1 << 20
	return []line{{work: work, unit: "x", value: last / first, limit: memoryNoise,
		ours: fmt.Sprintf("%.1f MiB", last/mib), baseline: fmt.Sprintf("%.1f MiB", first/mib)}}
}
