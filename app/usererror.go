package app

import (
	"errors"
	"fmt"

	"carrel/agent/catalog"
	"carrel/workspaces"
	"carrel/workspaces/git"
)

// userError turns the errors of the layers below into ones that a person can act on. Anything that
// it does not know passes unchanged and reaches hosts as internal.
func userError(err error) error {
	var (
		mine     *Error
		held     *git.HeldError
		noGit    *git.MissingError
		noRef    *git.NoSuchRefError
		refusal  *workspaces.Refusal
		confirm  *workspaces.ConfirmError
		provider *catalog.ConfigError
	)
	switch {
	case err == nil, errors.As(err, &mine):
		return err
	case errors.As(err, &refusal):
		return &Error{Code: string(refusal.Code), Cause: err, Message: refusal.Message}
	case errors.As(err, &held):
		return &Error{Code: "branch_held", Cause: err, Message: fmt.Sprintf(
			"Branch %s is checked out in %s. Open that workspace, make a new branch from it, or choose another branch.", held.Branch, held.Dir)}
	case errors.As(err, &noGit):
		return &Error{Code: "no_git", Cause: err, Message: noGit.Error()}
	case errors.As(err, &noRef):
		return &Error{Code: "no_such_base", Cause: err, Message: fmt.Sprintf("There is no branch, tag or commit %s in this repository.", noRef.Ref)}
	case errors.Is(err, git.ErrUnborn):
		return &Error{Code: "no_commit", Cause: err, Message: "This repository has no commit yet. Make a first commit, or choose the local runtime to work in the folder itself."}
	case errors.Is(err, git.ErrNotRepo):
		return &Error{Code: "not_a_repository", Cause: err, Message: "This folder is not a git repository. Run git init there, or choose the local runtime."}
	case errors.As(err, &confirm):
		return &Error{Code: "confirm", Cause: err, Message: confirm.Error()}
	case errors.As(err, &provider):
		return &Error{Code: provider.Code, Cause: err, Message: provider.Message}
	case errors.Is(err, workspaces.ErrNotFound):
		return &Error{Code: "not_found", Cause: err, Message: "It is not there any more; another window or command may have removed it."}
	}
	return err
}

// sentence is what a person is told of an error.
func sentence(err error) string {
	var mine *Error
	if errors.As(err, &mine) {
		return mine.Message
	}
	return err.Error()
}
