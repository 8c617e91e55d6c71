package workspaces

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"carrel/workspaces/runtime"
)

// ErrNotFound is returned for an id that the registry does not know.
var ErrNotFound = errors.New("not found")

// Project is a folder that the person added.
type Project struct {
	ID        string
	Name      string // for display; two projects may share it
	Path      string // canonical: absolute, links resolved
	CommonDir string // git's common folder, "" without git
	Git       bool
	Trusted   bool // what its repository brings may run
	AddedAt   time.Time
	Position  int // where the person put it, from 1; 0: nowhere
}

// InitState is how far the init hook of a workspace is.
type InitState string

// The states of the init hook.
const (
	InitNone    InitState = "none"
	InitRunning InitState = "running"
	InitDone    InitState = "done"
	InitFailed  InitState = "failed"
	InitSkipped InitState = "skipped" // there is one, and the project is not trusted
)

// noCode is the exit code of a hook that has none: it did not run, runs, or was ended.
const noCode = -1

// Workspace is one desk: a project at one place.
type Workspace struct {
	ID         string
	ProjectID  string
	Name       string // unique in its project; also the folder's name
	Title      string // free text
	Runtime    runtime.Kind
	Branch     string // chosen at creation; what is checked out now is git's to say
	MadeBranch bool   // Carrel made Branch
	Base       string // where Branch started: a branch or a commit
	Dir        string // canonical
	Model      string // provider:id, "" for the default
	Level      string // how hard the model thinks, "" for its default
	Pro        bool   // the model's pro mode
	Cyber      bool   // the model's cyber mode
	Mode       string // how much runs without a question; "" is as the settings say
	AutoRetry  bool   // failed requests are tried again by themselves
	Budget     *int64 // what the workspace may cost, in millionths of a dollar; nil without a limit
	Init       InitState
	InitCode   int  // the init hook's exit code; -1 when it did not run to its end
	Creating   bool // the tree is not complete yet: nothing may run there
	Ports      int  // the first of ten TCP ports that are this workspace's own
	CreatedAt  time.Time
	ActiveAt   time.Time
	ArchivedAt *time.Time
	ParentID   string // the workspace that it belongs to, which may be gone; "": none
	Pinned     bool   // kept above all projects
	Position   int    // where the person put it among its siblings, from 1; 0: nowhere
}

// Registry is the table of projects and workspaces. Several processes write it at once, so each
// method is one statement or one short transaction, and names are reserved by the database.
type Registry struct{ db *sql.DB }

// NewRegistry returns the registry in db, whose tables store.Root.DB has made.
func NewRegistry(db *sql.DB) *Registry { return &Registry{db: db} }

const projectColumns = `id, name, path, is_git, common_dir, trusted, added_at, position`

type row interface{ Scan(dest ...any) error }

func scanProject(r row) (Project, error) {
	var p Project
	var added int64
	err := r.Scan(&p.ID, &p.Name, &p.Path, &p.Git, &p.CommonDir, &p.Trusted, &added, &p.Position)
	p.AddedAt = time.UnixMilli(added)
	return p, notFound(err)
}

// notFound turns the database's word for no row into ours.
func notFound(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNotFound
	}
	return err
}

// Projects lists all projects: those that the person placed in that order, then the others by name.
func (r *Registry) Projects(ctx context.Context) ([]Project, error) {
	return collect(ctx, r.db, scanProject, `SELECT `+projectColumns+` FROM projects ORDER BY position = 0, position, name COLLATE NOCASE, added_at`)
}

// Project returns one project, or ErrNotFound.
func (r *Registry) Project(ctx context.Context, id string) (Project, error) {
	p, err := scanProject(r.db.QueryRowContext(ctx, `SELECT `+projectColumns+` FROM projects WHERE id = ?`, id))
	if err != nil {
		return Project{}, fmt.Errorf("read project %q: %w", id, err)
	}
	return p, nil
}

// ProjectByPath returns the project whose folder is path, which must be canonical; other spellings
// are Desks.TrustedFor's and Desks.AddProject's matter.
func (r *Registry) ProjectByPath(ctx context.Context, path string) (Project, error) {
	p, err := scanProject(r.db.QueryRowContext(ctx, `SELECT `+projectColumns+` FROM projects WHERE path = ?`, path))
	if err != nil {
		return Project{}, fmt.Errorf("read project %q: %w", path, err)
	}
	return p, nil
}

// The ports of a workspace: ten from here for each row, below the range that systems hand out.
const (
	firstPort  = 20000
	portsEach  = 10
	portBlocks = 1200
)

const workspaceColumns = `rowid, id, COALESCE(project_id, ''), name, title, runtime, branch, made_branch, base, dir, model,
	level, pro, mode, cyber, auto_retry, budget_micro, init, init_code, creating, created_at, active_at, archived_at,
	parent_id, pinned, position`

func scanWorkspace(r row) (Workspace, error) {
	var w Workspace
	var rowid, created, active int64
	var archived, budget sql.NullInt64
	err := r.Scan(&rowid, &w.ID, &w.ProjectID, &w.Name, &w.Title, &w.Runtime, &w.Branch, &w.MadeBranch, &w.Base, &w.Dir,
		&w.Model, &w.Level, &w.Pro, &w.Mode, &w.Cyber, &w.AutoRetry, &budget, &w.Init, &w.InitCode, &w.Creating, &created, &active, &archived,
		&w.ParentID, &w.Pinned, &w.Position)
	w.Ports = firstPort + portsEach*int(rowid%portBlocks)
	w.CreatedAt, w.ActiveAt = time.UnixMilli(created), time.UnixMilli(active)
	if budget.Valid {
		w.Budget = &budget.Int64
	}
	if archived.Valid {
		t := time.UnixMilli(archived.Int64)
		w.ArchivedAt = &t
	}
	return w, notFound(err)
}

// Workspaces lists all workspaces, archived ones and those being created included, oldest first.
func (r *Registry) Workspaces(ctx context.Context) ([]Workspace, error) {
	return collect(ctx, r.db, scanWorkspace, `SELECT `+workspaceColumns+` FROM workspaces ORDER BY created_at, rowid`)
}

// WorkspacesOf lists the workspaces of one project, oldest first.
func (r *Registry) WorkspacesOf(ctx context.Context, project string) ([]Workspace, error) {
	return collect(ctx, r.db, scanWorkspace,
		`SELECT `+workspaceColumns+` FROM workspaces WHERE project_id = ? ORDER BY created_at, rowid`, project)
}

// Workspace returns one workspace, or ErrNotFound.
func (r *Registry) Workspace(ctx context.Context, id string) (Workspace, error) {
	w, err := scanWorkspace(r.db.QueryRowContext(ctx, `SELECT `+workspaceColumns+` FROM workspaces WHERE id = ?`, id))
	if err != nil {
		return Workspace{}, fmt.Errorf("read workspace %q: %w", id, err)
	}
	return w, nil
}

func collect[T any](ctx context.Context, db *sql.DB, scan func(row) (T, error), query string, args ...any) (list []T, err error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("read registry: %w", err)
	}
	defer func() {
		if e := rows.Close(); err == nil && e != nil {
			err = fmt.Errorf("read registry: %w", e)
		}
	}()
	for rows.Next() {
		item, err := scan(rows)
		if err != nil {
			return nil, fmt.Errorf("read registry: %w", err)
		}
		list = append(list, item)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read registry: %w", err)
	}
	return list, nil
}
