package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// clockLag is by how much the clock that stamps files may be behind: it moves with the kernel's ticks.
const clockLag = 20 * time.Millisecond

// Settle refreshes what the index of a fresh checkout knows about its files' times, once the index's
// second has passed: entries written in the same second as the index are read again by every status,
// and background reads never write the index. Run it in the background; it waits up to a second. It
// holds the index's lock only for the moment of the exchange, so that nobody meanwhile has to wait or
// fails; when somebody else wrote the index, that stays.
func (g *Git) Settle(ctx context.Context, dir string) error {
	gitDir, err := gitDirAt(dir)
	if err != nil {
		return fmt.Errorf("settle %q: %w", dir, err)
	}
	index := filepath.Join(gitDir, "index")
	before, err := os.Stat(index)
	if err != nil {
		return fmt.Errorf("settle %q: %w", dir, err)
	}
	if err := waitUntil(ctx, before.ModTime().Truncate(time.Second).Add(time.Second+clockLag)); err != nil {
		return err
	}
	if err := g.refreshAside(ctx, dir, index, before); err != nil {
		return fmt.Errorf("settle %q: %w", dir, err)
	}
	return nil
}

func waitUntil(ctx context.Context, at time.Time) error {
	timer := time.NewTimer(max(time.Until(at), 0))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// refreshAside refreshes a copy of the index and puts it in place if the index is still the one that
// was copied.
func (g *Git) refreshAside(ctx context.Context, dir, index string, before os.FileInfo) (err error) {
	aside, err := os.CreateTemp(filepath.Dir(index), "carrel-index-")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(aside.Name()) }() // gone when all went well
	if err := copyInto(aside, index); err != nil {
		return err
	}
	_, err = g.run(ctx, call{dir: dir, args: []string{"update-index", "-q", "--refresh"}, offline: true,
		env: []string{"GIT_INDEX_FILE=" + aside.Name()}})
	if failed := (*Error)(nil); err != nil && !errors.As(err, &failed) { // differences are no failure
		return err
	}
	lock := index + ".lock"
	if err := os.Link(aside.Name(), lock); err != nil {
		return nil // git is at it, and will refresh it itself
	}
	now, err := os.Stat(index)
	if err != nil || !os.SameFile(before, now) || !now.ModTime().Equal(before.ModTime()) {
		return errors.Join(err, os.Remove(lock))
	}
	return os.Rename(lock, index)
}

func copyInto(to *os.File, from string) error {
	in, err := openFile(from)
	if err != nil {
		return errors.Join(err, to.Close())
	}
	_, err = io.Copy(to, in)
	return errors.Join(err, in.Close(), to.Close())
}
