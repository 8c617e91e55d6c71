package cli

import (
	"context"
	"encoding/json"
	"sync"

	"carrel/app"
	"carrel/app/attach"
	"carrel/app/wire"
	"carrel/store"
)

// host is where a command works: this process, or the running core.
type host interface {
	wire.Caller
	// follow calls f for the events of a workspace, in order, until stop is called. f does not
	// block. lost is called when events may have been missed.
	follow(workspace string, f func(app.Event), lost func()) (stop func())
	// own reports whether the work is done by this process and ends with it.
	own() bool
}

// ownHost is this process.
type ownHost struct {
	wire.Caller
	app *app.App
}

func newOwnHost(a *app.App) host { return ownHost{wire.Local(a.API(), nil), a} }

func (h ownHost) own() bool { return true }

func (h ownHost) follow(_ string, f func(app.Event), _ func()) (stop func()) {
	return h.app.Subscribe(f)
}

// coreHost is the running core.
type coreHost struct {
	*wire.Client

	mu   sync.Mutex
	f    func(app.Event)
	lost func()
}

// dialHost connects to the running core.
func dialHost(ctx context.Context, root *store.Root) (*coreHost, error) {
	h := &coreHost{}
	client, err := wire.Dial(ctx, wire.ClientOptions{Role: wire.CLI, Version: app.Version(), Events: h.event, Reset: h.reset,
		Find: func(ctx context.Context) (wire.Address, error) {
			c, err := attach.Find(ctx, root)
			return wire.Address{URL: c.URL, Token: c.Token}, err
		}})
	if err != nil {
		return nil, err
	}
	h.Client = client
	return h, nil
}

func (h *coreHost) close() { _ = h.Client.Close() }

func (h *coreHost) own() bool { return false }

func (h *coreHost) follow(workspace string, f func(app.Event), lost func()) (stop func()) {
	h.mu.Lock()
	h.f, h.lost = f, lost
	h.mu.Unlock()
	h.Join("conversation/" + workspace)
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.f, h.lost = nil, nil
	}
}

func (h *coreHost) reset() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.lost != nil {
		h.lost()
	}
}

func (h *coreHost) event(e wire.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.f == nil {
		return
	}
	var err error
	var event app.Event
	switch e.Name {
	case app.EntryChanged{}.EventName():
		event, err = decode[app.EntryChanged](e.Data)
	case app.EntryGrew{}.EventName():
		event, err = decode[app.EntryGrew](e.Data)
	case app.EntriesRemoved{}.EventName():
		event, err = decode[app.EntriesRemoved](e.Data)
	case app.ConversationChanged{}.EventName():
		event, err = decode[app.ConversationChanged](e.Data)
	default:
		return // not one of a turn
	}
	if err != nil {
		h.lost()
		return
	}
	h.f(event)
}

func decode[E app.Event](data json.RawMessage) (app.Event, error) {
	var e E
	err := json.Unmarshal(data, &e)
	return e, err
}
