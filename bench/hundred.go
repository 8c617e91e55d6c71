package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"carrel/app"
)

const (
	manyTalks   = 100
	deltaRate   = 50 // a second in each conversation
	hundredSpan = 8 * time.Second
	hundredWarm = 3 * time.Second
	// hundredDelay is how many times the delay of one stream that of a hundred may be, and hundredMemory
	// how many MiB a conversation that streams may take.
	hundredDelay, hundredMemory = 3, 8
)

// measureHundred lets conversations stream, with two processors, and looks at how long a delta takes from
// the provider to a host, and at the memory.
func measureHundred(ctx context.Context, b *bench) (_ []line, err error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	url, end, err := startServer("time")
	if err != nil {
		return nil, err
	}
	defer end()
	folder := b.path("hundred-folder")
	if err := os.Mkdir(folder, 0o700); err != nil {
		return nil, err
	}
	p, err := b.open(ctx, "hundred", true)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	key := "bench"
	if err := p.api.Settings.SetProvider(ctx, app.SetProvider{ID: "anthropic", APIKey: &key, BaseURL: &url}); err != nil {
		return nil, err
	}
	project, err := p.api.Projects.Add(ctx, app.AddProject{Path: folder})
	if err != nil {
		return nil, err
	}
	var ids []string
	for range manyTalks {
		w, err := p.api.Workspaces.Create(ctx, app.NewWorkspace{ProjectID: project.ID, Model: runModel})
		if err != nil {
			return nil, err
		}
		ids = append(ids, w.ID)
	}
	d := &delays{}
	p.Subscribe(d.hear)
	one, _, err := p.streaming(ctx, ids[:1], d)
	if err != nil {
		return nil, err
	}
	many, memory, err := p.streaming(ctx, ids, d)
	if err != nil {
		return nil, err
	}
	p99 := func(all []time.Duration) time.Duration { return slices.Sorted(slices.Values(all))[len(all)*99/100] }
	rate := float64(len(many)) / manyTalks / hundredSpan.Seconds()
	const mib = 1 << 20
	return []line{
		{work: "100 conversations of 50 deltas a second, p99 delay; one", unit: "x", limit: hundredDelay, ours: show(p99(many)), baseline: show(p99(one)),
			value: over(p99(many), p99(one)), best: over(median(many), median(one)), note: fmt.Sprintf("%.1f deltas a second arrived of each", rate)},
		{work: "memory of each of them", unit: "MiB", value: float64(memory) / manyTalks / mib, limit: hundredMemory},
	}, nil
}

// streaming lets conversations stream at once, and gives the delays of their deltas and by how much the
// memory grew.
func (p *place) streaming(ctx context.Context, ids []string, d *delays) ([]time.Duration, int64, error) {
	runtime.GC()
	before, _ := memoryOf(0)
	for _, id := range ids {
		if err := p.api.Conversations.Send(ctx, app.SendMessage{Workspace: id, Text: "Stream."}); err != nil {
			return nil, 0, err
		}
	}
	if err := p.forgetting(ctx, hundredWarm); err != nil {
		return nil, 0, err
	}
	d.take()
	if err := p.forgetting(ctx, hundredSpan); err != nil {
		return nil, 0, err
	}
	found := d.take()
	after, _ := memoryOf(0)
	for _, id := range ids {
		if err := p.api.Conversations.Interrupt(ctx, app.ByID{ID: id}); err != nil {
			return nil, 0, err
		}
	}
	if len(found) == 0 {
		return nil, 0, errors.New("no delta arrived")
	}
	return found, max(0, after-before), nil
}

// forgetting waits, without keeping the events.
func (p *place) forgetting(ctx context.Context, d time.Duration) error {
	for end := time.Now().Add(d); time.Now().Before(end); p.forget() {
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// delays reads the time out of each delta.
type delays struct {
	mu  sync.Mutex
	all []time.Duration
}

func (d *delays) take() []time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := d.all
	d.all = nil
	return out
}

func (d *delays) hear(e app.Event) {
	g, ok := e.(app.EntryGrew)
	if !ok {
		return
	}
	now := time.Now().UnixNano()
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, delta := range strings.Split(g.Text, "\n") {
		stamp, _, _ := strings.Cut(delta, " ")
		if ns, err := strconv.ParseInt(stamp, 10, 64); err == nil {
			d.all = append(d.all, time.Duration(now-ns))
		}
	}
}

// streamTime streams the time, in Anthropic's format, until the client leaves.
func streamTime(w http.ResponseWriter, r *http.Request) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, "data: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"role\":\"assistant\",\"content\":[],\"usage\":{\"input_tokens\":10}}}\n\n"+
		"data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n")
	control := http.NewResponseController(w)
	tick := time.NewTicker(time.Second / deltaRate)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-r.Context().Done():
			return
		}
		_, err := fmt.Fprintf(w, "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"%d and some words of an answer\\n\"}}\n\n", time.Now().UnixNano())
		if err != nil || control.Flush() != nil {
			return
		}
	}
}
