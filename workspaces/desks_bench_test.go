package workspaces

import (
	"fmt"
	"path/filepath"
	"testing"
)

// The sizes of the repository on which creation and deletion are promised to be fast.
const (
	benchFiles   = 20_000
	benchFolders = 2_000
)

func (b *bench) bigRepo() string {
	dir := b.repo("big")
	for i := range benchFiles {
		b.write(filepath.Join(dir, fmt.Sprintf("d%d/e%d/f%d.txt", i%20, i%benchFolders, i)), fmt.Sprintf("file %d\n%0600d\n", i, i))
	}
	b.commit(dir, "many files")
	return dir
}

// BenchmarkWorkspace compares creating and deleting with git's own worktree commands. Run it with
// -benchtime 5x.
func BenchmarkWorkspace(b *testing.B) {
	d := newBench(b)
	repo := d.bigRepo()
	p := d.add(repo)
	n := 0
	next := func() string { n++; return fmt.Sprintf("w%d", n) }
	b.Run("git worktree add", func(b *testing.B) {
		for b.Loop() {
			name := next()
			d.git(repo, "worktree", "add", "-q", "-b", name, filepath.Join(repo, "..", name))
		}
	})
	b.Run("git worktree remove", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			name := next()
			dir := filepath.Join(repo, "..", name)
			d.git(repo, "worktree", "add", "-q", "-b", name, dir)
			b.StartTimer()
			d.git(repo, "worktree", "remove", dir)
		}
	})
	create := func(b *testing.B) Workspace {
		w, err := d.Create(b.Context(), NewWorkspace{ProjectID: p.ID, Name: next()})
		if err != nil {
			b.Fatal(err)
		}
		return w
	}
	b.Run("create first", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			d.jobs.wait(sparesKey)
			if err := d.dropSpare(b.Context(), p); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
			create(b)
			b.StopTimer()
			d.jobs.wait(sparesKey)
			b.StartTimer()
		}
	})
	b.Run("create with spare", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			d.spareReady(p)
			b.StartTimer()
			create(b)
		}
	})
	b.Run("delete", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			w := create(b)
			d.spareReady(p)
			b.StartTimer()
			if err := d.Delete(b.Context(), w.ID, "", false); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("check", func(b *testing.B) {
		w := create(b)
		for b.Loop() {
			if h := d.Check(b.Context(), w); h.State != HealthReady {
				b.Fatal(h)
			}
		}
	})
}
