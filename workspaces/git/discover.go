package git

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// gitDirAt finds the git folder of the checkout whose top is dir, without walking up.
func gitDirAt(dir string) (string, error) {
	dot := filepath.Join(dir, ".git")
	info, err := os.Stat(dot)
	if err != nil {
		return "", err
	}
	if info.IsDir() {
		return dot, nil
	}
	if !info.Mode().IsRegular() || info.Size() > 64<<10 {
		return "", fmt.Errorf("read %q: not a link to a repository", dot)
	}
	text, err := readFile(dot)
	if err != nil {
		return "", err
	}
	target, ok := strings.CutPrefix(string(text), "gitdir: ")
	if !ok {
		return "", fmt.Errorf("read %q: not a link to a repository", dot)
	}
	return resolve(dir, target), nil
}

// commonDirOf gives the folder that a git folder shares with the other worktrees: itself for a main
// checkout.
func commonDirOf(gitDir string) (string, error) {
	text, err := readFile(filepath.Join(gitDir, "commondir"))
	if errors.Is(err, fs.ErrNotExist) {
		return gitDir, nil
	}
	if err != nil {
		return "", err
	}
	return resolve(gitDir, string(text)), nil
}

// resolve reads a path that git wrote into a file, relative to base.
func resolve(base, text string) string {
	path := strings.TrimRight(text, "\r\n")
	if !filepath.IsAbs(path) {
		path = filepath.Join(base, path)
	}
	return filepath.Clean(path)
}

// canonical resolves symbolic links, also when the last elements of the path do not exist.
func canonical(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return filepath.Clean(path)
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		return real
	}
	parent := filepath.Dir(abs)
	if parent == abs {
		return abs
	}
	return filepath.Join(canonical(parent), filepath.Base(abs))
}

// explain turns a failed call into the typed error that the folder's state calls for.
func (g *Git) explain(dir string, err error) error {
	var failed *Error
	if !errors.As(err, &failed) {
		return err
	}
	if _, statErr := os.Stat(dir); statErr != nil {
		return fmt.Errorf("open %q: %w", dir, statErr)
	}
	found := ""
	for at := canonical(dir); ; at = filepath.Dir(at) {
		if gitDir, err := gitDirAt(at); err == nil {
			found = gitDir
			break
		}
		if looksBare(at) {
			found = at
			break
		}
		if at == filepath.Dir(at) {
			return fmt.Errorf("open %q: %w", dir, ErrNotRepo)
		}
	}
	if !looksLikeGitDir(found) {
		return fmt.Errorf("open %q: %q is damaged or gone: %w", dir, found, ErrNotRepo)
	}
	if ownedByOther(found) {
		return fmt.Errorf("open %q: %w", dir, ErrNotOwner)
	}
	return err
}

func looksBare(dir string) bool {
	for _, name := range []string{"objects", "refs"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || !info.IsDir() {
			return false
		}
	}
	_, err := os.Lstat(filepath.Join(dir, "HEAD"))
	return err == nil
}

func looksLikeGitDir(gitDir string) bool {
	common, err := commonDirOf(gitDir)
	if err != nil {
		return false
	}
	if _, err := os.Lstat(filepath.Join(gitDir, "HEAD")); err != nil {
		return false
	}
	info, err := os.Stat(filepath.Join(common, "objects"))
	return err == nil && info.IsDir()
}
