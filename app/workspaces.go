package app

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"carrel/agent/catalog"
	"carrel/workspaces"
	"carrel/workspaces/git"
	"carrel/workspaces/runtime"
)

// What a Diff carries at most: files, and bytes of patches over all of them.
const (
	maxDiffFiles = 300
	maxDiffBytes = 6 << 20
)

// CodeWorkspace is the code of a Problem that tells how something went with a workspace.
const CodeWorkspace = "workspace"

// desks implements WorkspacesAPI.
type desks struct{ app *App }

func (d desks) List(ctx context.Context, args ListWorkspaces) ([]Workspace, error) {
	rev := d.app.rev.Add(1)
	all, err := d.app.registry.Workspaces(ctx)
	if err != nil {
		return nil, err
	}
	defaultModel := sync.OnceValue(d.app.defaultModel)
	out := make([]Workspace, 0, len(all))
	for _, w := range all {
		if w.ArchivedAt != nil && !args.Archived {
			continue
		}
		if d.app.watcher == nil { // nobody looked before
			d.app.healthOf(ctx, w)
		}
		out = append(out, d.app.workspaceView(rev, w, defaultModel))
	}
	slices.SortStableFunc(out, func(a, b Workspace) int { return b.ActiveAt.Compare(a.ActiveAt) })
	return out, nil
}

func (d desks) Create(ctx context.Context, args NewWorkspace) (Workspace, error) {
	if args.Model != "" {
		if _, err := d.app.catalog.Resolve(catalog.Choice{Model: args.Model}); err != nil {
			return Workspace{}, userError(err)
		}
	}
	level := d.app.levelOf(ctx, d.app.catalog.Info(cmp.Or(args.Model, d.app.defaultModel())).ID, "")
	w, err := d.app.desks.Create(ctx, workspaces.NewWorkspace{ProjectID: args.ProjectID, Name: args.Name, Title: label(args.Title),
		Runtime: runtime.Kind(args.Runtime), Branch: args.Branch, Base: args.Base, Detached: args.Detached, Model: args.Model, Level: level,
		ParentID: args.Parent})
	return d.view(ctx, w.ID, err)
}

// view is what became of a workspace.
func (d desks) view(ctx context.Context, id string, err error) (Workspace, error) {
	if err != nil {
		return Workspace{}, userError(err)
	}
	rev := d.app.rev.Add(1)
	w, err := d.app.registry.Workspace(ctx, id)
	if err != nil {
		return Workspace{}, userError(err)
	}
	return d.app.workspaceView(rev, w, d.app.defaultModel), nil
}

func (d desks) Rename(ctx context.Context, args RenameWorkspace) (Workspace, error) {
	if args.Name != "" {
		release, err := d.app.moveQuiet(ctx, args.ID, "renamed")
		if err != nil {
			return Workspace{}, err
		}
		defer release()
	}
	_, err := d.app.desks.Rename(ctx, args.ID, args.Name, label(args.Title))
	return d.view(ctx, args.ID, err)
}

func (d desks) SetBase(ctx context.Context, args SetBase) (Workspace, error) {
	_, err := d.app.desks.SetBase(ctx, args.ID, args.Base)
	return d.view(ctx, args.ID, err)
}

func (d desks) Archive(ctx context.Context, args ByID) (Workspace, error) {
	w, err := d.app.registry.Workspace(ctx, args.ID)
	if err != nil {
		return Workspace{}, userError(err)
	}
	if w.Creating {
		return Workspace{}, &Error{Code: "creating", Message: "The workspace is still being created."}
	}
	release, err := d.app.move(args.ID, "archived")
	if err != nil {
		return Workspace{}, err
	}
	defer release()
	_, err = d.app.desks.Archive(ctx, args.ID)
	return d.view(ctx, args.ID, err)
}

func (d desks) Unarchive(ctx context.Context, args ByID) (Workspace, error) {
	_, err := d.app.desks.Unarchive(ctx, args.ID)
	return d.view(ctx, args.ID, err)
}

func (d desks) AtRisk(ctx context.Context, args RiskOfDeleting) (AtRisk, error) {
	w, err := d.app.registry.Workspace(ctx, args.ID)
	if err != nil {
		return AtRisk{}, userError(err)
	}
	risk, err := d.app.desks.AtRisk(ctx, args.ID, args.KeepBranch)
	if err != nil {
		return AtRisk{}, userError(err)
	}
	v := riskView(risk)
	v.Confirm = w.Name
	return v, nil
}

func (d desks) Delete(ctx context.Context, args DeleteWorkspace) error {
	release, err := d.app.move(args.ID, "deleted")
	if err != nil {
		return err
	}
	defer release()
	return userError(d.app.desks.Delete(ctx, args.ID, args.Confirm, args.KeepBranch))
}

func (d desks) Repair(ctx context.Context, args ByID) error {
	if err := d.app.desks.Repair(ctx, args.ID); err != nil {
		return userError(err)
	}
	w, err := d.app.registry.Workspace(ctx, args.ID)
	if err != nil {
		return userError(err)
	}
	d.app.healthOf(ctx, w)
	d.app.poke(args.ID)
	return nil
}

func (d desks) MarkSeen(_ context.Context, args ByID) error {
	if !d.app.setSeen(args.ID) {
		return nil
	}
	d.app.workspaceChanged(args.ID)
	if s := d.app.openNow(args.ID); s != nil {
		s.publishState()
	}
	return nil
}

func (d desks) Diff(ctx context.Context, args ByID) (Diff, error) {
	w, err := d.app.registry.Workspace(ctx, args.ID)
	if err != nil {
		return Diff{}, userError(err)
	}
	p, err := d.app.registry.Project(ctx, w.ProjectID)
	if err != nil {
		return Diff{}, userError(err)
	}
	out := Diff{Base: w.Base, Files: []DiffFile{}}
	if !p.Git {
		return out, nil
	}
	if h := d.app.healthOf(ctx, w); !well(h) { // else git would walk up to some other repository
		return Diff{}, &Error{Code: h.State, Message: h.Note}
	}
	changes, more, err := d.app.git.Changes(ctx, w.Dir, w.Base, maxDiffFiles)
	if err != nil {
		return Diff{}, userError(err)
	}
	out.More = more
	room := maxDiffBytes
	for _, c := range changes {
		f := DiffFile{Path: c.Path, OldPath: c.OldPath, Status: c.Status, Added: c.Added,
			Removed: c.Removed, Binary: c.Binary, Patch: c.Patch, Cut: c.Cut}
		if room -= len(f.Patch); room < 0 {
			f.Patch, f.Cut = "", true
		}
		out.Files = append(out.Files, f)
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

func (d desks) RefreshGit(ctx context.Context, args ByID) error {
	w, err := d.app.registry.Workspace(ctx, args.ID)
	if err != nil {
		return userError(err)
	}
	if d.app.watcher != nil {
		d.app.healthOf(ctx, w)
		d.app.poke(args.ID)
		return nil
	}
	p, err := d.app.registry.Project(ctx, w.ProjectID)
	if err != nil || !p.Git || !well(d.app.healthOf(ctx, w)) {
		return userError(err)
	}
	state, err := d.app.git.State(ctx, w.Dir, w.Base)
	d.app.gitChanged(args.ID, state, err)
	return nil
}

func riskView(r git.Risk) AtRisk {
	v := AtRisk{Unknown: short(r.Unknown), Changed: shorts(r.Changed), Untracked: shorts(r.Untracked), Commits: shorts(r.Commits),
		Counts: Counts{Changed: r.Counts[0], Untracked: r.Counts[1], Commits: r.Counts[2]}}
	v.Clean = r.Unknown == "" && v.Counts == Counts{}
	return v
}

// deskEvent takes what the lifecycle of projects and workspaces tells.
func (a *App) deskEvent(e workspaces.Event) {
	if len(e.Notes) > 0 {
		a.logger.Info("workspace notes", "notes", e.Notes)
	}
	if e.Workspace != nil && !e.Logged {
		for _, note := range e.Notes {
			a.publish(ProblemAppeared{Problem{Code: CodeWorkspace, Message: short(e.Workspace.Title + ": " + strings.TrimRight(note, ".") + ".")}})
		}
	}
	switch {
	case e.Project != nil:
		a.projectChanged(e.Project.ID)
	case e.RemovedProject != "":
		a.publish(ProjectRemoved{ID: e.RemovedProject})
	case e.RemovedWorkspace != "":
		a.forget(e.RemovedWorkspace)
	case e.Workspace == nil:
	case e.InitOutput != "":
		a.publish(InitOutput{Workspace: e.Workspace.ID, Text: e.InitOutput})
	case len(e.Notes) == 0:
		a.herald.add(e.Workspace.ID, news{row: true})
	}
}
