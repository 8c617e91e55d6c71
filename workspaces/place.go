package workspaces

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// canonical returns the one spelling of an existing folder: absolute, links resolved, no trailing
// slash. "~/" is the person's home.
func canonical(path string) (string, error) {
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || rest[0] == filepath.Separator) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("find home folder: %w", err)
		}
		path = filepath.Join(home, rest)
	}
	if path == "" {
		return "", &Refusal{Code: PathMissing, Message: "No folder was given: choose one."}
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("find folder %q: %w", path, err)
	}
	real, err := filepath.EvalSymlinks(abs)
	if errors.Is(err, fs.ErrNotExist) {
		return "", &Refusal{Code: PathMissing, Dir: abs, Cause: err,
			Message: fmt.Sprintf("There is no folder %s: check the spelling, or make it first.", abs)}
	}
	if err != nil {
		return "", fmt.Errorf("find folder %q: %w", abs, err)
	}
	info, err := os.Stat(real)
	if err != nil {
		return "", fmt.Errorf("find folder %q: %w", abs, err)
	}
	if !info.IsDir() {
		return "", &Refusal{Code: NotFolder, Dir: abs,
			Message: fmt.Sprintf("%s is a file: choose the folder that holds it.", abs)}
	}
	return real, nil
}

// samePlace says whether two paths are one folder, also where a disk ignores case, a link leads
// there or a file system is mounted twice. A path that does not exist is the same as nothing but
// its own spelling.
func samePlace(a, b string) bool {
	if a == b {
		return true
	}
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// exists is true for anything that has the name, a dangling link included.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
