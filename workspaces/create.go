package workspaces

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"carrel/store"
	"carrel/workspaces/git"
	"carrel/workspaces/runtime"
)

// NewWorkspace asks for a workspace.
type NewWorkspace struct {
	ProjectID string
	Name      string       // "" makes one of Title, else of two words
	Title     string       // "" is the name
	Runtime   runtime.Kind // "" is worktree in a git project, else local
	Branch    string       // "" makes one named like the workspace; an existing one is checked out; any other name is made
	Base      string       // where a new branch starts; "" is what the project has checked out
	Detached  bool         // no branch at all: Base is checked out as it is now, and nobody's branch is taken; without Branch
	Model     string
	Level     string
	ParentID  string // the workspace of the same project that it belongs to; "": none
	// Seed, when not nil, fills what belongs to the new workspace beside its tree, once its row exists
	// and before anybody hears of it. Its error undoes the creation.
	Seed func(context.Context, Workspace) error
}

// Create makes a workspace and returns when its row and its tree exist; the init hook goes on. It
// needs neither a model nor the network. Files that were not copied, and other things that the
// person should know, come as Event.Notes and stand at the top of InitLog.
func (d *Desks) Create(ctx context.Context, n NewWorkspace) (Workspace, error) {
	p, err := d.registry.Project(ctx, n.ProjectID)
	if err != nil {
		return Workspace{}, err
	}
	if r := inspectProject(p); r != nil {
		return Workspace{}, r
	}
	if n.ParentID != "" {
		if up, err := d.registry.Workspace(ctx, n.ParentID); err != nil || up.ProjectID != p.ID {
			return Workspace{}, cmp.Or(err, fmt.Errorf("create workspace under %q of another project: %w", n.ParentID, ErrNotFound))
		}
	}
	if n.Name != "" {
		if err := CheckName(n.Name); err != nil {
			return Workspace{}, err
		}
	}
	if n.Runtime == "" {
		n.Runtime = runtime.Local
		if p.Git {
			n.Runtime = runtime.Worktree
		}
	}
	var b *building
	switch n.Runtime {
	case runtime.Local:
		b, err = d.planLocal(ctx, p, n)
	case runtime.Worktree:
		b, err = d.planWorktree(ctx, p, n)
	default:
		return Workspace{}, fmt.Errorf("create workspace: unknown runtime %q", n.Runtime)
	}
	if err != nil {
		return Workspace{}, err
	}
	return d.build(ctx, b)
}

// building is a creation under way. It holds the workspace's lock from before its row exists.
type building struct {
	project Project
	w       Workspace
	plan    plan
	notes   []string
	seed    func(context.Context, Workspace) error
	unlock  func()
	release func()
}

func (b *building) end() {
	b.unlock()
	b.release()
}

func (d *Desks) planLocal(ctx context.Context, p Project, n NewWorkspace) (*building, error) {
	if p.Git && samePlace(p.Path, p.CommonDir) {
		return nil, &Refusal{Code: BareRepository, Dir: p.Path,
			Message: fmt.Sprintf("%s is a bare repository, without files to work on in place: use a worktree.", p.Name)}
	}
	var branch string
	if p.Git {
		head, err := d.git.Head(ctx, p.Path)
		if err != nil {
			return nil, fmt.Errorf("read head of %q: %w", p.Path, err)
		}
		branch = head.Branch
	}
	if n.Branch != "" && n.Branch != branch || n.Base != "" || n.Detached {
		return nil, &Refusal{Code: BranchInvalid, Branch: n.Branch, Dir: p.Path,
			Message: "A local workspace works on what the folder has checked out: choose neither branch nor base, or use a worktree."}
	}
	return d.reserve(ctx, p, n, func(w *Workspace) bool {
		w.Dir, w.Branch = p.Path, branch
		return true
	})
}

func (d *Desks) planWorktree(ctx context.Context, p Project, n NewWorkspace) (*building, error) {
	if !p.Git {
		return nil, needsGit(p)
	}
	pl, err := d.planTree(ctx, p, n)
	if err != nil {
		return nil, err
	}
	source, err := d.source(p)
	if err != nil {
		return nil, fmt.Errorf("create workspace: %w", err)
	}
	b, err := d.reserve(ctx, p, n, func(w *Workspace) bool {
		w.Dir, w.Branch, w.Base = filepath.Join(source, w.Name), pl.branch, pl.base
		w.MadeBranch, w.Creating = pl.create, true
		if pl.named() {
			w.Branch = w.Name
		}
		return !exists(w.Dir) && !(pl.named() && pl.taken(w.Name))
	})
	var refused *Refusal
	if errors.As(err, &refused) && refused.Code == NameTaken && refused.WorkspaceID == "" {
		return nil, pl.nameTaken(refused, n.Name, filepath.Join(source, n.Name))
	}
	if err != nil {
		return nil, err
	}
	b.plan, b.notes = pl, pl.notes
	return b, nil
}

// nameTaken says what has a chosen name: a folder or a branch.
func (pl *plan) nameTaken(r *Refusal, name, dir string) *Refusal {
	if exists(dir) {
		r.Code, r.Dir = FolderTaken, dir
		r.Message = fmt.Sprintf("The folder %s exists already and is no workspace: choose another name, or move it away.", dir)
		return r
	}
	r.Branch = name
	if _, ok := pl.find(name, false); ok {
		r.Message = fmt.Sprintf("There is a branch %s already: choose another name, or choose that branch to work on.", name)
	} else {
		r.Message = fmt.Sprintf("A branch %s cannot exist beside %s: choose another name.", name, pl.clash(name))
	}
	return r
}

// nameTries bounds the search for a free name.
const nameTries = 100

// reserve finds a free name, fills the rest of the row and writes it. fill says false for a name
// that cannot be used.
func (d *Desks) reserve(ctx context.Context, p Project, n NewWorkspace, fill func(*Workspace) bool) (*building, error) {
	now := d.now()
	w := Workspace{ID: store.NewID(), ProjectID: p.ID, Runtime: n.Runtime, Model: n.Model, Level: n.Level, ParentID: n.ParentID, Init: InitNone, CreatedAt: now, ActiveAt: now}
	release, err := d.take(w.ID)
	if err != nil {
		return nil, err
	}
	unlock, err := d.claim(w.ID)
	if err != nil {
		release()
		return nil, err
	}
	b := &building{project: p, seed: n.Seed, unlock: unlock, release: release}
	name, stem := n.Name, Slug(n.Title)
	for try := 1; try <= nameTries; try++ {
		if n.Name == "" {
			name = numbered(stem, try)
			if stem == "" {
				name = twoWords()
			}
		}
		w.Name, w.Title = name, strings.TrimSpace(n.Title)
		if w.Title == "" {
			w.Title = name
		}
		free := fill(&w)
		if free {
			free, err = d.registry.insertWorkspace(ctx, w)
		}
		if err != nil || free {
			b.w = w
			break
		}
		if n.Name != "" {
			err = d.taken(ctx, p, name)
			break
		}
	}
	if err == nil && b.w.ID == "" {
		err = fmt.Errorf("create workspace: no free name like %q", name)
	}
	if err != nil {
		b.end()
		return nil, err
	}
	return b, nil
}

// taken refuses a chosen name, and names the workspace that has it if one has.
func (d *Desks) taken(ctx context.Context, p Project, name string) error {
	r := &Refusal{Code: NameTaken, Choices: []Choice{ChooseName},
		Message: fmt.Sprintf("The name %s is taken: choose another one.", name)}
	all, err := d.registry.WorkspacesOf(ctx, p.ID)
	if err != nil {
		return err
	}
	for _, w := range all {
		if w.Name == name {
			r.WorkspaceID, r.Choices = w.ID, []Choice{OpenWorkspace, ChooseName}
			r.Message = fmt.Sprintf("%s has a workspace %s already%s: open it, or choose another name.", p.Name, name, archivedNote(w))
		}
	}
	return r
}

func archivedNote(w Workspace) string {
	if w.ArchivedAt != nil {
		return ", in the archive"
	}
	return ""
}

// build makes the tree of a reserved workspace and starts its init hook.
func (d *Desks) build(ctx context.Context, b *building) (Workspace, error) {
	handed := false
	defer func() {
		b.release()
		if !handed {
			b.unlock()
		}
	}()
	if b.seed != nil {
		if err := b.seed(ctx, b.w); err != nil {
			d.undo(b)
			return Workspace{}, err
		}
	}
	reserved := b.w
	d.emit(Event{Workspace: &reserved})
	if b.w.Runtime == runtime.Worktree {
		if err := d.grow(ctx, b); err != nil {
			d.undo(b)
			return Workspace{}, err
		}
	}
	// The tree is there: a caller that leaves now must not make it half a workspace.
	settling, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteLimit)
	defer cancel()
	w, start, err := d.settle(settling, b.project, b.w, b.notes)
	if err != nil {
		return Workspace{}, err
	}
	if start != nil {
		handed = d.startInit(w.ID, b.unlock, start)
	}
	if w.Runtime == runtime.Worktree {
		d.WarmSpares(ctx)
	}
	return w, nil
}

// filters lets a trusted repository's own filters, such as git-crypt's, write files.
func filters(p Project) git.Filters {
	if p.Trusted {
		return git.FiltersAll
	}
	return git.FiltersUser
}

// grow makes the worktree, from the spare if one is ready, and copies what the ignore file lists.
// The files to copy are looked for while git works.
func (d *Desks) grow(ctx context.Context, b *building) error {
	p, w := b.project, b.w
	bare := samePlace(p.Path, p.CommonDir)
	var files []string
	var listErr error
	var listing sync.WaitGroup
	if !bare {
		listing.Go(func() { files, listErr = d.ignoredFiles(ctx, p.Path) })
	}
	spare, done := d.claimSpare(p)
	made, err := d.git.AddTree(ctx, git.NewTree{
		Repo: p.Path, Dir: w.Dir, Branch: w.Branch, Base: w.Base, Create: w.MadeBranch, Spare: spare,
		Filters: filters(p),
	})
	done()
	listing.Wait()
	if err != nil {
		return d.refusal(ctx, p, err)
	}
	if !made.FromSpare {
		d.freshen(w)
	}
	b.notes = append(b.notes, made.Warnings...)
	if listErr != nil {
		b.notes = append(b.notes, fmt.Sprintf("Ignored files were not copied: %v", listErr))
		return nil
	}
	skipped, err := copyIgnored(ctx, p.Path, w.Dir, files)
	b.notes = append(b.notes, skipped...)
	if err != nil && ctx.Err() == nil {
		b.notes = append(b.notes, err.Error())
		err = nil
	}
	return err
}

// freshen lets git note, in the background, that the files it has just written are unchanged.
func (d *Desks) freshen(w Workspace) {
	d.jobs.start("index/"+w.ID, func(ctx context.Context) {
		lowerPriority()
		_ = d.git.Settle(ctx, w.Dir) // without it, reading the state takes longer
	})
}

// cleanupLimit bounds what is still done for an operation whose context has ended.
const cleanupLimit = 30 * time.Second

// undo clears up after a creation that failed.
func (d *Desks) undo(b *building) {
	ctx, cancel := context.WithTimeout(context.Background(), cleanupLimit)
	defer cancel()
	if err := d.clear(ctx, b.project, b.w); err != nil {
		d.emit(Event{Workspace: &b.w, Notes: []string{fmt.Sprintf("Clearing up after the failed creation: %v", err)}})
	}
}
