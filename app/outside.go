package app

import (
	"context"
	"os"
	"reflect"

	"carrel/store"
	"carrel/workspaces"
)

// rows is what other processes write too, as hosts were last told of it.
type rows struct {
	projects   map[string]workspaces.Project
	workspaces map[string]workspaces.Workspace
	settings   store.Settings
	providers  map[string]store.ProviderConfig
}

// readRows reads the registry and the settings.
func (a *App) readRows(ctx context.Context) (rows, error) {
	r := rows{projects: map[string]workspaces.Project{}, workspaces: map[string]workspaces.Workspace{}}
	ps, err := a.registry.Projects(ctx)
	if err != nil {
		return r, err
	}
	for _, p := range ps {
		r.projects[p.ID] = p
	}
	ws, err := a.registry.Workspaces(ctx)
	if err != nil {
		return r, err
	}
	for _, w := range ws {
		r.workspaces[w.ID] = w
	}
	if r.settings, err = a.root.Settings(); err != nil {
		return r, err
	}
	r.providers, err = a.root.Providers()
	return r, err
}

// outsideChange reads everything again after somebody, perhaps another process, wrote it, and tells
// hosts what is different. One goroutine calls it.
func (a *App) outsideChange() {
	now, err := a.readRows(context.Background())
	if err != nil {
		a.logger.Warn("read the registry again", "err", err)
		return
	}
	last := a.told
	a.told = now
	for id, p := range now.projects {
		if p != last.projects[id] {
			a.projectChanged(id)
		}
	}
	for id := range last.projects {
		if _, ok := now.projects[id]; !ok {
			a.publish(ProjectRemoved{ID: id})
		}
	}
	for id, w := range now.workspaces {
		old, ok := last.workspaces[id]
		if w.ArchivedAt == nil && (!ok || !old.ActiveAt.Equal(w.ActiveAt)) {
			a.followOther(id)
			a.touch(id)
			a.purseChanged(id)
		}
		if !ok || !sameRow(old, w) {
			a.herald.add(id, news{row: true})
			a.purseChanged(id)
		}
	}
	for id := range last.workspaces {
		if _, ok := now.workspaces[id]; !ok {
			a.forget(id)
		}
	}
	if !reflect.DeepEqual(now.settings, last.settings) || !reflect.DeepEqual(now.providers, last.providers) {
		a.settingsChanged()
	}
}

// followOther opens a conversation that another process has taken up, so that hosts see it work.
func (a *App) followOther(id string) {
	if pid := a.root.SessionHolder(id); pid == 0 || pid == os.Getpid() {
		return
	}
	_, done, err := a.session(context.Background(), id)
	if err != nil {
		a.logger.Warn("follow another process's conversation", "workspace", id, "err", err)
		return
	}
	done()
	a.herald.add(id, news{})
}

// sameRow compares all but the time of the last activity, which turns change all the time.
func sameRow(a, b workspaces.Workspace) bool {
	a.ActiveAt = b.ActiveAt
	archived := (a.ArchivedAt == nil) == (b.ArchivedAt == nil)
	a.ArchivedAt, b.ArchivedAt = nil, nil
	limited := sameLimit(a.Budget, b.Budget)
	a.Budget, b.Budget = nil, nil
	return archived && limited && a == b
}

// forget lets go of a workspace that is gone, perhaps by another process's hand.
func (a *App) forget(id string) {
	if a.updater != nil {
		a.updater.TouchAll()
	}
	if a.watcher != nil {
		a.watcher.Remove(id)
	}
	a.boxes.net.forget(id)
	a.mu.Lock()
	delete(a.desk, id)
	if o := a.sessions[id]; o != nil && !a.closed {
		delete(a.sessions, id)
		a.work.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
			defer cancel()
			if err := a.end(ctx, id, o, (*session).finish); err != nil {
				a.logger.Warn("close the conversation of a workspace that is gone", "workspace", id, "err", err)
			}
		})
	}
	a.mu.Unlock()
	a.publish(WorkspaceRemoved{ID: id})
}
