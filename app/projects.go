package app

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"carrel/workspaces"
	"carrel/workspaces/runtime"
)

// Caps of what a host can ask of the file system.
const (
	maxDrop     = 50
	maxFolder   = 1000   // folders that Browse lists
	maxNames    = 50_000 // names that it looks at for that
	maxBranches = 2000   // that Branches lists of each kind
)

// projects implements ProjectsAPI.
type projects struct{ app *App }

func (p projects) List(ctx context.Context) ([]Project, error) {
	rev := p.app.rev.Add(1)
	all, err := p.app.registry.Projects(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]Project, 0, len(all))
	for _, one := range all {
		out = append(out, p.app.projectView(ctx, rev, one))
	}
	sort.SliceStable(out, func(i, j int) bool {
		a, b := out[i], out[j]
		if a.Position != b.Position {
			return a.Position != 0 && (b.Position == 0 || a.Position < b.Position)
		}
		return strings.ToLower(a.Name) < strings.ToLower(b.Name)
	})
	return out, nil
}

func (p projects) Add(ctx context.Context, args AddProject) (Project, error) {
	path, err := folderPath(args.Path)
	if err != nil {
		return Project{}, err
	}
	made, err := p.app.desks.AddProject(ctx, path, label(args.Name))
	return p.view(ctx, made.ID, err)
}

func (p projects) Sample(ctx context.Context) (Project, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return Project{}, &Error{Code: "failed", Message: "Carrel does not know your home folder, which the sample goes into: set HOME.", Cause: err}
	}
	made, err := p.app.desks.AddSample(ctx, home)
	return p.view(ctx, made.ID, err)
}

// view is what became of a project.
func (p projects) view(ctx context.Context, id string, err error) (Project, error) {
	if err != nil {
		return Project{}, userError(err)
	}
	rev := p.app.rev.Add(1)
	one, err := p.app.registry.Project(ctx, id)
	if err != nil {
		return Project{}, userError(err)
	}
	return p.app.projectView(ctx, rev, one), nil
}

func (p projects) Remove(ctx context.Context, args ByID) error {
	all, err := p.app.registry.WorkspacesOf(ctx, args.ID)
	if err != nil {
		return userError(err)
	}
	// With a worktree it is refused, and then nothing must have stopped.
	if !slices.ContainsFunc(all, func(w workspaces.Workspace) bool { return w.Runtime == runtime.Worktree }) {
		for _, w := range all {
			release, err := p.app.move(w.ID, "removed")
			if err != nil {
				return err
			}
			defer release()
			if err := p.app.leave(ctx, w.ID); err != nil {
				return err
			}
		}
	}
	return userError(p.app.desks.RemoveProject(ctx, args.ID))
}

func (p projects) Relocate(ctx context.Context, args RelocateProject) (Project, error) {
	path, err := folderPath(args.Path)
	if err != nil {
		return Project{}, err
	}
	_, err = p.app.desks.RelocateProject(ctx, args.ID, path)
	return p.view(ctx, args.ID, err)
}

func (p projects) SetTrust(ctx context.Context, args SetTrust) (Project, error) {
	_, err := p.app.desks.SetTrust(ctx, args.ID, args.Trusted)
	return p.view(ctx, args.ID, err)
}

func (p projects) FirstCommit(ctx context.Context, args ByID) (Project, error) {
	_, err := p.app.desks.FirstCommit(ctx, args.ID)
	return p.view(ctx, args.ID, err)
}

func (p projects) Branches(ctx context.Context, args ByID) (Branches, error) {
	project, err := p.app.registry.Project(ctx, args.ID)
	if err != nil {
		return Branches{}, userError(err)
	}
	out := Branches{Local: []string{}, Remote: []string{}, HeldBy: []Held{}}
	if !project.Git {
		return out, nil
	}
	head, err := p.app.git.Head(ctx, project.Path)
	if err != nil {
		return Branches{}, userError(err)
	}
	all, err := p.app.git.Branches(ctx, project.Path)
	if err != nil {
		return Branches{}, userError(err)
	}
	if head.Unborn {
		out.NoCommit = len(all) == 0
	} else {
		out.Current = head.Branch
	}
	byDir, err := p.app.workspacesByDir(ctx)
	if err != nil {
		return Branches{}, err
	}
	for _, b := range all {
		switch {
		case b.Remote && len(out.Remote) < maxBranches:
			out.Remote = append(out.Remote, b.Name)
		case !b.Remote && len(out.Local) < maxBranches:
			out.Local = append(out.Local, b.Name)
		}
		if b.HeldBy != "" {
			out.HeldBy = append(out.HeldBy, Held{Branch: b.Name, Dir: b.HeldBy, Workspace: byDir[b.HeldBy]})
		}
	}
	return out, nil
}

func (p projects) Drop(ctx context.Context, args DropFolders) error {
	dropped := FoldersDropped{Projects: []Project{}, Problems: []string{}}
	for i, path := range args.Paths {
		if i == maxDrop {
			dropped.Problems = append(dropped.Problems, fmt.Sprintf("Only the first %d folders were added.", maxDrop))
			break
		}
		if picture, ok, err := p.app.dropped(ctx, path); err != nil {
			dropped.Problems = append(dropped.Problems, short(sentence(err)))
			continue
		} else if ok {
			dropped.Pictures = append(dropped.Pictures, picture)
			continue
		}
		made, err := p.Add(ctx, AddProject{Path: path})
		if err != nil {
			dropped.Problems = append(dropped.Problems, short(sentence(err)))
			continue
		}
		dropped.Projects = append(dropped.Projects, made)
	}
	p.app.publish(dropped)
	return nil
}

// pictureNames end the names of files that are dropped as pictures.
var pictureNames = []string{".png", ".jpg", ".jpeg", ".gif", ".webp"} // read only

// dropped uploads a picture's file; any other is none, which says so when it becomes no project.
func (a *App) dropped(ctx context.Context, path string) (up Upload, ok bool, err error) {
	name := filepath.Base(path)
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || !slices.Contains(pictureNames, strings.ToLower(filepath.Ext(name))) {
		return Upload{}, false, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return Upload{}, false, userError(fmt.Errorf("read picture: %w", err))
	}
	defer func() { _ = f.Close() }() // it was only read
	made, err := a.Upload(ctx, name, f)
	return Upload{Name: label(name), ID: made.ID}, err == nil, err
}

// projectChanged tells hosts what a project looks like now.
func (a *App) projectChanged(id string) {
	ctx := context.Background()
	rev := a.rev.Add(1)
	p, err := a.registry.Project(ctx, id)
	if err != nil {
		return // removed meanwhile, which hosts are told by its own event
	}
	a.publish(ProjectChanged{Project: a.projectView(ctx, rev, p)})
}

// projectView is what hosts see of a project, whose row was read after rev was taken. It reads a few
// small files and starts no process, but for repositories that keep their refs in another format.
func (a *App) projectView(ctx context.Context, rev uint64, p workspaces.Project) Project {
	v := Project{Rev: rev, ID: p.ID, Name: p.Name, Path: p.Path, IsGit: p.Git, Trusted: p.Trusted, AddedAt: p.AddedAt, Position: p.Position}
	if _, err := os.Stat(p.Path); err != nil {
		v.Missing = true
		return v
	}
	if !p.Trusted {
		v.Automation = shorts(a.desks.Automation(p.Path))
	}
	if p.Git {
		v.Branch = short(a.branchOf(ctx, p))
	}
	return v
}

// branchOf is the branch that is checked out in a project's own folder, "" when none is.
func (a *App) branchOf(ctx context.Context, p workspaces.Project) string {
	if branch, ok := readHead(filepath.Join(p.CommonDir, "HEAD")); ok {
		return branch
	}
	ctx, cancel := context.WithTimeout(ctx, branchWait)
	defer cancel()
	head, err := a.git.Head(ctx, p.Path)
	if err != nil {
		a.logger.Warn("read a project's branch", "project", p.ID, "err", err)
	}
	return head.Branch
}

// branchWait bounds the wait for git where only it knows the branch: one repository in which it hangs must
// not hold up the list of all projects.
const branchWait = 2 * time.Second

// readHead reads a repository's HEAD file. It is false where that does not tell the branch.
func readHead(path string) (branch string, ok bool) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe without a writer would block
	if err != nil {
		return "", false
	}
	defer func() { _ = f.Close() }() // only read
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", false
	}
	text, err := io.ReadAll(io.LimitReader(f, maxHead))
	if err != nil || len(text) == maxHead {
		return "", false
	}
	line := strings.TrimRight(string(text), "\r\n")
	if ref, isRef := strings.CutPrefix(line, "ref: "); isRef {
		branch, ok = strings.CutPrefix(ref, "refs/heads/")
		return branch, ok && branch != ".invalid" && utf8.ValidString(branch) // reftable puts .invalid there
	}
	return "", len(line) == 40 || len(line) == 64 // a commit: detached
}

// maxHead bounds what is read of a HEAD file, which names one ref.
const maxHead = 4096
