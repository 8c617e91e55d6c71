package app

import (
	"context"
	"errors"

	"carrel/workspaces"
	"carrel/workspaces/git"
	"carrel/workspaces/runtime"
)

// maxDiffFiles is how many changed files a Diff lists.
const maxDiffFiles = 300

// desks implements WorkspacesAPI.
type desks struct{ app *App }

func (d desks) List(ctx context.Context, args ListWorkspaces) ([]Workspace, error) {
	all, err := d.app.registry.Workspaces(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]Workspace, 0, len(all))
	for _, w := range all {
		if w.ArchivedAt == nil || args.Archived {
			out = append(out, d.app.workspaceView(w))
		}
	}
	return out, nil
}

func (d desks) Create(ctx context.Context, args NewWorkspace) (Workspace, error) {
	if args.Model != "" {
		if _, err := d.app.catalog.Resolve(args.Model); err != nil {
			return Workspace{}, userError(err)
		}
	}
	w, err := d.app.desks.Create(ctx, workspaces.NewWorkspace{ProjectID: args.ProjectID, Name: args.Name, Title: args.Title,
		Runtime: runtime.Kind(args.Runtime), Branch: args.Branch, Base: args.Base, Model: args.Model})
	return d.view(w, err)
}

func (d desks) view(w workspaces.Workspace, err error) (Workspace, error) {
	if err != nil {
		return Workspace{}, userError(err)
	}
	return d.app.workspaceView(w), nil
}

func (d desks) Rename(ctx context.Context, args RenameWorkspace) (Workspace, error) {
	if args.Name != "" {
		if err := d.app.quiet(args.ID); err != nil {
			return Workspace{}, err
		}
	}
	w, err := d.app.desks.Rename(ctx, args.ID, args.Name, args.Title)
	return d.view(w, err)
}

func (d desks) Archive(ctx context.Context, args ByID) (Workspace, error) {
	w, err := d.app.desks.Archive(ctx, args.ID)
	if err != nil {
		d.app.watchAgain(ctx, args.ID)
	}
	return d.view(w, err)
}

func (d desks) Unarchive(ctx context.Context, args ByID) (Workspace, error) {
	w, err := d.app.desks.Unarchive(ctx, args.ID)
	return d.view(w, err)
}

func (d desks) AtRisk(ctx context.Context, args ByID) (AtRisk, error) {
	w, err := d.app.registry.Workspace(ctx, args.ID)
	if err != nil {
		return AtRisk{}, userError(err)
	}
	risk, err := d.app.desks.AtRisk(ctx, args.ID)
	if err != nil {
		return AtRisk{}, userError(err)
	}
	v := riskView(risk)
	v.Confirm = w.Name
	return v, nil
}

func (d desks) Delete(ctx context.Context, args DeleteWorkspace) error {
	err := d.app.desks.Delete(ctx, args.ID, args.Confirm, args.KeepBranch)
	if err != nil {
		d.app.watchAgain(ctx, args.ID)
	}
	return userError(err)
}

func (d desks) Repair(ctx context.Context, args ByID) error {
	if err := d.app.desks.Repair(ctx, args.ID); err != nil {
		return userError(err)
	}
	w, err := d.app.registry.Workspace(ctx, args.ID)
	if err != nil {
		return userError(err)
	}
	d.app.watch(ctx, w)
	d.app.workspaceChanged(args.ID)
	return nil
}

func (d desks) SetModel(ctx context.Context, args SetModel) error {
	if _, err := d.app.catalog.Resolve(args.Model); err != nil {
		return userError(err)
	}
	if err := d.app.registry.SetModel(ctx, args.Workspace, args.Model); err != nil {
		return userError(err)
	}
	s, err := d.app.session(ctx, args.Workspace)
	if err != nil {
		return err
	}
	conv, err := s.writable()
	if err != nil {
		return err
	}
	if err := conv.SetModel(ctx, args.Model); err != nil {
		return userError(err)
	}
	d.app.workspaceChanged(args.Workspace)
	return nil
}

func (d desks) MarkSeen(_ context.Context, args ByID) error {
	d.app.mu.Lock()
	state := d.app.deskOf(args.ID)
	changed := state.unseen
	state.unseen = false
	d.app.mu.Unlock()
	if changed {
		d.app.workspaceChanged(args.ID)
	}
	return nil
}

func (d desks) Diff(ctx context.Context, args ByID) (Diff, error) {
	w, err := d.app.registry.Workspace(ctx, args.ID)
	if err != nil {
		return Diff{}, userError(err)
	}
	out := Diff{Base: w.Base, Files: []DiffFile{}}
	if _, err := d.app.git.Identify(ctx, w.Dir); errors.Is(err, git.ErrNotRepo) {
		return out, nil
	}
	changes, more, err := d.app.git.Changes(ctx, w.Dir, w.Base, maxDiffFiles)
	if err != nil {
		return Diff{}, userError(err)
	}
	out.More = more
	for _, c := range changes {
		out.Files = append(out.Files, DiffFile{Path: c.Path, OldPath: c.OldPath, Status: c.Status, Added: c.Added,
			Removed: c.Removed, Binary: c.Binary, Patch: c.Patch, Cut: c.Cut})
	}
	return out, nil
}

func (d desks) InitLog(_ context.Context, args ByID) (string, error) {
	text, err := d.app.desks.InitLog(args.ID)
	return text, userError(err)
}

func (d desks) RetryInit(ctx context.Context, args ByID) error {
	return userError(d.app.desks.RetryInit(ctx, args.ID))
}

func (d desks) RefreshGit(_ context.Context, args ByID) error {
	d.app.poke(args.ID)
	return nil
}

// quiet refuses what would pull the folder from under a running turn.
func (a *App) quiet(id string) error {
	a.mu.Lock()
	o := a.sessions[id]
	a.mu.Unlock()
	if o == nil {
		return nil
	}
	<-o.ready
	if o.err == nil && o.s.busy() {
		return &Error{Code: "busy", Message: "The agent is working in this workspace. Interrupt it first."}
	}
	return nil
}

func riskView(r git.Risk) AtRisk {
	v := AtRisk{Unknown: r.Unknown, Changed: some(r.Changed), Untracked: some(r.Untracked), Commits: some(r.Commits),
		Counts: Counts{Changed: r.Counts[0], Untracked: r.Counts[1], Commits: r.Counts[2]}}
	v.Clean = r.Unknown == "" && v.Counts == Counts{}
	return v
}

// some makes a nil list an empty one, which hosts see as [].
func some(in []string) []string {
	if in == nil {
		return []string{}
	}
	return in
}

// deskEvent takes what the lifecycle of projects and workspaces tells.
func (a *App) deskEvent(e workspaces.Event) {
	switch {
	case e.Project != nil:
		a.publish(ProjectChanged{Project: a.projectView(context.Background(), *e.Project)})
	case e.RemovedProject != "":
		a.publish(ProjectRemoved{ID: e.RemovedProject})
	case e.RemovedWorkspace != "":
		a.forget(e.RemovedWorkspace)
	case e.Workspace != nil && e.InitOutput != "":
		a.publish(InitOutput{Workspace: e.Workspace.ID, Text: e.InitOutput})
	case e.Workspace == nil || len(e.Notes) > 0:
		a.logger.Info("workspace notes", "notes", e.Notes) // they stand in the init log too
	case e.Workspace != nil:
		a.watch(context.Background(), *e.Workspace)
		a.publish(WorkspaceChanged{Workspace: a.workspaceView(*e.Workspace)})
	}
}
