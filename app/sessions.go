package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"carrel/store"
	"carrel/workspaces/runtime"
)

// closeLimit bounds how long a workspace's conversation may take to end before its workspace is
// archived or deleted.
const closeLimit = 20 * time.Second

// opening is a session that is open or being opened: one attempt at a time for each workspace.
type opening struct {
	ready chan struct{} // closed when s and err are set
	s     *session
	err   error

	// What follows is guarded by the App's lock.
	users   int           // calls that use it now
	used    time.Time     // when a call or a turn last ended
	leaving chan struct{} // closed when that has been settled; nil while nobody closes it for being idle
	gone    bool          // it was closed for being idle
}

// session gives a workspace's conversation, opening it if need be. It stays open until done is called.
func (a *App) session(ctx context.Context, id string) (s *session, done func(), err error) {
	o, err := a.opening(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	done = func() { a.leaveCall(o) }
	select {
	case <-o.ready:
		err = o.err
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		done()
		return nil, nil, err
	}
	return o.s, done, nil
}

// opening gives the attempt to open a session, with the caller among its users. One that is being
// closed for being idle is waited for.
func (a *App) opening(ctx context.Context, id string) (*opening, error) {
	for {
		o, leaving, err := a.enterCall(id)
		if leaving == nil {
			return o, err
		}
		select {
		case <-leaving:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (a *App) enterCall(id string) (o *opening, leaving chan struct{}, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if o = a.sessions[id]; o == nil {
		if o, err = a.beginOpening(id); err != nil {
			return nil, nil, err
		}
	}
	if o.leaving == nil {
		o.users++
	}
	return o, o.leaving, nil
}

func (a *App) leaveCall(o *opening) {
	a.mu.Lock()
	defer a.mu.Unlock()
	o.users--
	o.used = time.Now()
}

// beginOpening opens a session on a goroutine of its own. The lock is held.
func (a *App) beginOpening(id string) (*opening, error) {
	if a.closed {
		return nil, errClosing
	}
	if err := a.refuseMoving(id); err != nil {
		return nil, err
	}
	o := &opening{ready: make(chan struct{}), used: time.Now()}
	a.sessions[id] = o
	a.work.Go(func() {
		defer close(o.ready)
		// A host that goes away meanwhile does not cancel what others may be waiting for.
		if o.s, o.err = a.openSession(context.Background(), id); o.err == nil {
			return
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.sessions[id] == o {
			delete(a.sessions, id)
		}
	})
	return o, nil
}

// open gives the sessions that are open.
func (a *App) open() []*session {
	a.mu.Lock()
	defer a.mu.Unlock()
	var out []*session
	for _, o := range a.sessions {
		if s := o.now(); s != nil {
			out = append(out, s)
		}
	}
	return out
}

// openNow gives a workspace's session when it is open, else nil.
func (a *App) openNow(id string) *session {
	a.mu.Lock()
	defer a.mu.Unlock()
	if o := a.sessions[id]; o != nil {
		return o.now()
	}
	return nil
}

// now gives the session when it is open, else nil; o may be nil.
func (o *opening) now() *session {
	if o == nil {
		return nil
	}
	select {
	case <-o.ready:
		return o.s
	default:
		return nil
	}
}

// closeSession ends a workspace's conversation and everything that its commands left running; how is
// session.close or session.finish.
func (a *App) closeSession(ctx context.Context, id string, how ending) error {
	a.mu.Lock()
	o := a.sessions[id]
	delete(a.sessions, id)
	a.mu.Unlock()
	return a.end(ctx, id, o, how)
}

// ending is how a session ends.
type ending func(*session, context.Context) error

// end ends a conversation that nobody finds any more, and what its commands left running; o may be
// nil. The commands of one that another process holds are that process's.
func (a *App) end(ctx context.Context, id string, o *opening, how ending) error {
	err := a.endTalk(ctx, id, o, how)
	if s := o.now(); s != nil && !s.ours() {
		return err
	}
	return errors.Join(err, a.boxes.end(id), runtime.KillTagged(ctx, id))
}

func (a *App) endTalk(ctx context.Context, id string, o *opening, how ending) error {
	if o == nil {
		return nil
	}
	switch gone, err := a.awaitLeaving(ctx, o); {
	case err != nil:
		return fmt.Errorf("close conversation %q: %w", id, err)
	case gone:
		return nil
	}
	select {
	case <-o.ready:
	case <-ctx.Done():
		return fmt.Errorf("close conversation %q: %w", id, ctx.Err())
	}
	if o.err != nil {
		return nil
	}
	err := how(o.s, ctx)
	a.attend(id, func(d *deskState) { d.elsewhere = false })
	return err
}

// quit ends a workspace's conversation once it is certain that its place is archived or deleted, and says
// whether a turn ran in it. The desks end what its commands left running.
func (a *App) quit(ctx context.Context, id string) (worked bool, err error) {
	if s := a.openNow(id); s != nil {
		worked = s.busy()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeLimit)
	defer cancel()
	a.mu.Lock()
	o := a.sessions[id]
	delete(a.sessions, id)
	a.mu.Unlock()
	return worked, errors.Join(a.terminals.end(ctx, id), a.endTalk(ctx, id, o, (*session).finish))
}

// leave ends a workspace's conversation before its workspace goes, also when the host that asked for
// it goes away meanwhile.
func (a *App) leave(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeLimit)
	defer cancel()
	return errors.Join(a.terminals.end(ctx, id), a.closeSession(ctx, id, (*session).finish))
}

// move notes that a workspace's place is about to move or go: until release is called no
// conversation is opened and no turn starts there. It refuses while another process works there.
func (a *App) move(id, doing string) (release func(), err error) {
	if a.heldElsewhere(id) {
		return nil, errElsewhere
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.refuseMoving(id); err != nil {
		return nil, err
	}
	a.deskOf(id).moving = doing
	return func() { a.attend(id, func(d *deskState) { d.moving = "" }) }, nil
}

// errElsewhere refuses what only the process that has a conversation may do.
var errElsewhere = &Error{Code: "elsewhere", Message: "Another carrel process works in this workspace. Wait until it is done, or stop it there."}

// heldElsewhere reports whether another process has a workspace's conversation.
func (a *App) heldElsewhere(id string) bool {
	if pid := a.root.SessionHolder(id); pid == 0 || pid == os.Getpid() {
		return false
	}
	lock, err := a.root.LockSession(id) // what the holder wrote stays when it is killed
	var held *store.LockedError
	if err == nil {
		_ = lock.Close()
	}
	return errors.As(err, &held) && held.PID != os.Getpid()
}

// refuseMoving is the error for a workspace whose place moves. The lock is held.
func (a *App) refuseMoving(id string) error {
	if d := a.desk[id]; d != nil && d.moving != "" {
		return &Error{Code: "busy", Message: "This workspace is being " + d.moving + ". Wait until that is done."}
	}
	return nil
}

// start lets a call begin that may start a turn, unless the workspace's place moves.
func (a *App) start(id string) (done func(), err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.refuseMoving(id); err != nil {
		return nil, err
	}
	a.deskOf(id).starting++
	return func() { a.attend(id, func(d *deskState) { d.starting-- }) }, nil
}

// moveQuiet is move for a place that must not go from under a turn: it refuses while one runs.
func (a *App) moveQuiet(ctx context.Context, id, doing string) (release func(), err error) {
	release, err = a.move(id, doing)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	o, busy := a.sessions[id], a.deskOf(id).starting > 0
	a.mu.Unlock()
	if o != nil {
		select {
		case <-o.ready:
			busy = busy || o.err == nil && o.s.busy()
		case <-ctx.Done():
			release()
			return nil, ctx.Err()
		}
	}
	if busy {
		release()
		return nil, &Error{Code: "busy", Message: "The agent is working in this workspace. Interrupt it first."}
	}
	return release, nil
}
