package wire

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"carrel/app"
)

// texts rebuilds the growing texts from events, as a page does.
type texts struct {
	t    *testing.T
	mu   sync.Mutex
	seq  uint64
	text map[string]string
	gaps int
	seen chan struct{}
}

func newTexts(t *testing.T) *texts {
	return &texts{t: t, text: map[string]string{}, seen: make(chan struct{}, 1)}
}

func (x *texts) apply(e Event) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if e.Seq <= x.seq {
		x.t.Errorf("event %d after %d", e.Seq, x.seq)
	}
	x.seq = e.Seq
	if e.Name == "entry.grew" {
		var g app.EntryGrew
		if err := json.Unmarshal(e.Data, &g); err != nil {
			x.t.Error(err)
		}
		if g.At != len(x.text[g.Workspace]) { // the tests grow ASCII
			x.gaps++
		}
		x.text[g.Workspace] = x.text[g.Workspace][:min(g.At, len(x.text[g.Workspace]))] + g.Text
	}
	select {
	case x.seen <- struct{}{}:
	default:
	}
}

// waitFor waits until the texts satisfy ok.
func (x *texts) waitFor(ok func(map[string]string) bool) {
	x.t.Helper()
	deadline := time.After(60 * time.Second)
	for {
		x.mu.Lock()
		done := ok(x.text)
		x.mu.Unlock()
		if done {
			return
		}
		select {
		case <-x.seen:
		case <-deadline:
			x.t.Fatal("the events did not come")
		}
	}
}

// grower publishes the growth of one text.
type grower struct {
	core *core
	name string
	at   int
	rev  uint64
}

func (g *grower) grow(text string) {
	g.rev++
	g.core.Publish(app.EntryGrew{Workspace: g.name, Rev: g.rev, Entry: "e", Field: "text", At: g.at, Text: text})
	g.at += len(text)
}

func TestSixStreamsArriveWholeAndInOrder(t *testing.T) { // none lost or reordered, 6 x 200 per second
	c := startCore(t)
	x := newTexts(t)
	var topics []string
	want := map[string]*strings.Builder{}
	for i := range 6 {
		topics = append(topics, fmt.Sprintf("conversation/w%d", i))
		want[fmt.Sprintf("w%d", i)] = &strings.Builder{}
	}
	client := c.dial(t, ClientOptions{Events: x.apply, Join: topics})
	var all sync.WaitGroup
	for name, text := range want {
		all.Go(func() {
			g := grower{core: c, name: name}
			pace := time.NewTicker(time.Second / 200)
			defer pace.Stop()
			for i := range 200 {
				piece := fmt.Sprintf("%s:%d;%s", name, i, strings.Repeat("x", 48))
				text.WriteString(piece)
				g.grow(piece)
				<-pace.C
			}
		})
	}
	all.Wait()
	x.waitFor(func(got map[string]string) bool {
		for name, text := range want {
			if got[name] != text.String() {
				return false
			}
		}
		return true
	})
	if x.gaps > 0 {
		t.Errorf("%d gaps", x.gaps)
	}
	_ = client.Close()
}

func TestEventsOfATopicReachOnlyThoseWhoJoined(t *testing.T) {
	c := startCore(t)
	names := make(chan string, 10)
	client := c.dial(t, ClientOptions{Events: func(e Event) { names <- e.Name + string(e.Data) }})
	call := func() { // a reply says that the join before it has been read
		if err := client.Call(t.Context(), "projects.list", nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	c.Publish(app.EntriesRemoved{Workspace: "a"})
	client.Join("conversation/a")
	call()
	c.Publish(app.EntriesRemoved{Workspace: "b"})
	c.Publish(app.EntriesRemoved{Workspace: "a", IDs: []string{"1"}})
	client.Leave("conversation/a")
	call()
	c.Publish(app.EntriesRemoved{Workspace: "a", IDs: []string{"2"}})
	c.Publish(app.ProjectRemoved{ID: "p"})
	for _, want := range []string{`entry.removed{"workspace":"a","rev":0,"ids":["1"]}`, `project.removed{"id":"p"}`} {
		if got := receive(t, names); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// breaker is a proxy whose connections the test breaks.
type breaker struct {
	mu    sync.Mutex
	conns []net.Conn
}

// keep remembers a connection to cut.
func (b *breaker) keep(conn net.Conn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.conns = append(b.conns, conn)
}

func (b *breaker) cut() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.conns {
		_ = c.Close()
	}
	b.conns = nil
}

// listenThrough starts another HTTP server for the same core, whose connections b can cut.
func listenThrough(t *testing.T, c *core, b *breaker) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: c.Server, ReadHeaderTimeout: time.Second, ConnState: func(conn net.Conn, s http.ConnState) {
		if s == http.StateHijacked {
			b.keep(conn)
		}
	}}
	go func() { _ = srv.Serve(l) }()
	t.Cleanup(func() { _ = srv.Close() })
	return "http://" + l.Addr().String()
}

func TestAHostThatComesBackMissesNothing(t *testing.T) {
	c := startCore(t)
	b := &breaker{}
	url := listenThrough(t, c, b)
	x := newTexts(t)
	reset, state := make(chan struct{}, 10), make(chan bool, 10)
	c.dial(t, ClientOptions{
		Find:   func(context.Context) (Address, error) { return Address{url, testToken}, nil },
		Events: x.apply, Join: []string{"conversation/w"},
		Reset: func() { reset <- struct{}{} }, State: func(on bool) { state <- on },
	})
	receive(t, state)
	g := grower{core: c, name: "w"}
	want := ""
	for round := range 5 {
		for i := range 50 {
			piece := fmt.Sprintf("%d.%d ", round, i)
			want += piece
			g.grow(piece)
			if i == 25 {
				b.cut()
			}
			if i%10 == 0 { // others in between, so that not everything is merged
				c.Publish(app.ProjectRemoved{ID: "p"})
			}
		}
		if receive(t, state) || !receive(t, state) {
			t.Fatal("it did not leave and come back")
		}
	}
	x.waitFor(func(got map[string]string) bool { return got["w"] == want })
	if x.gaps > 0 || len(reset) > 0 {
		t.Errorf("%d gaps, %d resets", x.gaps, len(reset))
	}
}

func TestAHostThatComesBackTooLateOrToAnotherCoreTakesSnapshots(t *testing.T) {
	first, second := startCore(t), startCore(t)
	at := first
	var mu sync.Mutex
	reset := make(chan struct{}, 10)
	client := first.dial(t, ClientOptions{
		Find:  func(ctx context.Context) (Address, error) { mu.Lock(); defer mu.Unlock(); return at.find(ctx) },
		Reset: func() { reset <- struct{}{} },
	})
	mu.Lock()
	at = second
	mu.Unlock()
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	_ = first.Close(ctx)
	receive(t, reset)
	if client.Core() != second.Core() {
		t.Error("not attached to the second core")
	}

	for range maxHistory + 1 {
		second.Publish(app.SettingsChanged{})
	}
	q := newQueue(maxQueue)
	if w := second.hub.attach(q, &hello{Core: second.Core(), Since: 0}); w.Resumed {
		t.Error("resumed over a hole")
	}
	if w := second.hub.attach(q, &hello{Core: second.Core(), Since: w0(second) - maxHistory}); !w.Resumed {
		t.Error("not resumed although everything is kept")
	}
	if w := second.hub.attach(q, &hello{Core: second.Core(), Since: w0(second) + 1}); w.Resumed {
		t.Error("resumed from the future")
	}
}

func w0(c *core) uint64 { return c.hub.seq }

func TestAHostThatTakesNothingIsLetGo(t *testing.T) {
	hosts := make(chan int, 8)
	c := startCore(t, func(_ *core, o *Options) { o.Hosts = func(n int) { hosts <- n } })
	c.waits.ping = 300 * time.Millisecond // long enough for a busy machine's hello
	stuck := c.raw(t)
	stuck.hello() // and reads nothing from now on, so that a write waits
	note := app.ProblemAppeared{Problem: app.Problem{Message: strings.Repeat("x", 32<<10)}}
	for range 256 {
		c.Publish(note)
	}
	for n := range hosts {
		if n == 0 {
			return
		}
	}
}

func TestASlowHostIsResetAndHoldsUpNobody(t *testing.T) { // slow host
	c := startCore(t)
	slow := c.raw(t)
	slow.hello() // and reads nothing from now on
	x := newTexts(t)
	quick := c.dial(t, ClientOptions{Events: x.apply, Join: []string{"conversation/w"}})

	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	note := app.ProblemAppeared{Problem: app.Problem{Message: strings.Repeat("x", 32<<10)}}
	began := time.Now()
	for range 1024 { // 32 MiB, beyond what the kernel's buffers take
		c.Publish(note)
	}
	if d := time.Since(began); d > 20*time.Second { // a write would wait for 30
		t.Errorf("publishing waited: %v", d)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grew := int64(after.HeapAlloc) - int64(before.HeapAlloc); grew > 25<<20 {
		t.Errorf("the core grew by %d MiB", grew>>20)
	}
	(&grower{core: c, name: "w"}).grow("end")
	x.waitFor(func(got map[string]string) bool { return got["w"] == "end" })
	_ = quick.Close()

	var last uint64
	for reset := false; !reset || last < w0(c)-1; { // the last event is of a topic it has not joined
		f := slow.hear()
		if f.Seq < last {
			t.Fatalf("number %d after %d", f.Seq, last)
		}
		last, reset = f.Seq, reset || f.Reset
	}
}

func TestAStuckHostIsLetGo(t *testing.T) {
	c := startCore(t)
	c.waits.ping = 300 * time.Millisecond // long enough for a busy machine's hello
	h := c.raw(t)
	h.hello() // reads nothing more, so it answers no ping
	deadline := time.Now().Add(60 * time.Second)
	for {
		c.mu.Lock()
		n := len(c.hosts)
		c.mu.Unlock()
		if n == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("still attached")
		}
		runtime.Gosched()
	}
}
