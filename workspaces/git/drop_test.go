package git

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// A git that refreshes the index while a worktree is forgotten must not keep its registration there.
func TestARegistrationGoesWhileSomebodyWritesInIt(t *testing.T) {
	common := t.TempDir()
	for range 50 {
		a := admin{path: filepath.Join(common, "worktrees", "w"), dir: "/gone"}
		if err := os.MkdirAll(a.path, 0o700); err != nil {
			t.Fatal(err)
		}
		var writer sync.WaitGroup
		begun := make(chan struct{})
		writer.Go(func() {
			close(begun)
			for { // until the folder is gone
				if err := os.WriteFile(filepath.Join(a.path, "index.lock"), nil, 0o600); err != nil {
					return
				}
				_ = os.Rename(filepath.Join(a.path, "index.lock"), filepath.Join(a.path, "index"))
			}
		})
		<-begun
		err := a.drop(common)
		if err != nil {
			_ = os.RemoveAll(a.path)
		}
		writer.Wait()
		if err != nil {
			t.Fatal(err)
		}
	}
}
