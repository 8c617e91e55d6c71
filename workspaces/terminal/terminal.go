package terminal

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"carrel/workspaces/runtime"
	"carrel/workspaces/terminal/screen"
)

// The limits of one terminal.
const (
	MaxScrollback = 1 << 20     // bytes of lines that left the screen
	MaxLines      = 5000        // of them
	maxBacklog    = 64 << 10    // bytes that wait for one view
	maxSnapshot   = 256 << 10   // bytes of scrollback in a snapshot
	maxInput      = 256 << 10   // typed bytes that wait for the program
	maxChunk      = 32<<10 - 64 // bytes of one record, which with its head is one frame
	minCols       = 10          // a smaller view is one that is not laid out yet
	minRows       = 2
	stallAfter    = 5 * time.Second        // the view that leads may take nothing
	noticeAfter   = 100 * time.Millisecond // changes are told together
	coalesce      = 8 * time.Millisecond   // between records of one view, unless they are full
)

// Options say how a terminal starts.
type Options struct {
	Command runtime.TerminalCommand
	// Changed hears that State has changed, from a goroutine of the terminal's, some time after. It must
	// not call Close.
	Changed func()
}

// State is what a list of terminals shows of one.
type State struct {
	Title      string // as the program says it
	Dir        string // where the shell is, "" when not known
	Busy       bool   // a command runs in it
	Bells      int    // since the start
	Cols, Rows int
	Views      int
	// LastCode is the exit code of the last command, where the shell tells; -1 when not known.
	LastCode int
	// Exit is how the program ended, nil while it runs.
	Exit *runtime.Exit
}

// Terminal is one program with its screen and views. One goroutine reads, one writes.
type Terminal struct {
	place   runtime.Terminal
	changed func()

	mu       sync.Mutex
	moved    *sync.Cond // something that somebody waits for happened
	screen   *screen.Screen
	views    []*View // the one that leads comes last
	input    []byte
	state    State
	told     State  // as Changed was told last
	said     string // the directory that the shell told
	closed   bool
	noticing bool

	ended   chan struct{} // the program has ended, and its output was taken
	running sync.WaitGroup
}

// Start starts a program on a terminal of the runtime. ctx is for the start only.
func Start(ctx context.Context, place runtime.Runtime, o Options) (*Terminal, error) {
	able, ok := place.(runtime.Terminals)
	if !ok {
		return nil, fmt.Errorf("open a terminal in %q: the runtime %s has none", place.Dir(), place.Kind())
	}
	c := o.Command
	if c.Cols < minCols || c.Rows < minRows {
		c.Cols, c.Rows = 80, 24
	}
	c.Cols, c.Rows = min(c.Cols, screen.MaxCols), min(c.Rows, screen.MaxRows)
	p, err := able.StartTerminal(ctx, c)
	if err != nil {
		return nil, err
	}
	t := &Terminal{place: p, changed: o.Changed, ended: make(chan struct{}),
		screen: screen.New(c.Cols, c.Rows, MaxLines, MaxScrollback), state: State{Cols: c.Cols, Rows: c.Rows, LastCode: -1}}
	t.moved = sync.NewCond(&t.mu)
	t.running.Go(t.read)
	t.running.Go(t.write)
	return t, nil
}

// read takes what the program writes until it has ended.
func (t *Terminal) read() {
	defer close(t.ended)
	buf := make([]byte, maxChunk)
	for {
		n, err := t.place.Read(buf)
		if n > 0 {
			t.take(buf[:n])
		}
		if err != nil {
			break
		}
	}
	exit, err := t.place.Wait()
	if err != nil && exit.Code == 0 {
		exit.Code = -1
	}
	t.mu.Lock()
	t.state.Exit = &exit
	t.state.Busy = false
	for _, v := range t.views {
		v.push(Record{Kind: End, Exit: &exit})
	}
	t.moved.Broadcast()
	t.noticeSoon()
	t.mu.Unlock()
}

// take shows output on the screen and to the views, after waiting for the one that leads.
func (t *Terminal) take(data []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.mustWait() {
		t.moved.Wait()
	}
	_, _ = t.screen.Write(data)
	for _, v := range t.views {
		v.output(data)
	}
	t.note(t.screen.Notes())
	t.noticeSoon()
	t.moved.Broadcast()
}

// mustWait reports whether the view that leads has enough to take.
func (t *Terminal) mustWait() bool {
	v := t.leader()
	if t.closed || v == nil || v.lost || v.waiting < maxBacklog {
		return false
	}
	left := stallAfter - time.Since(v.took)
	if left <= 0 {
		v.lose()
		return false
	}
	if !v.watched {
		v.watched = true
		time.AfterFunc(left, func() {
			t.mu.Lock()
			defer t.mu.Unlock()
			v.watched = false
			t.moved.Broadcast()
		})
	}
	return true
}

func (t *Terminal) leader() *View {
	if len(t.views) == 0 {
		return nil
	}
	return t.views[len(t.views)-1]
}

// note keeps what the program said beside its text.
func (t *Terminal) note(n screen.Notes) {
	if n.Titled {
		t.state.Title = n.Title
	}
	if n.Dir != "" {
		t.said = n.Dir
	}
	t.state.Bells += n.Bells
	for _, m := range n.Marks {
		if m.Kind == screen.RunEnd {
			t.state.LastCode = m.Code
		}
	}
	if len(n.Reply) > 0 && len(t.input)+len(n.Reply) <= maxInput {
		t.input = append(t.input, n.Reply...)
	}
}

// noticeSoon looks at the program from outside after a while, and says when something changed.
func (t *Terminal) noticeSoon() {
	if t.noticing || t.closed {
		return
	}
	t.noticing = true
	time.AfterFunc(noticeAfter, func() {
		look := t.place.Look()
		t.mu.Lock()
		t.noticing = false
		t.see(look)
		now := t.state
		tell := !t.closed && t.changed != nil && now != t.told
		t.told = now
		t.mu.Unlock()
		if tell {
			t.changed()
		}
	})
}

func (t *Terminal) see(look runtime.TerminalLook) {
	if t.state.Exit != nil {
		return
	}
	t.state.Busy = look.Busy
	if look.Dir != "" {
		t.state.Dir = look.Dir
	} else if t.said != "" {
		t.state.Dir = t.said
	}
}

// write types what waits, until the terminal is closed or the program has ended.
func (t *Terminal) write() {
	for {
		t.mu.Lock()
		for len(t.input) == 0 && !t.closed && t.state.Exit == nil {
			t.moved.Wait()
		}
		if t.closed || t.state.Exit != nil {
			t.mu.Unlock()
			return
		}
		part := t.input[:min(len(t.input), 4<<10)] // what a terminal takes at once
		part = append([]byte(nil), part...)
		t.mu.Unlock()
		if _, err := t.place.Write(part); err != nil {
			part = nil
		}
		t.mu.Lock()
		if part == nil { // nobody reads any more
			t.input = nil
		} else {
			t.input = t.input[len(part):]
		}
		t.moved.Broadcast()
		t.mu.Unlock()
	}
}

// ErrEnded is the error of typing into a terminal whose program has ended.
var ErrEnded = errors.New("the program on the terminal has ended")

// Type hands data to the program. It waits while more than 256 KiB wait for it.
func (t *Terminal) Type(ctx context.Context, data []byte) error {
	stop := context.AfterFunc(ctx, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.moved.Broadcast()
	})
	defer stop()
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(data) > 0 {
		switch {
		case t.closed || t.state.Exit != nil:
			return ErrEnded
		case ctx.Err() != nil:
			return ctx.Err()
		case len(t.input) >= maxInput:
			t.moved.Wait()
			continue
		}
		n := min(len(data), maxInput-len(t.input))
		t.input = append(t.input, data[:n]...)
		data = data[n:]
		t.moved.Broadcast()
	}
	return nil
}

// State returns what the terminal is like now.
func (t *Terminal) State() State {
	look := t.place.Look()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.see(look)
	s := t.state
	s.Views = len(t.views)
	return s
}

// Bracketed reports whether the program wants pasted text between marks, so that it does not act on it.
func (t *Terminal) Bracketed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.screen.Bracketed()
}

// Await returns when ok of the state and of whether pasted text is wanted between marks is true, when the
// program has ended or ctx has.
func (t *Terminal) Await(ctx context.Context, ok func(bracketed bool, output bool) bool) {
	stop := context.AfterFunc(ctx, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.moved.Broadcast()
	})
	defer stop()
	t.mu.Lock()
	defer t.mu.Unlock()
	for ctx.Err() == nil && !t.closed && t.state.Exit == nil && !ok(t.screen.Bracketed(), t.screen.Used()) {
		t.moved.Wait()
	}
}

// CleanName makes a name for a terminal fit to be shown, as titles are.
func CleanName(name string) string { return screen.CleanTitle(name) }

// Ended is closed when the program has ended and what it wrote was taken.
func (t *Terminal) Ended() <-chan struct{} { return t.ended }

// Close ends the program and everything that it started, and the views. It returns when nothing is left, or
// after ctx.
func (t *Terminal) Close(ctx context.Context) error {
	t.mu.Lock()
	t.closed = true
	for _, v := range t.views {
		v.gone = true
	}
	t.views = nil
	t.moved.Broadcast()
	t.mu.Unlock()
	if err := t.place.Close(ctx); err != nil {
		return err
	}
	t.running.Wait()
	return nil
}
