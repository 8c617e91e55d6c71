//go:build unix

package git

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// pipe puts a fifo that nobody writes to in the place of a file.
func (r *repo) pipe(path string) {
	r.t.Helper()
	full := filepath.Join(r.root, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		r.t.Fatal(err)
	}
	_ = os.Remove(full) // it need not exist
	if err := syscall.Mkfifo(full, 0o600); err != nil {
		r.t.Fatal(err)
	}
}

func TestAPipeInTheTreeHangsNothing(t *testing.T) {
	for _, place := range []string{
		"repo/.gitignore", "repo/sub/.gitignore", "repo/.gitattributes", "repo/.git/info/exclude", "repo/.git/index",
		"repo/.git/packed-refs", "repo/.git/config", "repo/.git/HEAD", "repo/.git/refs/heads/main", "repo/.git/commondir",
		"repo/.gitmodules", "repo/.git",
	} {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			r := newCommit(t)
			other := r.path("other")
			r.git(r.root, "init", "-q", other)
			r.g.patience = 300 * time.Millisecond
			r.put("repo/sub/x", "x\n")
			if place == "repo/.git" {
				if err := os.Rename(r.path("repo/.git"), r.path("aside")); err != nil {
					t.Fatal(err)
				}
			}
			r.pipe(place)
			ctx := t.Context()
			// Twice as many as may read at once, so that the others would starve.
			for range 2 * cap(r.g.reads) {
				_, _ = r.g.State(ctx, r.dir, "main")
				_, _ = r.g.Head(ctx, r.dir)
				_, _ = r.g.Identify(ctx, r.dir)
				_, _ = r.g.Branches(ctx, r.dir)
				_, _, _ = r.g.Changes(ctx, r.dir, "", 10)
				_, _ = r.g.AtRisk(ctx, r.dir)
			}
			if _, err := r.g.State(ctx, other, ""); err != nil {
				t.Errorf("another repository: %v", err)
			}
		})
	}
}

func TestAHangingReadIsNotRepeatedAtOnce(t *testing.T) {
	r := newCommit(t)
	r.g.patience = 300 * time.Millisecond
	r.pipe("repo/.gitignore")
	if _, err := r.g.State(t.Context(), r.dir, "main"); !errors.Is(err, ErrStuck) {
		t.Fatal(err)
	}
	r.g.patience = time.Hour
	if _, err := r.g.State(t.Context(), r.dir, "main"); !errors.Is(err, ErrStuck) {
		t.Fatal(err)
	}
}

func TestAPipeInAGitFolderDoesNotStopTheWatcher(t *testing.T) {
	r := newCommit(t)
	r.git(r.root, "init", "-q", "other")
	r.pipe("evil/commondir")
	r.put("w/.git", "gitdir: "+r.path("evil")+"\n")
	r.g.patience = 300 * time.Millisecond
	got := make(chan string, 10)
	w := NewWatcher(r.g, func(key string, _ State, _ error) { got <- key })
	defer w.Close()
	w.Add("evil", r.path("w"), "")
	w.Add("good", r.path("other"), "")
	for key := range got {
		if key == "good" {
			return
		}
	}
}

func TestAHugeConfigurationIsNotRead(t *testing.T) {
	r := newCommit(t)
	if err := os.Truncate(r.path("repo/.git/config"), 5<<30); err != nil {
		t.Skip(err) // the disk knows no sparse files
	}
	if namesNothing(r.dir) {
		t.Error("a configuration that was not read is said to name nothing")
	}
}
