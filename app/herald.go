package app

import (
	"context"
	"sync"
	"time"
)

// herald tells hosts what workspaces look like now, on a goroutine of its own: a conversation's owner
// never waits for the registry, and changes that come faster than they are told become one.
type herald struct {
	wake chan struct{} // has an element when there is something to tell
	quit chan struct{}
	done chan struct{}

	mu    sync.Mutex
	news  map[string]*news
	order []string
}

// news is what there is to tell of one workspace.
type news struct {
	row    bool      // its row may be different: watch its place accordingly
	active time.Time // when something happened in it; zero: nothing to note
}

func newHerald(tell func(id string, n news)) *herald {
	h := &herald{wake: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{}), news: map[string]*news{}}
	go h.run(tell)
	return h
}

func (h *herald) run(tell func(string, news)) {
	defer close(h.done)
	for last := false; !last; {
		select {
		case <-h.wake:
		case <-h.quit:
			last = true
		}
		for id, n, ok := h.take(); ok; id, n, ok = h.take() {
			tell(id, n)
		}
	}
}

func (h *herald) take() (string, news, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.order) == 0 {
		return "", news{}, false
	}
	id := h.order[0]
	h.order = h.order[1:]
	n := *h.news[id]
	delete(h.news, id)
	return id, n, true
}

// add notes news. It never waits.
func (h *herald) add(id string, n news) {
	h.mu.Lock()
	defer h.mu.Unlock()
	known := h.news[id]
	if known == nil {
		known = &news{}
		h.news[id] = known
		h.order = append(h.order, id)
	}
	known.row = known.row || n.row
	if n.active.After(known.active) {
		known.active = n.active
	}
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// close tells what is left and ends the goroutine.
func (h *herald) close() {
	close(h.quit)
	<-h.done
}

// proclaim tells hosts of one workspace. It runs on the herald's goroutine.
func (a *App) proclaim(id string, n news) {
	ctx := context.Background()
	if !n.active.IsZero() {
		if err := a.registry.Touch(ctx, id, n.active); err != nil {
			a.logger.Warn("note a workspace's activity", "workspace", id, "err", err)
		}
	}
	rev := a.rev.Add(1)
	w, err := a.registry.Workspace(ctx, id)
	if err != nil {
		return // deleted meanwhile, which hosts are told by its own event
	}
	if n.row {
		a.watch(ctx, w)
	}
	a.publish(WorkspaceChanged{Workspace: a.workspaceView(rev, w, a.defaultModel)})
}

// workspaceChanged tells hosts, soon, what a workspace looks like now.
func (a *App) workspaceChanged(id string) { a.herald.add(id, news{}) }
