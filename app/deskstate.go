package app

import (
	"context"
	"os"
	"time"

	"carrel/agent/transcript"
	"carrel/agent/turn"
	"carrel/workspaces"
	"carrel/workspaces/git"
)

// deskState is what is known of a workspace beside its row: it is asked for seldom and told often.
type deskState struct {
	health workspaces.Health
	git    *GitState
	unseen bool // a turn ended well since the person last looked
}

// deskOf gives the state of a workspace; the App's lock is held.
func (a *App) deskOf(id string) *deskState {
	d := a.desk[id]
	if d == nil {
		d = &deskState{}
		a.desk[id] = d
	}
	return d
}

// workspaceView is what hosts see of a workspace.
func (a *App) workspaceView(w workspaces.Workspace) Workspace {
	a.mu.Lock()
	d := *a.deskOf(w.ID)
	o := a.sessions[w.ID]
	a.mu.Unlock()
	v := Workspace{Rev: a.rev.Add(1), ID: w.ID, ProjectID: w.ProjectID, Name: w.Name, Title: w.Title,
		Runtime: string(w.Runtime), Branch: w.Branch, Base: w.Base, Dir: w.Dir, Model: a.modelOf(w),
		Health: healthView(d.health, w), HealthNote: d.health.Note, Activity: Idle, Init: InitState(w.Init),
		Git: d.git, CreatedAt: w.CreatedAt, ActiveAt: w.ActiveAt, ArchivedAt: w.ArchivedAt}
	if d.unseen {
		v.Activity = Done
	}
	if o == nil {
		return v
	}
	select {
	case <-o.ready:
	default:
		return v
	}
	if o.err == nil {
		v.Activity = a.activity(w.ID, o.s.current().State)
		_, err := o.s.writable()
		v.Elsewhere = err != nil
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
func (a *App) activity(id string, s turn.State) Activity {
	switch s {
	case turn.Preparing:
		return Preparing
	case turn.Streaming:
		return Streaming
	case turn.RunningTools:
		return RunningTools
	case turn.Interrupting:
		return Interrupting
	case turn.Failed:
		return Failed
	case turn.Interrupted:
		return Interrupted
	case turn.Idle:
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.deskOf(id).unseen {
		return Done
	}
	return Idle
}

// workspaceChanged tells hosts what a workspace looks like now.
func (a *App) workspaceChanged(id string) {
	w, err := a.registry.Workspace(context.Background(), id)
	if err != nil {
		return // deleted meanwhile, which hosts are told by its own event
	}
	a.publish(WorkspaceChanged{Workspace: a.workspaceView(w)})
}

// activityChanged follows a turn's state. It runs on the conversation's goroutine.
func (a *App) activityChanged(id string) { a.workspaceChanged(id) }

// recorded follows a conversation's log. It runs on the conversation's goroutine.
func (a *App) recorded(id string, r *transcript.Record) {
	switch r.Kind {
	case transcript.TurnStart:
		a.touch(id)
	case transcript.TurnEnd:
		a.mu.Lock()
		a.deskOf(id).unseen = r.End == transcript.Done
		a.mu.Unlock()
		a.touch(id)
		a.poke(id)
	case transcript.ToolEnd:
		a.poke(id)
	case transcript.User, transcript.StepStart, transcript.Partial, transcript.Assistant,
		transcript.ToolStart, transcript.Note, transcript.Todos:
	}
}

func (a *App) touch(id string) {
	if err := a.registry.Touch(context.Background(), id, time.Now()); err != nil {
		a.logger.Warn("note a workspace's activity", "workspace", id, "err", err)
	}
}

func (a *App) poke(id string) {
	if a.watcher != nil {
		a.watcher.Poke(id)
	}
}

// gitChanged takes what git says of a workspace.
func (a *App) gitChanged(id string, s git.State, err error) {
	a.mu.Lock()
	d := a.deskOf(id)
	if err != nil {
		last := GitState{}
		if d.git != nil {
			last = *d.git
		}
		last.Error = sentence(userError(err))
		d.git = &last
	} else {
		d.git = gitView(s)
	}
	unwell := err != nil || (d.health.State != "" && d.health.State != string(Ready))
	a.mu.Unlock()
	if unwell {
		a.checkHealth(context.Background(), id)
	}
	a.workspaceChanged(id)
}

// checkHealth looks at a workspace's place and remembers what it saw.
func (a *App) checkHealth(ctx context.Context, id string) workspaces.Health {
	w, err := a.registry.Workspace(ctx, id)
	if err != nil {
		return workspaces.Health{}
	}
	h := a.desks.Check(ctx, w)
	a.mu.Lock()
	a.deskOf(id).health = h
	a.mu.Unlock()
	return h
}

// usable refuses to work in a place that is not what it should be.
func (a *App) usable(ctx context.Context, id string) error {
	w, err := a.registry.Workspace(ctx, id)
	if err != nil {
		return userError(err)
	}
	if w.ArchivedAt != nil {
		return &Error{Code: "archived", Message: "This workspace is archived. Bring it back first."}
	}
	h := a.checkHealth(ctx, id)
	if h.State == string(Ready) || h.State == "" {
		return nil
	}
	a.workspaceChanged(id)
	return &Error{Code: h.State, Message: h.Note}
}

func gitView(s git.State) *GitState {
	v := &GitState{Branch: s.Branch, Detached: s.Detached, Unborn: s.Unborn, Head: s.Commit, Subject: s.Subject,
		Upstream: s.Upstream, Ahead: s.Ahead, Behind: s.Behind, Staged: s.Staged, Unstaged: s.Unstaged,
		Untracked: s.Untracked, Conflicts: s.Conflicts, Added: s.Added, Removed: s.Removed, InProgress: s.InProgress}
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
		a.watch(ctx, w)
	}
}

// watch begins, or ends, to watch a workspace's git state.
func (a *App) watch(ctx context.Context, w workspaces.Workspace) {
	if a.watcher == nil {
		return
	}
	if w.ArchivedAt != nil || w.Creating || w.Dir == "" {
		a.watcher.Remove(w.ID)
		return
	}
	if h := a.checkHealth(ctx, w.ID); h.State != string(Ready) && h.State != "" {
		a.watcher.Remove(w.ID)
		a.workspaceChanged(w.ID)
		return
	}
	if p, err := a.registry.Project(ctx, w.ProjectID); err != nil || !p.Git {
		return
	}
	if _, err := os.Stat(w.Dir); err == nil {
		a.watcher.Add(w.ID, w.Dir, w.Base)
	}
}

// watchAgain watches a workspace that stays after all.
func (a *App) watchAgain(ctx context.Context, id string) {
	if w, err := a.registry.Workspace(context.WithoutCancel(ctx), id); err == nil {
		a.watch(ctx, w)
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
