package git

import (
	"context"
	"errors"
)

var errTodo = errors.New("not there yet")

type tally struct{}

func (g *Git) claim(ctx context.Context, p *treePlan) (bool, error)       { return false, nil }
func (g *Git) addSubmodules(ctx context.Context, p *treePlan)             {}
func (g *Git) PrepareSpare(ctx context.Context, repo, dir string) error   { return errTodo }
func (g *Git) MoveTree(ctx context.Context, repo, from, to string) error  { return errTodo }
func (g *Git) RepairTree(ctx context.Context, repo, dir string) error     { return errTodo }
func (g *Git) State(ctx context.Context, dir, base string) (State, error) { return State{}, errTodo }
func (g *Git) AtRisk(ctx context.Context, dir string) (Risk, error)       { return Risk{}, errTodo }
func (g *Git) Changes(ctx context.Context, dir, base string, limit int) ([]Change, int, error) {
	return nil, 0, errTodo
}
func (g *Git) Merged(ctx context.Context, dir, base string) (bool, error) { return false, errTodo }

type State struct {
	Head
	Upstream                                                              string
	Ahead, Behind, Staged, Unstaged, Untracked, Conflicts, Added, Removed int
	InProgress                                                            string
}
type Risk struct {
	Changed, Untracked, Commits []string
	Counts                      [3]int
	Unknown                     string
}
type Change struct {
	Path, OldPath, Status string
	Added, Removed        int
	Binary                bool
	Patch                 string
	Cut                   bool
}
type Watcher struct{}

func NewWatcher(g *Git, onChange func(key string, s State, err error)) *Watcher { return &Watcher{} }
func (w *Watcher) Add(key, dir, base string)                                    {}
func (w *Watcher) Remove(key string)                                            {}
func (w *Watcher) Poke(key string)                                              {}
func (w *Watcher) Close()                                                       {}
