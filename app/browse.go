package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"unicode/utf8"
)

func (p projects) Browse(ctx context.Context, args Browse) (Folder, error) {
	if args.Path == "" {
		args.Path = "~"
	}
	path, err := folderPath(args.Path)
	if err != nil {
		return Folder{}, err
	}
	path = filepath.Clean(path)
	names, cut, err := folderNames(ctx, path)
	if err != nil {
		return Folder{}, &Error{Code: "unreadable", Message: fmt.Sprintf("The folder %s can't be read.", short(path)), Cause: err}
	}
	out := Folder{Path: path, Entries: []FolderEntry{}, Cut: cut}
	if parent := filepath.Dir(path); parent != path {
		out.Parent = parent
	}
	for _, name := range names {
		if len(out.Entries) == maxFolder {
			out.Cut = true
			break
		}
		full := filepath.Join(path, name)
		if info, err := os.Stat(full); err != nil || !info.IsDir() {
			continue // a link to something else
		}
		_, err := os.Lstat(filepath.Join(full, ".git"))
		out.Entries = append(out.Entries, FolderEntry{Name: name, Path: full, IsGit: err == nil})
	}
	return out, nil
}

// folderNames lists what may be folders inside a folder, hidden ones left out, by name; cut says that
// there is too much inside to look at all.
func folderNames(ctx context.Context, path string) (names []string, cut bool, err error) {
	if info, err := os.Stat(path); err != nil {
		return nil, false, err
	} else if !info.IsDir() { // opening a pipe would wait for its writer
		return nil, false, errors.New("not a folder")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = f.Close() }() // only read
	for seen := 0; ; {
		batch, err := f.ReadDir(1024)
		for _, e := range batch {
			// A name that is no text can't be told to a host and back.
			if (e.IsDir() || e.Type()&fs.ModeSymlink != 0) && !strings.HasPrefix(e.Name(), ".") && utf8.ValidString(e.Name()) {
				names = append(names, e.Name())
			}
		}
		seen += len(batch)
		switch {
		case errors.Is(err, io.EOF):
			sort.Strings(names)
			return names, false, nil
		case err != nil:
			return nil, false, err
		case ctx.Err() != nil:
			return nil, false, ctx.Err()
		case seen >= maxNames:
			sort.Strings(names)
			return names, true, nil
		}
	}
}

// folderPath is the absolute path that a person means. What the core's own folder is, nobody can know.
func folderPath(path string) (string, error) {
	path = typed(path)
	if !filepath.IsAbs(path) || strings.ContainsRune(path, 0) {
		return "", &Error{Code: "bad_request", Message: "Give the whole path of the folder, from /."}
	}
	return path, nil
}

// typed is a path as a person types or pastes it: with a leading ~, and perhaps with blanks around
// it, unless the path with them exists.
func typed(path string) string {
	if _, err := os.Lstat(path); err == nil {
		return path
	}
	path = strings.TrimSpace(path)
	if path != "~" && !strings.HasPrefix(path, "~/") {
		return path
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return path
	}
	return filepath.Join(home, path[1:])
}
