package app

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"carrel/agent/export"
)

// Bounds of exports into files.
const (
	maxSameName = 1000 // files of one name in a folder
	maxSaved    = 100  // that can be shown again
)

// SaveExport writes the document into the folder that downloads go to, under a name that is free. Only
// the person can read it.
func (c conversations) SaveExport(ctx context.Context, args ExportConversation) (SavedExport, error) {
	about, o, err := c.exporting(ctx, args)
	if err != nil {
		return SavedExport{}, err
	}
	f, err := createFree(downloads(), about.Name, "."+string(o.Format))
	if err != nil {
		return SavedExport{}, userError(fmt.Errorf("export %q: %w", about.Name, err))
	}
	out := bufio.NewWriter(f)
	err = errors.Join(export.Write(ctx, out, c.app.root.Path("sessions", about.Workspace), about, o), out.Flush(), f.Close())
	if err != nil {
		return SavedExport{}, userError(errors.Join(err, os.Remove(f.Name())))
	}
	c.app.mu.Lock()
	defer c.app.mu.Unlock()
	c.app.saved = append(c.app.saved, f.Name())
	c.app.saved = c.app.saved[max(0, len(c.app.saved)-maxSaved):]
	return SavedExport{Path: f.Name()}, nil
}

// createFree makes a file that was not there: name.md, else "name (2).md" and so on.
func createFree(dir, name, ext string) (*os.File, error) {
	path := filepath.Join(dir, name+ext)
	for n := 2; ; n++ {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if !errors.Is(err, fs.ErrExist) || n > maxSameName {
			return f, err
		}
		path = filepath.Join(dir, fmt.Sprintf("%s (%d)%s", name, n, ext))
	}
}

// downloads is the folder that the person's browser saves into: what XDG names, else Downloads, else the
// home.
func downloads() string {
	home, err := os.UserHomeDir()
	if err != nil {
		return os.TempDir()
	}
	config := os.Getenv("XDG_CONFIG_HOME")
	if config == "" {
		config = filepath.Join(home, ".config")
	}
	text, err := os.ReadFile(filepath.Join(config, "user-dirs.dirs"))
	if err != nil {
		text = nil // most systems but Linux have none
	}
	for _, dir := range []string{downloadDir(string(text), home), filepath.Join(home, "Downloads")} {
		if info, err := os.Stat(dir); dir != "" && err == nil && info.IsDir() {
			return dir
		}
	}
	return home
}

// downloadDir reads user-dirs.dirs, whose lines are those of a shell; "" when it names none.
func downloadDir(text, home string) string {
	for line := range strings.Lines(text) {
		value, ok := strings.CutPrefix(strings.TrimSpace(line), "XDG_DOWNLOAD_DIR=")
		if !ok {
			continue
		}
		value = strings.Trim(value, `"`)
		if below, ok := strings.CutPrefix(value, "$HOME"); ok {
			value = home + below
		}
		if filepath.IsAbs(value) {
			return filepath.Clean(value)
		}
	}
	return ""
}
