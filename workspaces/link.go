package workspaces

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// A linked worktree and its repository point at each other: the file .git names the admin folder
// <common>/worktrees/<name>, whose file gitdir names that .git. Reading both takes microseconds,
// tells a folder that merely claims to be a worktree from a true one, and starts no process.

// Why a folder is not the worktree that it should be.
var (
	errNoDotGit  = errors.New("its .git is gone")
	errElsewhere = errors.New("its .git points elsewhere")
	errNoAdmin   = errors.New("the repository that its .git names cannot be found")
)

// adminDir returns the admin folder that the linked worktree in dir names.
func adminDir(dir string) (string, error) {
	dotGit := filepath.Join(dir, ".git")
	info, err := os.Lstat(dotGit)
	if err != nil {
		return "", errNoDotGit
	}
	if !info.Mode().IsRegular() {
		return "", errElsewhere // a folder: a repository of its own
	}
	target, err := pointer(dotGit, "gitdir: ")
	if err != nil {
		return "", fmt.Errorf("%w: %w", errElsewhere, err)
	}
	return target, nil
}

// checkLink says whether dir is a worktree of the repository with the common folder common, by both
// of its pointers. It wraps errNoDotGit, errElsewhere or errNoAdmin.
func checkLink(dir, common string) error {
	admin, err := adminDir(dir)
	if err != nil {
		return err
	}
	if !isFolder(admin) {
		if isFolder(common) && samePlace(filepath.Dir(filepath.Dir(admin)), common) {
			return errElsewhere // the repository is there and has dropped this worktree
		}
		return errNoAdmin
	}
	theirs, err := pointer(filepath.Join(admin, "commondir"), "")
	if err != nil || !samePlace(theirs, common) {
		return errElsewhere
	}
	return checkBacklink(admin, dir, common)
}

// checkBacklink says whether the admin folder is one of the repository's own and names dir as its
// worktree. Anyone can write an admin folder that names a repository; only who may write the repository
// can put it there.
func checkBacklink(admin, dir, common string) error {
	if err := checkAdmin(admin, common); err != nil {
		return err
	}
	back, err := pointer(filepath.Join(admin, "gitdir"), "")
	if err != nil || !samePlace(filepath.Dir(back), dir) {
		return errElsewhere
	}
	return nil
}

// checkAdmin says whether an admin folder lies in the repository with that common folder.
func checkAdmin(admin, common string) error {
	parent := filepath.Dir(admin)
	if filepath.Base(parent) != "worktrees" || !samePlace(filepath.Dir(parent), common) {
		return errElsewhere
	}
	return nil
}

// ownGitDir says whether gitDir is what git finds at top itself. It is not where a repository below top
// claims top as its checkout.
func ownGitDir(top, gitDir string) bool {
	dotGit := filepath.Join(top, ".git")
	if target, err := adminDir(top); err == nil {
		dotGit = target
	}
	return samePlace(dotGit, gitDir)
}

// maxPointer bounds such a file; paths are shorter on every system.
const maxPointer = 16 << 10

// pointer reads a file that holds one path after a prefix. A relative path starts at the file.
func pointer(file, prefix string) (string, error) {
	text, err := pointerText(file)
	if err != nil {
		return "", err
	}
	path, ok := strings.CutPrefix(text, prefix)
	if !ok || path == "" {
		return "", fmt.Errorf("read %q: not a pointer of git's", file)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(file), path)
	}
	return filepath.Clean(path), nil
}

// pointerText reads a file of one line.
func pointerText(file string) (string, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe without a writer would block
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // only read
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", fmt.Errorf("read %q: not a file", file)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxPointer))
	return strings.TrimRight(string(text), "\r\n"), err
}
