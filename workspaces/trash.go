package workspaces

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// What goes to the trash stays for a day, or for a week when it held something that existed nowhere
// else. The name of the folder says which.
const (
	plain    = ""
	withWork = ".work"

	trashAge     = 24 * time.Hour
	trashAgeWork = 7 * 24 * time.Hour
)

// toTrash moves a folder to the trash at once: trash/<id>-<time>, or beside the folder when that
// lies on another disk. A folder that is not there is fine.
func (d *Desks) toTrash(ctx context.Context, path, id, keep string) error {
	return d.toTrashBeside(ctx, path, filepath.Dir(path), id, keep)
}

// toTrashBeside is toTrash with another folder for what lies on another disk than the trash.
func (d *Desks) toTrashBeside(ctx context.Context, path, beside, id, keep string) error {
	if !exists(path) {
		return nil
	}
	now := d.now()
	name := id + "-" + now.UTC().Format("20060102T150405.000") + keep
	trash := d.root.Path("trash")
	if err := os.MkdirAll(trash, 0o700); err != nil {
		return fmt.Errorf("move %q to the trash: %w", path, err)
	}
	err := d.moveToTrash(ctx, path, trashed{path: filepath.Join(trash, name), at: now})
	if errors.Is(err, syscall.EXDEV) {
		err = d.moveToTrash(ctx, path, trashed{path: filepath.Join(beside, ".trash-"+name), at: now})
	}
	if err != nil {
		return fmt.Errorf("move %q to the trash: %w", path, err)
	}
	return nil
}

func (d *Desks) moveToTrash(ctx context.Context, path string, t trashed) error {
	if err := d.registry.addTrash(ctx, t); err != nil {
		return err
	}
	if err := os.Rename(path, t.path); err != nil {
		return errors.Join(err, d.registry.removeTrash(ctx, t.path))
	}
	return nil
}

// trashSession moves a workspace's conversation to the trash, for a week.
func (d *Desks) trashSession(ctx context.Context, w Workspace) error {
	return d.toTrash(ctx, d.root.Path("sessions", w.ID), w.ID+"-session", withWork)
}

// PurgeTrash deletes what has been in the trash long enough: a day, or a week for folders that held
// work and for conversations. It goes on after a failure and returns all of them.
func (d *Desks) PurgeTrash(ctx context.Context) error {
	if err := d.noteTrash(ctx); err != nil {
		return err
	}
	all, err := d.registry.trash(ctx)
	if err != nil {
		return err
	}
	var failures []error
	for _, t := range all {
		if err := ctx.Err(); err != nil {
			return errors.Join(append(failures, err)...)
		}
		age := trashAge
		if strings.HasSuffix(t.path, withWork) {
			age = trashAgeWork
		}
		if exists(t.path) && d.now().Sub(t.at) < age {
			continue
		}
		if err := removeAll(t.path); err != nil {
			failures = append(failures, fmt.Errorf("purge %q: %w", t.path, err))
			continue
		}
		if err := d.registry.removeTrash(ctx, t.path); err != nil {
			failures = append(failures, err)
		}
	}
	return errors.Join(failures...)
}

// noteTrash registers what lies in the trash folder without a row, as of now: a lost registry must
// not keep it for ever.
func (d *Desks) noteTrash(ctx context.Context) error {
	trash := d.root.Path("trash")
	entries, err := os.ReadDir(trash)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read trash: %w", err)
	}
	for _, e := range entries {
		if err := d.registry.addTrash(ctx, trashed{path: filepath.Join(trash, e.Name()), at: d.now()}); err != nil {
			return err
		}
	}
	return nil
}

// removeAll is os.RemoveAll for trees with folders that nobody may write, such as module caches.
func removeAll(path string) error {
	err := os.RemoveAll(path)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	walkErr := filepath.WalkDir(path, func(dir string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return nil // what matters fails again below
		}
		return os.Chmod(dir, 0o700)
	})
	return errors.Join(walkErr, os.RemoveAll(path))
}
