package desktop

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"carrel/app/attach"
	"carrel/store"
)

// The times of a second start: how long it waits for the first window to be there, and how often it
// looks.
const (
	claimWait = 20 * time.Second
	claimPoll = 20 * time.Millisecond
)

// claim makes this process the root's window. When there is one already it hands over the folders,
// brings that window to the front and returns a nil lock. Two that start at once agree by the lock.
func claim(ctx context.Context, root *store.Root, folders []string) (*store.Lock, error) {
	ctx, cancel := context.WithTimeout(ctx, claimWait)
	defer cancel()
	for {
		lock, err := root.LockWindow()
		var held *store.LockedError
		if !errors.As(err, &held) {
			return lock, err
		}
		handed, err := handOver(ctx, root, folders)
		if handed || err != nil {
			return nil, err
		}
		timer := time.NewTimer(claimPoll)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, fmt.Errorf("hand over to the window of process %d: it does not answer", held.PID)
		}
	}
}

// handOver reports whether the first window came to the front. Its folders go out once, after that.
func handOver(ctx context.Context, root *store.Root, folders []string) (bool, error) {
	core, err := attach.Find(ctx, root)
	if err != nil {
		return false, nil // the first window is still starting it
	}
	opened, err := core.Open(ctx, nil)
	if err != nil || !opened.Window {
		return false, nil // the first window is not attached yet, or is ending
	}
	if len(folders) == 0 {
		return true, nil
	}
	if _, err := core.Open(ctx, folders); err != nil {
		return true, fmt.Errorf("hand over the folders: %w", err)
	}
	return true, nil
}

// folders returns the folders among the arguments as absolute paths, and complains of the rest.
func folders(args []string) (found []string, complaints []string) {
	for _, arg := range args {
		path, err := filepath.Abs(arg)
		if err == nil {
			var info os.FileInfo
			if info, err = os.Stat(path); err == nil && !info.IsDir() {
				err = errors.New("it is no folder")
			}
		}
		if err != nil {
			complaints = append(complaints, fmt.Sprintf("can't open %s: %v", arg, err))
			continue
		}
		found = append(found, path)
	}
	return found, complaints
}
