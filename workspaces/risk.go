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

// AtRisk lists what deleting a workspace, with its branch if Carrel made that, would lose: changed
// and untracked files, and commits that are on no other branch, remote or tag. What cannot be
// inspected has Unknown set and counts as at risk. A local workspace risks nothing: its folder stays.
func (d *Desks) AtRisk(ctx context.Context, id string) (git.Risk, error) {
	w, p, err := d.load(ctx, id)
	if err != nil {
		return git.Risk{}, err
	}
	stake := d.atStake(ctx, p, w, false)
	return stake.risk, nil
}

// stake is what a deletion would lose, and what it must know of the branch.
type stake struct {
	risk git.Risk
	tip  string // of the branch that goes with the workspace; "" when none does
}

func (s stake) clean() bool {
	return s.risk.Unknown == "" && s.risk.Counts == [3]int{}
}

// atStake inspects a worktree and the branch that would go with it.
func (d *Desks) atStake(ctx context.Context, p Project, w Workspace, keepBranch bool) stake {
	var s stake
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
		d.branchAtStake(ctx, p, w.Branch, &s.risk)
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
	branch, err = checkedOut(w.Dir)
	if err != nil {
		s.risk.Unknown = err.Error()
		return ""
	}
	if branch != "" && (branch != w.Branch || !drop) { // the branch stays, and with it its commits
		s.risk.Commits, s.risk.Counts[2] = nil, 0
	}
	return branch
}

// branchAtStake adds the commits that only this branch has.
func (d *Desks) branchAtStake(ctx context.Context, p Project, branch string, risk *git.Risk) {
	out, err := d.git.Read(ctx, p.Path, "log", "--format=%h %s", "refs/heads/"+branch,
		"--not", "--exclude="+branch, "--branches", "--remotes", "--tags")
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

// checkedOut reads the branch of a linked worktree from its HEAD file; "" when detached.
func checkedOut(dir string) (string, error) {
	admin, err := adminDir(dir)
	if err != nil {
		return "", err
	}
	head, err := pointerText(admin + "/HEAD")
	if err != nil {
		return "", err
	}
	branch, ok := strings.CutPrefix(head, "ref: refs/heads/")
	if !ok {
		return "", nil
	}
	return branch, nil
}
