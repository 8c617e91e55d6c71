package git

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
)

// countStatus is the user's own git status, counted as State counts.
func countStatus(r *repo, dir string) (staged, unstaged, untracked, conflicts int) {
	out := r.git(dir, "status", "--porcelain=v2", "-z")
	records := strings.Split(out, "\x00")
	for i := 0; i < len(records); i++ {
		switch line := records[i]; {
		case strings.HasPrefix(line, "?"):
			untracked++
		case strings.HasPrefix(line, "u"):
			conflicts++
		case strings.HasPrefix(line, "1"), strings.HasPrefix(line, "2"):
			if line[2] != '.' {
				staged++
			}
			if line[3] != '.' {
				unstaged++
			}
			if line[0] == '2' {
				i++
			}
		}
	}
	return
}

var oddNames = []string{"文档/读我 1.txt", "a b.txt", "tab\tx.txt", "new\nline.txt", `quote".txt`, `back\slash`, "-dash", "ü/ö.txt", " lead", "trail "}

func TestStateEqualsGitStatus(t *testing.T) { // O-GIT-25, O-GIT-10
	r := newCommit(t)
	for _, name := range oddNames {
		r.put("repo/"+name, "one\ntwo\nthree\nfour\n"+name)
	}
	r.commit("repo", "z.txt", "z\n")
	w1 := r.add("w1")
	check := func(step string) {
		t.Helper()
		s, err := r.g.State(t.Context(), w1, "main")
		if err != nil {
			t.Fatalf("%s: %v", step, err)
		}
		staged, unstaged, untracked, conflicts := countStatus(r, w1)
		if s.Staged != staged || s.Unstaged != unstaged || s.Untracked != untracked || s.Conflicts != conflicts {
			t.Errorf("%s: state %+v, git says %d %d %d %d", step, s, staged, unstaged, untracked, conflicts)
		}
		added, removed := 0, 0
		for _, line := range strings.Split(r.git(w1, "diff", "--numstat", r.git(w1, "merge-base", "HEAD", "main")), "\n") {
			var a, d int
			if n, _ := fmt.Sscanf(line, "%d\t%d", &a, &d); n == 2 {
				added, removed = added+a, removed+d
			}
		}
		changes, more, err := r.g.Changes(t.Context(), w1, "main", 1000)
		sumAdded, sumRemoved := 0, 0
		for _, c := range changes {
			sumAdded, sumRemoved = sumAdded+c.Added, sumRemoved+c.Removed
			if c.Status == "?" {
				added += c.Added
			}
		}
		if err != nil || more > 0 || s.Added != added || s.Removed != removed || added != sumAdded || removed != sumRemoved {
			t.Errorf("%s: lines +%d -%d, git says +%d -%d, the changes +%d -%d %v", step, s.Added, s.Removed, added, removed, sumAdded, sumRemoved, err)
		}
	}
	check("clean")
	for _, name := range oddNames {
		r.put("w1/"+name, "changed\n")
	}
	check("all changed")
	r.git(w1, "add", "--", ":(literal)"+oddNames[0])
	r.put("w1/"+oddNames[0], "changed again\n")
	r.put("w1/untracked/a\tb\nc", "x")
	check("staged and changed, untracked folder")
	r.git(w1, "commit", "-q", "-am", "work")
	check("committed")
	r.git(w1, "mv", "--", oddNames[2], "renamed\ttab\n.txt")
	check("renamed")
	r.commit("repo", "main.txt", "main moved\n")
	check("base moved")
	r.git(w1, "rm", "-q", "--cached", "--", oddNames[1])
	if err := os.Remove(filepath.Join(w1, "z.txt")); err != nil {
		t.Fatal(err)
	}
	check("removed")
}

func TestStateNamesWhatIsInProgress(t *testing.T) {
	r := newCommit(t)
	w1 := r.add("w1")
	r.commit("w1", "a.txt", "theirs\n")
	r.commit("repo", "a.txt", "ours\n")
	for _, c := range []struct{ start, abort, want string }{
		{"merge main", "merge --abort", "merge"}, {"rebase main", "rebase --abort", "rebase"},
		{"cherry-pick main", "cherry-pick --abort", "cherry-pick"}, {"bisect start", "bisect reset", "bisect"},
	} {
		_, _ = r.try(w1, strings.Fields(c.start)...) // it stops at the conflict
		s, err := r.g.State(t.Context(), w1, "main")
		if err != nil || s.InProgress != c.want || c.want != "bisect" && s.Conflicts != 1 {
			t.Errorf("%s: %+v, %v", c.start, s, err)
		}
		// While a rebase is under way its branch is still taken.
		_, err = r.g.AddTree(t.Context(), NewTree{Repo: r.dir, Dir: r.path("w2"), Branch: "w1"})
		if held := (*HeldError)(nil); !errors.As(err, &held) || held.Dir != w1 {
			t.Errorf("%s: %v", c.start, err)
		}
		r.git(w1, strings.Fields(c.abort)...)
	}
}

func TestStateReportsMissingBaseAndKeepsTheRest(t *testing.T) { // O-GIT-21
	r := newCommit(t)
	w1 := r.add("w1")
	r.put("w1/new", "")
	s, err := r.g.State(t.Context(), w1, "gone")
	var missing *NoSuchRefError
	if !errors.As(err, &missing) || missing.Ref != "gone" || s.Branch != "w1" || s.Untracked != 1 {
		t.Errorf("state %+v, %v", s, err)
	}
}

func TestStateLeavesIndexAlone(t *testing.T) { // O-GIT-08
	r := newCommit(t)
	index := r.path("repo/.git/index")
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(r.path("repo/a.txt"), old, old); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(index)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := r.g.State(t.Context(), r.dir, "main"); err != nil || s.Dirty() {
		t.Errorf("state %+v, %v", s, err)
	}
	if list, _, err := r.g.Changes(t.Context(), r.dir, "", 10); err != nil || len(list) != 0 {
		t.Errorf("changes %+v, %v", list, err)
	}
	if _, err := r.g.Read(t.Context(), r.dir, "diff"); err != nil {
		t.Error(err)
	}
	after, err := os.Stat(index)
	if err != nil || !after.ModTime().Equal(before.ModTime()) || !os.SameFile(before, after) {
		t.Error("the index was written")
	}
}

func TestCommitsNeverMeetALockWhileStateIsRead(t *testing.T) { // O-GIT-08
	r := newCommit(t)
	stop := make(chan struct{})
	ended := make(chan int)
	go func() {
		n := 0
		for {
			select {
			case <-stop:
				ended <- n
				return
			default:
			}
			_, _ = r.g.State(t.Context(), r.dir, "main")
			_, _, _ = r.g.Changes(t.Context(), r.dir, "", 10)
			n++
		}
	}()
	for i := range 60 {
		r.put("repo/a.txt", fmt.Sprint(i))
		r.git(r.dir, "commit", "-q", "-am", "x")
	}
	close(stop)
	if n := <-ended; n == 0 {
		t.Error("no state was read meanwhile")
	}
}

func TestLinkedWorktreeBeforeAndAfterGC(t *testing.T) { // O-GIT-09
	r := newCommit(t)
	r.git(r.dir, "clone", "-q", "--bare", ".", r.path("remote.git"))
	r.git(r.dir, "remote", "add", "origin", r.path("remote.git"))
	r.git(r.dir, "fetch", "-q", "origin")
	w1 := r.add("w1")
	want := r.commit("w1", "b.txt", "b\n")
	for _, step := range []string{"loose", "packed"} {
		h, err := r.g.Head(t.Context(), w1)
		if err != nil || h.Commit != want || h.Branch != "w1" || h.Subject != "change b.txt" {
			t.Errorf("%s: head %+v, %v", step, h, err)
		}
		oracle, err := gogit.PlainOpenWithOptions(w1, &gogit.PlainOpenOptions{EnableDotGitCommonDir: true})
		if err != nil {
			t.Fatal(err)
		}
		head, err := oracle.Head()
		if err != nil || head.Hash().String() != h.Commit || head.Name().Short() != h.Branch {
			t.Errorf("%s: go-git's head %v, %v", step, head, err)
		}
		branches, err := r.g.Branches(t.Context(), w1)
		if err != nil || len(branches) != 3 {
			t.Errorf("%s: branches %+v, %v", step, branches, err)
		}
		for _, b := range branches {
			name := plumbing.NewBranchReferenceName(b.Name)
			if b.Remote {
				name = plumbing.ReferenceName("refs/remotes/" + b.Name)
			}
			if ref, err := oracle.Reference(name, true); err != nil || ref.Hash().String() != b.Commit {
				t.Errorf("%s: go-git's %s is %v, %v", step, name, ref, err)
			}
			if held := map[string]string{"main": r.dir, "w1": w1}[b.Name]; b.HeldBy != held {
				t.Errorf("%s: %s is held by %q", step, b.Name, b.HeldBy)
			}
		}
		r.git(r.dir, "gc", "-q")
	}
}

func TestMergedSeesThroughSquashAndRebase(t *testing.T) { // O-GIT-06
	r := newCommit(t)
	f := r.add("f")
	check := func(step string, want bool) {
		t.Helper()
		if got, err := r.g.Merged(t.Context(), f, "main"); err != nil || got != want {
			t.Errorf("%s: merged %v, %v", step, got, err)
		}
	}
	check("no commit yet", true)
	r.commit("f", "b.txt", "1\n2\n3\n")
	r.commit("f", "c.txt", "c\n")
	check("two commits", false)
	r.commit("repo", "other.txt", "x\n")
	check("base moved", false)
	r.git(r.dir, "merge", "-q", "--squash", "f")
	r.git(r.dir, "commit", "-q", "-m", "squashed")
	check("squashed", true)
	r.commit("repo", "b.txt", "later\n")
	check("squashed, then changed", true)
	r.commit("f", "b.txt", "1\n2\n3\n4\n")
	check("more work", false)
	g := r.add("g")
	r.commit("g", "g1.txt", "1\n")
	r.commit("g", "g2.txt", "2\n")
	r.commit("repo", "other.txt", "y\n")
	r.git(r.dir, "cherry-pick", "g~1", "g")
	if got, err := r.g.Merged(t.Context(), g, "main"); err != nil || !got {
		t.Errorf("rebased: %v, %v", got, err)
	}
}
