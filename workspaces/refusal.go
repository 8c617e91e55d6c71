package workspaces

import (
	"fmt"

	"carrel/workspaces/git"
)

// Code says why something was refused. It is stable; hosts decide by it.
type Code string

// The codes of a Refusal.
const (
	PathMissing      Code = "path_missing"           // no such file or folder
	NotFolder        Code = "not_a_folder"           // a file where a folder is needed
	WorktreeMoved    Code = "worktree_moved"         // a linked worktree that its repository places elsewhere
	NotOwner         Code = "not_owner"              // git refuses another user's repository
	HasWorkspaces    Code = "project_has_workspaces" // remove them first
	OtherRepository  Code = "other_repository"       // the folder is not the project's repository
	NameInvalid      Code = "name_invalid"
	NameTaken        Code = "name_taken"
	BranchHeld       Code = "branch_held"    // checked out in Dir, which is workspace WorkspaceID if that is set
	BranchInvalid    Code = "branch_invalid" // git does not allow the name
	BranchMissing    Code = "branch_missing" // the workspace's branch is gone
	Unborn           Code = "unborn"         // the repository, or its branch, has no commit yet
	NoIdentity       Code = "no_identity"    // git has no name to commit under
	BareRepository   Code = "bare"           // no folder of its own to work in
	NeedsGit         Code = "not_git"        // a worktree needs a git repository
	BaseMissing      Code = "base_missing"
	FolderMissing    Code = "folder_missing" // of a workspace or a project
	NotWorktreeThere Code = "not_worktree"   // .git is gone or points elsewhere
	BrokenPlace      Code = "broken"         // the repository behind a worktree cannot be found
	StillCreating    Code = "creating"
	Busy             Code = "busy"        // something else is being done with it
	FolderTaken      Code = "folder_used" // something lies where a workspace should go
	Locked           Code = "locked"      // by git worktree lock
	HookNotTrusted   Code = "not_trusted"
	NoHook           Code = "no_hook"
)

// Choice is a way out of a refusal.
type Choice string

// The choices that a Refusal may offer.
const (
	OpenWorkspace  Choice = "open_workspace"   // WorkspaceID
	NewBranch      Choice = "new_branch"       // a new branch that starts at Branch
	Detach         Choice = "detached"         // NewWorkspace.Detached with Branch as Base
	FirstCommit    Choice = "first_commit"     // Desks.FirstCommit, then try again
	WorkInPlace    Choice = "work_in_place"    // use the local runtime
	Restore        Choice = "restore"          // Desks.Repair
	RemoveIt       Choice = "remove"           // Desks.Delete
	Relocate       Choice = "relocate"         // Desks.RelocateProject
	ChooseBase     Choice = "choose_base"      // another Base
	ChooseName     Choice = "choose_name"      // Name or Branch; Suggestion may hold one
	DeleteItsDesks Choice = "delete_workspace" // the project's worktree workspaces
)

// Refusal is an outcome that a person can do something about. Message is a whole sentence for them.
type Refusal struct {
	Code        Code
	Message     string
	Branch      string // the branch in question
	Dir         string // the folder in question
	WorkspaceID string // the workspace in question
	Suggestion  string // a name that would do
	Choices     []Choice
	Cause       error
}

func (r *Refusal) Error() string {
	if r.Cause != nil {
		return fmt.Sprintf("%s (%v)", r.Message, r.Cause)
	}
	return r.Message
}

func (r *Refusal) Unwrap() error { return r.Cause }

// ConfirmError says that a deletion would lose work and must be confirmed with the name.
type ConfirmError struct {
	Name string // what Delete's confirm must be
	Risk git.Risk
}

func (e *ConfirmError) Error() string {
	if e.Risk.Unknown != "" {
		return fmt.Sprintf("delete workspace %q: it could not be inspected (%s), so confirm with its name", e.Name, e.Risk.Unknown)
	}
	return fmt.Sprintf("delete workspace %q: %d changed and %d untracked files and %d commits exist nowhere else; confirm with its name",
		e.Name, e.Risk.Counts[0], e.Risk.Counts[1], e.Risk.Counts[2])
}
