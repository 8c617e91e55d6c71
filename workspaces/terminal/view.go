package terminal

import (
	"context"
	"io"
	"time"

	"carrel/workspaces/runtime"
	"carrel/workspaces/terminal/screen"
)

// Kind says what a record is.
type Kind byte

// The kinds of records, as they go over the wire.
const (
	Output   Kind = 0 // what the program wrote
	Snapshot Kind = 1 // reset, take the size, and show this
	Size     Kind = 2 // from here on the size is another one
	End      Kind = 3 // the program has ended
)

// Record is a piece of what a view is sent.
type Record struct {
	Kind       Kind
	Data       []byte
	Cols, Rows int
	Exit       *runtime.Exit
}

// View is one host's sight of a terminal. One goroutine calls Next; the rest may be called by others.
type View struct {
	t          *Terminal
	cols, rows int // as it wants to be, 0 when it did not say
	colours    [3]string

	waits   []Record
	waiting int  // bytes of waits
	lost    bool // what waited was dropped: the next record is a snapshot
	gone    bool
	watched bool      // a timer looks whether it stalls
	took    time.Time // when it took something last
	sent    time.Time // when it got output last
}

// Attach adds a view of a size in columns and rows, which leads; 0 leaves the size as it is.
func (t *Terminal) Attach(cols, rows int) *View {
	t.mu.Lock()
	defer t.mu.Unlock()
	v := &View{t: t, lost: true, took: time.Now()}
	if t.closed {
		v.gone = true
		return v
	}
	t.views = append(t.views, v)
	v.want(cols, rows)
	t.moved.Broadcast()
	return v
}

// want notes the view's size and gives it to all when it leads.
func (v *View) want(cols, rows int) {
	if cols >= minCols && rows >= minRows {
		v.cols, v.rows = min(cols, screen.MaxCols), min(rows, screen.MaxRows)
	}
	if v.t.leader() == v {
		v.t.follow()
	}
}

// follow takes size and colours of the view that leads.
func (t *Terminal) follow() {
	v := t.leader()
	if v == nil {
		return
	}
	t.screen.SetColours(v.colours[0], v.colours[1], v.colours[2])
	cols, rows := t.screen.Size()
	if v.cols == 0 || v.cols == cols && v.rows == rows || t.state.Exit != nil {
		return
	}
	t.screen.Resize(v.cols, v.rows)
	t.state.Cols, t.state.Rows = v.cols, v.rows
	_ = t.place.Resize(v.cols, v.rows) // it fails only when the program ends
	for _, other := range t.views {
		other.push(Record{Kind: Size, Cols: v.cols, Rows: v.rows})
	}
	t.moved.Broadcast()
}

// lead makes the view the one that leads.
func (v *View) lead() {
	t := v.t
	if t.leader() == v || v.gone {
		return
	}
	for i, other := range t.views {
		if other == v {
			t.views = append(append(t.views[:i], t.views[i+1:]...), v)
			break
		}
	}
	v.took = time.Now()
	t.follow()
	t.moved.Broadcast()
}

// Resize says how large the view is. Sizes below 10 columns or 2 rows are those of hidden views, and ignored.
func (v *View) Resize(cols, rows int) {
	v.t.mu.Lock()
	defer v.t.mu.Unlock()
	v.want(cols, rows)
}

// Lead says that a person turned to this view.
func (v *View) Lead() {
	v.t.mu.Lock()
	defer v.t.mu.Unlock()
	v.lead()
}

// SetColours says which colours the view shows text, background and cursor in, each as rgb:hh/hh/hh, so that
// programs that ask are answered.
func (v *View) SetColours(fg, bg, cursor string) {
	v.t.mu.Lock()
	defer v.t.mu.Unlock()
	v.colours = [3]string{fg, bg, cursor}
	if v.t.leader() == v {
		v.t.follow()
	}
}

// Type hands what was typed in this view to the program, see Terminal.Type. The view leads from then on.
func (v *View) Type(ctx context.Context, data []byte) error {
	v.Lead()
	return v.t.Type(ctx, data)
}

// Close takes the view away.
func (v *View) Close() {
	t := v.t
	t.mu.Lock()
	defer t.mu.Unlock()
	v.gone = true
	for i, other := range t.views {
		if other == v {
			t.views = append(t.views[:i], t.views[i+1:]...)
			break
		}
	}
	t.follow()
	t.moved.Broadcast()
}

// lose drops what waits.
func (v *View) lose() { v.waits, v.waiting, v.lost = nil, 0, true }

// push adds a record, unless a snapshot will say it.
func (v *View) push(r Record) {
	if !v.lost || r.Kind == End {
		v.waits = append(v.waits, r)
	}
}

// output adds what the program wrote. A view that does not lead loses what is too much.
func (v *View) output(data []byte) {
	if v.lost {
		return
	}
	if v.waiting >= maxBacklog && v.t.leader() != v {
		v.lose()
		return
	}
	v.waiting += len(data)
	if n := len(v.waits); n > 0 && v.waits[n-1].Kind == Output && len(v.waits[n-1].Data)+len(data) <= maxChunk {
		v.waits[n-1].Data = append(v.waits[n-1].Data, data...)
		return
	}
	v.waits = append(v.waits, Record{Kind: Output, Data: append(make([]byte, 0, 4<<10), data...)})
}

// Next waits for the next record. It returns io.EOF when the view or the terminal was closed, and after
// End, and ctx's error when that ends.
func (v *View) Next(ctx context.Context) (Record, error) {
	t := v.t
	stop := context.AfterFunc(ctx, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.moved.Broadcast()
	})
	defer stop()
	t.mu.Lock()
	defer t.mu.Unlock()
	for !v.gone && !v.lost && len(v.waits) == 0 && ctx.Err() == nil {
		v.took = time.Now() // it has nothing to take
		t.moved.Wait()
	}
	v.gather(ctx)
	switch {
	case v.gone:
		return Record{}, io.EOF
	case ctx.Err() != nil:
		return Record{}, ctx.Err()
	}
	v.took = time.Now()
	t.moved.Broadcast()
	if v.lost {
		return v.snapshot(), nil
	}
	r := v.waits[0]
	v.waits = v.waits[1:]
	if len(v.waits) == 0 {
		v.waits = nil
	}
	v.waiting -= len(r.Data)
	v.sent = v.took
	if r.Kind == End {
		v.gone = true
	}
	return r, nil
}

// gather waits until a whole record is there, or a little time has passed since the one before: then a page
// draws many small pieces at once, and the first one without delay.
func (v *View) gather(ctx context.Context) {
	left := coalesce - time.Since(v.sent)
	if v.waiting >= maxChunk || v.waiting == 0 || left <= 0 {
		return
	}
	over := false
	timer := time.AfterFunc(left, func() {
		v.t.mu.Lock()
		defer v.t.mu.Unlock()
		over = true
		v.t.moved.Broadcast()
	})
	defer timer.Stop()
	for !over && !v.gone && !v.lost && v.waiting < maxChunk && len(v.waits) > 0 && ctx.Err() == nil {
		v.t.moved.Wait()
	}
}

// snapshot is the screen as it is now. What else waits, and is not the end, is in it.
func (v *View) snapshot() Record {
	v.lost = false
	v.waits, v.waiting = nil, 0
	if exit := v.t.state.Exit; exit != nil {
		v.waits = append(v.waits, Record{Kind: End, Exit: exit})
	}
	cols, rows := v.t.screen.Size()
	return Record{Kind: Snapshot, Data: v.t.screen.Snapshot(maxSnapshot), Cols: cols, Rows: rows}
}
