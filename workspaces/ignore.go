package workspaces

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"carrel/workspaces/compat"
)

const (
	// maxIgnoreFile bounds the ignore file.
	maxIgnoreFile = 256 << 10
	// listLimit bounds the search for files to copy: a tree with millions of ignored files must not
	// hold up a creation.
	listLimit = 10 * time.Second
)

// copyPatterns reads the lines of an ignore file that act: those that begin with "!". What comes
// after the mark is a pattern in git's own syntax.
func copyPatterns(text string) []string {
	var patterns []string
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		pattern, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "!")
		if !ok || strings.TrimSpace(pattern) == "" {
			continue
		}
		if pattern[0] == '!' || pattern[0] == '#' {
			pattern = `\` + pattern // only at the start of a line do they mean something else
		}
		patterns = append(patterns, pattern)
	}
	return patterns
}

// ignoredFiles lists the files of the project folder that its ignore file asks to copy: existing,
// ignored by git, and matching. Git does the matching. Paths are relative and use slashes.
func (d *Desks) ignoredFiles(ctx context.Context, dir string) ([]string, error) {
	file, ok := compat.FindIgnoreFile(dir)
	if !ok {
		return nil, nil
	}
	info, err := os.Stat(file)
	if err != nil {
		return nil, fmt.Errorf("read %q: %w", file, err)
	}
	if info.Size() > maxIgnoreFile {
		return nil, fmt.Errorf("read %q: larger than %d KiB", file, maxIgnoreFile>>10)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read %q: %w", file, err)
	}
	patterns := copyPatterns(string(text))
	if len(patterns) == 0 {
		return nil, nil
	}
	return d.matching(ctx, dir, patterns)
}

// matching lists the files that match patterns and that git ignores. The first listing has every
// untracked file that matches; the second has the untracked files that git does not ignore.
func (d *Desks) matching(ctx context.Context, dir string, patterns []string) (files []string, err error) {
	list, err := os.CreateTemp("", "carrel-patterns-*")
	if err != nil {
		return nil, fmt.Errorf("list files to copy: %w", err)
	}
	defer func() { _ = os.Remove(list.Name()) }()
	_, err = list.WriteString(strings.Join(patterns, "\n") + "\n")
	if e := list.Close(); err == nil {
		err = e
	}
	if err != nil {
		return nil, fmt.Errorf("list files to copy: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, listLimit)
	defer cancel()
	match, err := d.git.Read(ctx, dir, "ls-files", "-z", "--others", "--ignored", "--exclude-from="+list.Name())
	if err != nil || len(match.Stdout) == 0 {
		return nil, err
	}
	plain, err := d.git.Read(ctx, dir, "ls-files", "-z", "--others", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	notIgnored := make(map[string]bool)
	for path := range splitNul(plain.Stdout) {
		notIgnored[path] = true
	}
	for path := range splitNul(match.Stdout) {
		if !notIgnored[path] && !strings.HasSuffix(path, "/") { // a slash: a repository of its own
			files = append(files, path)
		}
	}
	return files, nil
}

// splitNul yields the items of a list that git wrote with -z.
func splitNul(out []byte) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for item := range bytes.SplitSeq(out, []byte{0}) {
			if len(item) > 0 && !yield(string(item)) {
				return
			}
		}
	}
}
