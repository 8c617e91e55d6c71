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
	p, n := d.add(repo), 0
	next := func() string { n++; return fmt.Sprintf("w%d", n) }
	create := func() Workspace { return d.make(NewWorkspace{ProjectID: p.ID, Name: next()}) }
	ready := func() { d.spareReady(p) }
	nothing := func() {}

	var tree string
	addTree := func() {
		tree = filepath.Join(repo, "..", next())
		d.git(repo, "worktree", "add", "-q", "-b", filepath.Base(tree), tree)
	}
	measure(b, "git worktree add", nothing, addTree)
	measure(b, "git worktree remove", addTree, func() { d.git(repo, "worktree", "remove", tree) })
	measure(b, "create first", func() {
		d.jobs.wait(sparesKey)
		if err := d.dropSpare(b.Context(), p); err != nil {
			b.Fatal(err)
		}
	}, func() { create() })
	measure(b, "create with spare", ready, func() { create() })
	var w Workspace
	measure(b, "delete", func() { w = create(); ready() }, func() {
		if err := d.Delete(b.Context(), w.ID, "", false); err != nil {
			b.Fatal(err)
		}
	})
	w = create()
	measure(b, "check", nothing, func() {
		if h := d.Check(b.Context(), w); h.State != HealthReady {
			b.Fatal(h)
		}
	})
}

// measure times work, each time after an untimed preparation.
func measure(b *testing.B, name string, prepare, work func()) {
	b.Run(name, func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			prepare()
			b.StartTimer()
			work()
		}
	})
}
