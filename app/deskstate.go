package app

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"carrel/agent/transcript"
	"carrel/agent/turn"
	"carrel/workspaces"
	"carrel/workspaces/git"
)

// recheckEvery is how often places that were not well are looked at again: a few files each.
const recheckEvery = 5 * time.Second

// deskState is what is known of a workspace beside its row: it is asked for seldom and told often.
type deskState struct {
	health    workspaces.Health
	looked    uint64 // the revision at which the look began that health is from
	git       *GitState
	turn      turn.State // of its conversation, or how the last turn ended
	elsewhere bool       // another process holds the conversation
	unseen    bool       // a turn ended by itself since the person last looked
	watched   place      // what the watcher was told

	rev *atomic.Uint64 // of its conversation's events, as long as hosts may have seen one; nil: none yet

	moving   string // what is being done to its place, such as "renamed"; "" for nothing
	starting int    // calls under way that may start a turn
}

// place is what the watcher needs to know of a workspace.
type place struct{ dir, base string }

// deskOf gives the state of a workspace; the App's lock is held.
func (a *App) deskOf(id string) *deskState {
	d := a.desk[id]
	if d == nil {
		d = &deskState{}
		a.desk[id] = d
	}
	return d
}

// attend changes what is known of a workspace; of one that is gone there is nothing to know.
func (a *App) attend(id string, change func(*deskState)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if d := a.desk[id]; d != nil {
		change(d)
	}
}

// workspaceView is what hosts see of a workspace. Its row w was read after rev was taken, so that of
// two views the one with the greater rev is never the older.
func (a *App) workspaceView(rev uint64, w workspaces.Workspace, defaultModel func() string) Workspace {
	a.mu.Lock()
	d := *a.deskOf(w.ID)
	a.mu.Unlock()
	v := Workspace{Rev: rev, ID: w.ID, ProjectID: w.ProjectID, Name: w.Name, Title: w.Title,
		Runtime: string(w.Runtime), Branch: w.Branch, Base: w.Base, Dir: w.Dir, Model: w.Model, Level: w.Level, Pro: w.Pro, Mode: a.modeView(w), AutoRetry: w.AutoRetry,
		Health: healthView(d.health, w), HealthNote: d.health.Note, Activity: activity(d.turn, d.unseen),
		Init: InitState(w.Init), Git: d.git, CreatedAt: w.CreatedAt, ActiveAt: w.ActiveAt, ArchivedAt: w.ArchivedAt,
		Elsewhere: d.elsewhere, Parent: w.ParentID, Pinned: w.Pinned, Position: w.Position, Unread: d.unseen}
	if v.Model == "" {
		v.Model = defaultModel()
	}
	if w.InitCode >= 0 {
		v.InitCode = &w.InitCode
	}
	return v
}

func healthView(h workspaces.Health, w workspaces.Workspace) Health {
	if w.Creating {
		return Creating
	}
	if h.State == "" {
		return Ready
	}
	return Health(h.State)
}

// activity is what hosts see of a turn's state.
func activity(s turn.State, unseen bool) Activity {
	switch s {
	case turn.Preparing:
		return Preparing
	case turn.Retrying:
		return Retrying
	case turn.Recovering:
		return Recovering
	case turn.Streaming:
		return Streaming
	case turn.RunningTools:
		return RunningTools
	case turn.WaitingForUser:
		return Waiting
	case turn.Interrupting:
		return Interrupting
	case turn.Failed:
		return Failed
	case turn.Interrupted:
		return Interrupted
	case turn.Idle:
	}
	if unseen {
		return Done
	}
	return Idle
}

// recorded follows a conversation's log. It runs on the conversation's goroutine.
func (a *App) recorded(id string, r *transcript.Record) {
	if r.Kind == transcript.TurnStart || r.Kind == transcript.TurnEnd {
		a.herald.add(id, news{active: r.Time})
	}
	a.noticed(id, r)
}

// noticed follows the log of a conversation that this process or another one writes.
func (a *App) noticed(id string, r *transcript.Record) {
	a.searchable(id, r)
	switch r.Kind {
	case transcript.TurnEnd:
		if r.End == transcript.Done || r.End == transcript.Failed {
			a.setUnseen(id)
		} else {
			a.setSeen(id)
		}
		a.poke(id)
	case transcript.ToolEnd:
		if !a.readOnly[r.Tool] {
			a.poke(id)
		}
	case transcript.User, transcript.TurnStart, transcript.StepStart, transcript.Partial, transcript.Assistant,
		transcript.ToolStart, transcript.Note, transcript.Todos, transcript.Setup, transcript.Edit,
		transcript.Boundary, transcript.Retry, transcript.Question, transcript.Answer:
	}
}

func (a *App) poke(id string) {
	if a.watcher != nil {
		a.watcher.Poke(id)
	}
}

// gitChanged takes what git says of a workspace.
func (a *App) gitChanged(id string, s git.State, err error) {
	var noBase *git.NoSuchRefError
	a.mu.Lock()
	d := a.deskOf(id)
	switch {
	case err == nil:
		d.git = gitView(s)
	case errors.As(err, &noBase): // the rest is right
		d.git = gitView(s)
		d.git.Error = short(sentence(userError(err)))
	default:
		last := GitState{}
		if d.git != nil {
			last = *d.git
		}
		last.Error = short(sentence(userError(err)))
		d.git = &last
	}
	if err != nil {
		a.logger.Warn("read a workspace's git state", "workspace", id, "err", err)
	}
	unwell := err != nil || (d.health.State != "" && d.health.State != string(Ready))
	a.mu.Unlock()
	if unwell {
		a.checkHealth(context.Background(), id)
	}
	a.workspaceChanged(id)
}

// recheck looks again, now and then, at the places that were not well. The watcher alone does not do: it
// tells nothing of a folder that came back as it was before git noticed that it had gone.
func (a *App) recheck(ctx context.Context) {
	tick := time.NewTicker(recheckEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for _, id := range a.unwell() {
			a.checkHealth(ctx, id)
		}
	}
}

func (a *App) unwell() (ids []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for id, d := range a.desk {
		if !well(d.health) {
			ids = append(ids, id)
		}
	}
	return ids
}

// checkHealth looks at a workspace's place and remembers what it saw.
func (a *App) checkHealth(ctx context.Context, id string) {
	w, err := a.registry.Workspace(ctx, id)
	if errors.Is(err, workspaces.ErrNotFound) { // deleted while somebody looked at it
		a.mu.Lock()
		delete(a.desk, id)
		a.mu.Unlock()
		if a.watcher != nil {
			a.watcher.Remove(id)
		}
	}
	if err != nil {
		return
	}
	a.healthOf(ctx, w)
}

// healthOf is how a workspace's place is now. Of looks at the same time, what the one that began last
// saw is remembered.
func (a *App) healthOf(ctx context.Context, w workspaces.Workspace) workspaces.Health {
	look := a.rev.Add(1)
	h := a.desks.Check(ctx, w)
	h.Note = short(h.Note)
	a.mu.Lock()
	d := a.deskOf(w.ID)
	if look < d.looked {
		a.mu.Unlock()
		return h
	}
	was := d.health
	d.health, d.looked = h, look
	a.mu.Unlock()
	if was != h && !(well(was) && well(h)) {
		a.workspaceChanged(w.ID)
	}
	if !well(was) && well(h) {
		a.poke(w.ID) // git's state may be another one, and was not asked for in between
	}
	return h
}

// well reports whether agents may work in a place.
func well(h workspaces.Health) bool { return h.State == string(Ready) || h.State == "" }

// usable refuses to work in a place that is not what it should be.
func (a *App) usable(ctx context.Context, id string) error {
	w, err := a.registry.Workspace(ctx, id)
	if err != nil {
		return userError(err)
	}
	if w.ArchivedAt != nil {
		return &Error{Code: "archived", Message: "This workspace is archived. Bring it back first."}
	}
	h := a.healthOf(ctx, w)
	if well(h) {
		return nil
	}
	return &Error{Code: h.State, Message: h.Note}
}

func gitView(s git.State) *GitState {
	v := &GitState{Branch: short(s.Branch), Detached: s.Detached, Unborn: s.Unborn, Head: s.Commit, Subject: short(s.Subject),
		Upstream: short(s.Upstream), Ahead: s.Ahead, Behind: s.Behind, Staged: s.Staged, Unstaged: s.Unstaged,
		Untracked: s.Untracked, Conflicts: s.Conflicts, Added: s.Added, Removed: s.Removed, Uncounted: s.Uncounted, InProgress: s.InProgress}
	if !s.Time.IsZero() {
		v.CommitTime = s.Time.UTC().Format(time.RFC3339)
	}
	return v
}

// watchAll begins to watch every workspace that is not archived.
func (a *App) watchAll(ctx context.Context) {
	all, err := a.registry.Workspaces(ctx)
	if err != nil {
		a.logger.Error("watch workspaces", "err", err)
		return
	}
	for _, w := range all {
		if ctx.Err() != nil {
			return
		}
		a.watch(ctx, w)
	}
}

// watch begins, or ends, to watch a workspace's git state. A place that is missing or broken stays
// watched, so that it is noticed when it comes back.
func (a *App) watch(ctx context.Context, w workspaces.Workspace) {
	if a.watcher == nil {
		return
	}
	now := place{w.Dir, w.Base}
	if w.ArchivedAt != nil || w.Creating || w.Dir == "" {
		now = place{}
	} else {
		a.healthOf(ctx, w)
		if p, err := a.registry.Project(ctx, w.ProjectID); err != nil || !p.Git {
			now = place{}
		}
	}
	a.mu.Lock()
	d := a.deskOf(w.ID)
	same := d.watched == now
	d.watched = now
	a.mu.Unlock()
	switch {
	case same:
	case now == place{}:
		a.watcher.Remove(w.ID)
	default:
		a.watcher.Add(w.ID, now.dir, now.base)
	}
}

// workspacesByDir maps folders to the ids of the workspaces that work in them.
func (a *App) workspacesByDir(ctx context.Context) (map[string]string, error) {
	all, err := a.registry.Workspaces(ctx)
	if err != nil {
		return nil, err
	}
	out := make(map[string]string, len(all))
	for _, w := range all {
		out[w.Dir] = w.ID
	}
	return out, nil
}
