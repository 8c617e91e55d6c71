package workspaces

import (
	"context"
	"fmt"
	"strings"

	"carrel/workspaces/git"
	"carrel/workspaces/runtime"
)

// maxRisk caps the list of commits, as git.AtRisk caps its lists.
const maxRisk = 50

// AtRisk lists what deleting a workspace, with its branch if Carrel made that and keepBranch is false,
// would lose: changed and untracked files, and commits that are on no other branch, remote or tag; of a folder that is
// gone, the commits that were checked out there without a branch. What cannot be inspected has Unknown
// set and counts as at risk. A local workspace risks nothing: its folder stays.
func (d *Desks) AtRisk(ctx context.Context, id string, keepBranch bool) (git.Risk, error) {
	w, p, err := d.load(ctx, id)
	if err != nil {
		return git.Risk{}, err
	}
	stake := d.atStake(ctx, p, w, keepBranch)
	return stake.risk, nil
}

// stake is what a deletion would lose, and what it must know of the branch.
type stake struct {
	risk git.Risk
	tip  string // of the branch that goes with the workspace; "" when none does
	head string // commit that is checked out without a branch; "" on a branch
	seen int    // how many branches of the project had gone when the look began
}

// last is the commit by which a person finds again what went with the workspace.
func (s stake) last() string {
	if s.head != "" {
		return s.head
	}
	return s.tip
}

func (s stake) clean() bool {
	return s.risk.Unknown == "" && s.risk.Counts == [3]int{}
}

// atStake inspects a worktree and the branch that would go with it.
func (d *Desks) atStake(ctx context.Context, p Project, w Workspace, keepBranch bool) stake {
	s := stake{seen: d.branchesGone(p)}
	if w.Runtime != runtime.Worktree {
		return s
	}
	if !isFolder(p.CommonDir) {
		if exists(w.Dir) {
			s.risk.Unknown = fmt.Sprintf("the repository is not at %s", p.Path)
		}
		return s
	}
	drop := w.MadeBranch && !keepBranch
	on := ""
	if exists(w.Dir) {
		on = d.treeAtStake(ctx, p, w, drop, &s)
	} else {
		d.lostAtStake(ctx, p, w, &s)
	}
	if !drop {
		return s
	}
	if on == w.Branch && s.risk.Branch == on && s.risk.Commit != "" {
		s.tip = s.risk.Commit // what was looked at
		return s
	}
	tip, err := d.commit(ctx, p, "refs/heads/"+w.Branch)
	if err != nil {
		return s // the branch is gone already
	}
	s.tip = tip
	if on != w.Branch {
		d.commitsAtStake(ctx, p, "refs/heads/"+w.Branch, w.Branch, &s.risk)
	}
	return s
}

// treeAtStake inspects the folder and returns the branch that is checked out there.
func (d *Desks) treeAtStake(ctx context.Context, p Project, w Workspace, drop bool, s *stake) (branch string) {
	if err := checkLink(w.Dir, p.CommonDir); err != nil {
		s.risk.Unknown = fmt.Sprintf("%s: %v", w.Dir, err)
		return ""
	}
	risk, err := d.git.AtRisk(ctx, w.Dir)
	if err != nil {
		risk.Unknown = err.Error()
	}
	s.risk = risk
	switch {
	case risk.Unknown != "":
		if branch, s.head, err = checkedOut(w.Dir); err != nil {
			return ""
		}
	case risk.Branch == "":
		s.head = risk.Commit
	default:
		branch = risk.Branch
	}
	if branch != "" && (branch != w.Branch || !drop) { // the branch stays, and with it its commits
		s.risk.Commits, s.risk.Counts[2] = nil, 0
	}
	return branch
}

// lostAtStake looks at a worktree whose folder is gone. Its registration, which goes with the workspace,
// is all that keeps the commits that were checked out there without a branch.
func (d *Desks) lostAtStake(ctx context.Context, p Project, w Workspace, s *stake) {
	tree, ok, err := d.registered(ctx, p, w.Dir)
	if err != nil {
		s.risk.Unknown = err.Error()
	}
	if ok && tree.Branch == "" && tree.Commit != "" {
		s.head = tree.Commit
		d.commitsAtStake(ctx, p, tree.Commit, "", &s.risk)
	}
}

// commitsAtStake adds the commits of rev that no branch but except, remote or tag has.
func (d *Desks) commitsAtStake(ctx context.Context, p Project, rev, except string, risk *git.Risk) {
	args := []string{"log", "--format=%h %s", rev, "--not"}
	if except != "" {
		args = append(args, "--exclude="+except)
	}
	out, err := d.git.Read(ctx, p.Path, append(args, "--branches", "--remotes", "--tags", "--")...)
	if err != nil {
		risk.Unknown = err.Error()
		return
	}
	for line := range strings.Lines(string(out.Stdout)) {
		risk.Counts[2]++
		if len(risk.Commits) < maxRisk {
			risk.Commits = append(risk.Commits, strings.TrimSpace(line))
		}
	}
}

// checkedOut reads from a linked worktree's HEAD file its branch or, when it is on none, its commit.
func checkedOut(dir string) (branch, commit string, err error) {
	admin, err := adminDir(dir)
	if err != nil {
		return "", "", err
	}
	head, err := pointerText(admin + "/HEAD")
	if err != nil {
		return "", "", err
	}
	if branch, ok := strings.CutPrefix(head, "ref: refs/heads/"); ok {
		return branch, "", nil
	}
	return "", head, nil
}
