package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"

	"carrel/agent/catalog"
	"carrel/agent/turn"
	"carrel/store"
	"carrel/workspaces"
	"carrel/workspaces/git"
)

// errClosing is the answer to whatever would begin while the App ends.
var errClosing = &Error{Code: "closing", Message: "Carrel is closing."}

// userError turns the errors of the layers below into ones that a person can act on. Anything that
// it does not know passes unchanged and reaches hosts as internal.
func userError(err error) error {
	var (
		mine     *Error
		refusal  *workspaces.Refusal
		confirm  *workspaces.ConfirmError
		provider *catalog.ConfigError
		locked   *store.LockedError
	)
	known := func(code, message string) error {
		return &Error{Code: code, Message: message, Cause: err}
	}
	switch {
	case err == nil, errors.As(err, &mine), errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &refusal):
		return known(string(refusal.Code), refusal.Message)
	case errors.As(err, &confirm):
		return known("confirm", confirm.Error())
	case errors.As(err, &provider):
		return known(string(provider.Code), provider.Message)
	case errors.As(err, &locked):
		return known("locked", "Another carrel process is at work on this. Try again in a moment.")
	case errors.Is(err, workspaces.ErrNotFound):
		return known("not_found", "It is not there any more; another window or command may have removed it.")
	case errors.Is(err, turn.ErrClosed), errors.Is(err, os.ErrClosed):
		return known("closed", "The conversation was closed meanwhile. Open the workspace again.")
	}
	if e, ok := DiskError(err); ok {
		return e
	}
	return gitError(err, known)
}

// DiskError is what a person is told of an error of a full disk, or one that cannot be written; false for
// any other error.
func DiskError(err error) (*Error, bool) {
	disk, ok := store.Disk(err)
	if !ok {
		return nil, false
	}
	which := "The disk that holds Carrel's data"
	if disk.Path != "" {
		which = "The disk that holds " + short(disk.Path)
	}
	if disk.ReadOnly {
		return &Error{Code: "read_only", Cause: err, Message: which +
			" can't be written, so nothing was saved. Make it writable, or choose another data folder with CARREL_ROOT."}, true
	}
	return &Error{Code: "disk_full", Cause: err, Message: which + " is full, so nothing was saved. Free some space on it, then try again."}, true
}

// gitError does the same for git's errors.
func gitError(err error, known func(code, message string) error) error {
	var (
		held    *git.HeldError
		missing *git.MissingError
		noRef   *git.NoSuchRefError
		failed  *git.Error
	)
	switch {
	case errors.As(err, &held):
		return known("branch_held", fmt.Sprintf("Branch %s is checked out in %s. Open that workspace, make a new branch from it, or choose another branch.",
			short(held.Branch), short(held.Dir)))
	case errors.As(err, &missing):
		return known("no_git", "Git can't be used: "+missing.Error()+".")
	case errors.As(err, &noRef):
		return known("no_such_base", fmt.Sprintf("There is no branch, tag or commit %s in this repository.", short(noRef.Ref)))
	case errors.Is(err, git.ErrUnborn):
		return known("no_commit", "This repository has no commit yet. Make a first commit, or choose the local runtime to work in the folder itself.")
	case errors.Is(err, git.ErrNotRepo):
		return known("not_a_repository", "This folder is not a git repository. Run git init there, or choose the local runtime.")
	case errors.Is(err, git.ErrNotOwner):
		return known("not_owner", "Git refuses this repository since another user owns it. If you trust it, run git config --global --add safe.directory with its path.")
	case errors.Is(err, git.ErrLocked):
		return known("locked", "The worktree is locked. Run git worktree unlock on it first.")
	case errors.Is(err, git.ErrTooMuch):
		return known("too_large", "Git has more to say of this repository than can be shown.")
	case errors.Is(err, context.DeadlineExceeded):
		return known("timeout", "It took too long and was given up. Try again.")
	case errors.As(err, &failed):
		return known("git_failed", "Git could not do it: "+gitSays(failed)+".")
	}
	return err
}

// credentials are a name and a password in an address.
var credentials = regexp.MustCompile(`://[^/@\s]*@`)

// gitSays is the line of git's own message that tells most, without what must not be shown.
func gitSays(e *git.Error) string {
	lines := strings.Split(strings.TrimSpace(e.Stderr), "\n")
	best := lines[len(lines)-1]
	for _, line := range lines {
		if strings.HasPrefix(line, "fatal: ") || strings.HasPrefix(line, "error: ") {
			best = line
			break
		}
	}
	_, text, ok := strings.Cut(best, ": ")
	if !ok || !strings.HasPrefix(best, "fatal") && !strings.HasPrefix(best, "error") {
		text = best
	}
	if text = strings.TrimRight(label(credentials.ReplaceAllString(text, "://")), "."); text == "" {
		return fmt.Sprintf("it ended with code %d", e.Code)
	}
	return text
}

// sentence is what a person is told of an error where there is no code beside it. What nobody
// foresaw stays in the log.
func sentence(err error) string {
	var mine *Error
	if errors.As(err, &mine) {
		return mine.Message
	}
	return "It failed for a reason that Carrel did not foresee; logs/core.log says more."
}
