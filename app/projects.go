package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"carrel/workspaces"
)

// Caps of what a host can ask of the file system.
const (
	maxDrop   = 50
	maxFolder = 1000
)

// projects implements ProjectsAPI.
type projects struct{ app *App }

func (p projects) List(ctx context.Context) ([]Project, error) {
	all, err := p.app.registry.Projects(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]Project, 0, len(all))
	for _, one := range all {
		out = append(out, p.app.projectView(ctx, one))
	}
	sort.SliceStable(out, func(i, j int) bool { return strings.ToLower(out[i].Name) < strings.ToLower(out[j].Name) })
	return out, nil
}

func (p projects) Add(ctx context.Context, args AddProject) (Project, error) {
	made, err := p.app.desks.AddProject(ctx, expandHome(args.Path), args.Name)
	if err != nil {
		return Project{}, userError(err)
	}
	return p.app.projectView(ctx, made), nil
}

func (p projects) Remove(ctx context.Context, args ByID) error {
	return userError(p.app.desks.RemoveProject(ctx, args.ID))
}

func (p projects) Relocate(ctx context.Context, args RelocateProject) (Project, error) {
	moved, err := p.app.desks.RelocateProject(ctx, args.ID, expandHome(args.Path))
	if err != nil {
		return Project{}, userError(err)
	}
	return p.app.projectView(ctx, moved), nil
}

func (p projects) SetTrust(ctx context.Context, args SetTrust) (Project, error) {
	changed, err := p.app.desks.SetTrust(ctx, args.ID, args.Trusted)
	if err != nil {
		return Project{}, userError(err)
	}
	return p.app.projectView(ctx, changed), nil
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
	out.Current, out.NoCommit = head.Branch, head.Unborn
	all, err := p.app.git.Branches(ctx, project.Path)
	if err != nil {
		return Branches{}, userError(err)
	}
	byDir, err := p.app.workspacesByDir(ctx)
	if err != nil {
		return Branches{}, err
	}
	for _, b := range all {
		switch {
		case b.Remote:
			out.Remote = append(out.Remote, b.Name)
		default:
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
		made, err := p.Add(ctx, AddProject{Path: path})
		if err != nil {
			dropped.Problems = append(dropped.Problems, sentence(err))
			continue
		}
		dropped.Projects = append(dropped.Projects, made)
	}
	p.app.publish(dropped)
	return nil
}

func (p projects) Browse(_ context.Context, args Browse) (Folder, error) {
	path := expandHome(args.Path)
	if path == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return Folder{}, err
		}
		path = home
	}
	if !filepath.IsAbs(path) {
		return Folder{}, &Error{Code: "bad_request", Message: "Give the whole path of the folder, from /."}
	}
	path = filepath.Clean(path)
	names, err := os.ReadDir(path)
	if err != nil {
		return Folder{}, &Error{Code: "unreadable", Message: fmt.Sprintf("The folder %s can't be read.", path), Cause: err}
	}
	out := Folder{Path: path, Entries: []FolderEntry{}}
	if parent := filepath.Dir(path); parent != path {
		out.Parent = parent
	}
	for _, n := range names {
		full := filepath.Join(path, n.Name())
		if info, err := os.Stat(full); err != nil || !info.IsDir() || strings.HasPrefix(n.Name(), ".") {
			continue
		}
		if len(out.Entries) == maxFolder {
			out.Cut = true
			break
		}
		_, err := os.Stat(filepath.Join(full, ".git"))
		out.Entries = append(out.Entries, FolderEntry{Name: n.Name(), Path: full, IsGit: err == nil})
	}
	return out, nil
}

// projectView is what hosts see of a project.
func (a *App) projectView(ctx context.Context, p workspaces.Project) Project {
	v := Project{Rev: a.rev.Add(1), ID: p.ID, Name: p.Name, Path: p.Path, IsGit: p.Git, Trusted: p.Trusted, AddedAt: p.AddedAt}
	if _, err := os.Stat(p.Path); err != nil {
		v.Missing = true
		return v
	}
	if !p.Trusted {
		v.Automation = a.desks.Automation(p.Path)
	}
	if p.Git {
		head, err := a.git.Head(ctx, p.Path)
		if err != nil {
			a.logger.Warn("read a project's branch", "project", p.ID, "err", err)
		}
		v.Branch = head.Branch
	}
	return v
}

// expandHome resolves a leading ~, as people type it.
func expandHome(path string) string {
	path = strings.TrimSpace(path)
	if path != "~" && !strings.HasPrefix(path, "~/") {
		return path
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return path
	}
	return filepath.Join(home, path[1:])
}
