package git

import (
	"errors"
	"fmt"
	"maps"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// sure asks pristine. What it gives for HEAD must be git's.
func (r *repo) sure(dir string) bool {
	r.t.Helper()
	gitDir, err := gitDirAt(dir)
	if err != nil {
		r.t.Fatal(err)
	}
	head, certain := r.g.pristine(r.t.Context(), dir, gitDir)
	if head.commit != "" {
		branch, _ := r.try(dir, "symbolic-ref", "-q", "--short", "HEAD")
		if commit := r.git(dir, "rev-parse", "HEAD"); head.commit != commit || head.branch != strings.TrimSpace(branch) {
			r.t.Errorf("HEAD is %+v, not %s on %q", head, commit, branch)
		}
	}
	return certain()
}

// settledTree makes a worktree with a few folders, links and modes, whose index is older than its second.
func settledTree(t *testing.T) (r *repo, dir string) {
	t.Helper()
	r = newCommit(t)
	for path, text := range map[string]string{
		"repo/sub/deep/er/x.txt": "x\n", "repo/sub/deep/y.txt": "y\n", "repo/sub.txt": "between sub and sub/\n", "repo/sub-/z": "z\n",
		"repo/empty": "", "repo/name with spaces and \"é\"": "q\n", "repo/.gitignore": "*.log\nout/\n", "repo/run.sh": "#!/bin/sh\n",
	} {
		r.put(path, text)
	}
	if err := os.Chmod(r.path("repo/run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("sub/deep", r.path("repo/link")); err != nil {
		t.Fatal(err)
	}
	r.git(r.dir, "add", "-A")
	r.git(r.dir, "commit", "-qm", "more")
	dir = r.add("tree")
	if err := r.g.Settle(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	return r, dir
}

// age makes a checkout's index, if it has one, two seconds younger than its files, as a wait would.
func (r *repo) age(dir string) {
	r.t.Helper()
	gitDir, err := gitDirAt(dir)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := os.Chtimes(filepath.Join(gitDir, "index"), time.Time{}, time.Now().Add(2*time.Second)); err != nil && !errors.Is(err, os.ErrNotExist) {
		r.t.Fatal(err)
	}
}

// changes are ways to make a checkout something else than its commit, or its index an unusual one.
func changes(r *repo, dir string) map[string]func() error {
	all := changesOfIndex(r, dir)
	maps.Copy(all, changesOfFiles(r, dir))
	return all
}

func changesOfFiles(r *repo, dir string) map[string]func() error {
	past := time.Now().Add(-time.Hour)
	file := func(name string) string { return filepath.Join(dir, name) }
	return map[string]func() error{
		"changed file":         func() error { return os.WriteFile(file("a.txt"), []byte("other\n"), 0o644) },
		"changed, of one size": func() error { return os.WriteFile(file("sub/deep/er/x.txt"), []byte("X\n"), 0o644) },
		"changed, with old times": func() error {
			return errors.Join(os.WriteFile(file("sub/deep/y.txt"), []byte("Y\n"), 0o644), os.Chtimes(file("sub/deep/y.txt"), past, past))
		},
		"file that was empty": func() error { return os.WriteFile(file("empty"), []byte("x"), 0o644) },
		"removed file":        func() error { return os.Remove(file("sub-/z")) },
		"new file":            func() error { return os.WriteFile(file("sub/deep/er/new"), nil, 0o644) },
		"ignored file":        func() error { return os.WriteFile(file("sub/x.log"), nil, 0o644) },
		"ignored folder":      func() error { return os.MkdirAll(file("out/deep"), 0o755) },
		"empty folder":        func() error { return os.Mkdir(file("sub/deep/void"), 0o755) },
		"hidden file":         func() error { return os.WriteFile(file(".hidden"), nil, 0o644) },
		"short hidden file":   func() error { return os.WriteFile(file("sub/.a"), nil, 0o644) },
		"renamed file":        func() error { return os.Rename(file("a.txt"), file("b.txt")) },
		"renamed folder":      func() error { return os.Rename(file("sub/deep"), file("sub/depp")) },
		"mode":                func() error { return os.Chmod(file("run.sh"), 0o644) },
		"link elsewhere":      func() error { return errors.Join(os.Remove(file("link")), os.Symlink("sub/deap", file("link"))) },
		"link become file": func() error {
			return errors.Join(os.Remove(file("link")), os.WriteFile(file("link"), []byte("sub/deep"), 0o644))
		},
		"file become folder": func() error { return errors.Join(os.Remove(file("a.txt")), os.Mkdir(file("a.txt"), 0o755)) },
		"folder become link": func() error {
			return errors.Join(os.Rename(file("sub/deep"), r.path("away")), os.Symlink(r.path("away"), file("sub/deep")))
		},
		"pipe in a file's place":   func() error { return errors.Join(os.Remove(file("a.txt")), syscall.Mkfifo(file("a.txt"), 0o600)) },
		"another repository in it": func() error { r.git(dir, "init", "-q", "sub/nested"); return nil },
	}
}

func changesOfIndex(r *repo, dir string) map[string]func() error {
	file := func(name string) string { return filepath.Join(dir, name) }
	return map[string]func() error{
		"staged":         func() error { r.put("tree/a.txt", "staged\n"); r.git(dir, "add", "-A"); return nil },
		"staged removal": func() error { r.git(dir, "rm", "-q", "--cached", "a.txt"); return nil },
		"assumed unchanged": func() error {
			r.git(dir, "update-index", "--assume-unchanged", "a.txt")
			return os.WriteFile(file("a.txt"), nil, 0o644)
		},
		"skipped":            func() error { r.git(dir, "update-index", "--skip-worktree", "a.txt"); return nil },
		"meant to be added":  func() error { r.put("tree/n", "n"); r.git(dir, "add", "-N", "n"); return nil },
		"split index":        func() error { r.git(dir, "update-index", "--split-index"); return nil },
		"index of version 4": func() error { r.git(dir, "update-index", "--index-version", "4"); return nil },
		"lately written": func() error {
			info, err := os.Stat(file("a.txt"))
			return errors.Join(err, os.Chtimes(filepath.Join(r.dir, ".git/worktrees/tree/index"), time.Time{}, info.ModTime()))
		},
		"soft reset": func() error { r.git(dir, "reset", "-q", "--soft", "HEAD~"); return nil },
		"commit that is gone": func() error {
			return os.WriteFile(filepath.Join(r.dir, ".git/worktrees/tree/HEAD"), []byte(strings.Repeat("1", 40)+"\n"), 0o644)
		},
		"no index":  func() error { return os.Remove(filepath.Join(r.dir, ".git/worktrees/tree/index")) },
		"cut index": func() error { return os.Truncate(filepath.Join(r.dir, ".git/worktrees/tree/index"), 300) },
	}
}

func TestPristineIsSureOfASettledCheckoutAlone(t *testing.T) { // O-GIT-07
	r, dir := settledTree(t)
	if !r.sure(dir) {
		t.Fatal("not sure of a fresh worktree")
	}
	r.git(dir, "checkout", "-q", "--detach")
	if !r.sure(dir) {
		t.Error("not sure of a detached one")
	}
	// Each change is made to a checkout of its own. None may be missed, whatever git itself calls it.
	for name, change := range changes(r, dir) {
		head := r.git(dir, "rev-parse", "HEAD")
		if r.age(dir); !r.sure(dir) {
			t.Fatalf("%s: not sure before", name)
		}
		if err := change(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if name != "lately written" {
			r.age(dir)
		}
		if r.sure(dir) {
			t.Errorf("%s: it is sure", name)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		r.git(r.dir, "worktree", "prune")
		r.git(r.dir, "worktree", "add", "-q", "--detach", dir, head)
	}
}

func TestPristineIsNotSureOfOtherRepositories(t *testing.T) {
	r := newCommit(t)
	r.git(r.root, "init", "-q", "--object-format=sha256", "sha256")
	r.commit("sha256", "a.txt", "a\n")
	r.age(r.path("sha256"))
	if r.sure(r.path("sha256")) {
		t.Error("SHA-256: it is sure")
	}
	r.git(r.root, "init", "-q", "unborn")
	if r.sure(r.path("unborn")) {
		t.Error("unborn: it is sure")
	}
	if err := os.WriteFile(r.path("repo/.git/HEAD"), []byte("ref: refs/heads/.invalid\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, ok := headBranch(r.path("repo/.git")); ok {
		t.Error("refs in another form: it believes HEAD")
	}
}

// What pristine is sure of, git finds nothing in, after whatever happens to a checkout.
func TestPristineNeverContradictsGit(t *testing.T) { // O-GIT-07
	r, dir := settledTree(t)
	dice := rand.New(rand.NewSource(1))
	files := strings.Split(strings.TrimSuffix(r.git(dir, "ls-files", "-z"), "\x00"), "\x00")
	sure := 0
	for round := range 80 {
		name := files[dice.Intn(len(files))]
		path := filepath.Join(dir, name)
		switch dice.Intn(9) {
		case 0:
			_ = os.WriteFile(path, fmt.Appendf(nil, "round %d\n", round), 0o644)
		case 1:
			_ = os.RemoveAll(path)
		case 2:
			_ = os.WriteFile(path+".new", nil, 0o644)
		case 3:
			_ = os.Chtimes(path, time.Unix(1e9, 0), time.Unix(1e9, 0))
		case 4:
			_, _ = r.try(dir, "commit", "-qam", "round")
		case 5:
			_, _ = r.try(dir, "checkout", "-q", "-f", []string{"main", "main~", "tree"}[dice.Intn(3)])
		case 6:
			_, _ = r.try(dir, "reset", "-q", "--hard")
			_, _ = r.try(dir, "clean", "-qfdx")
		case 7:
			_, _ = r.try(dir, "add", "-A")
		case 8:
			_, _ = r.try(dir, "update-index", "-q", "--refresh")
		}
		if dice.Intn(2) == 0 {
			r.age(dir)
		}
		if !r.sure(dir) {
			continue
		}
		sure++
		if out := r.git(dir, "-c", "core.checkStat=default", "status", "--porcelain", "--ignored", "--untracked-files=all"); out != "" {
			t.Fatalf("round %d: it is sure, and git says %q", round, out)
		}
		if out := r.git(dir, "diff", "--cached", "--name-only", "HEAD"); out != "" {
			t.Fatalf("round %d: it is sure, and git says %q differ from HEAD", round, out)
		}
	}
	t.Logf("sure %d times", sure)
	if sure < 5 {
		t.Error("too seldom")
	}
}

func FuzzParseIndex(f *testing.F) {
	root := f.TempDir()
	r := &repo{t: &testing.T{}, root: root, dir: filepath.Join(root, "repo")}
	r.put("home/.gitconfig", "[user]\n\tname = A\n\temail = a@example.com\n")
	r.git(root, "init", "-q", "repo")
	r.commit("repo", "a.txt", "a\n")
	text, err := os.ReadFile(r.path("repo/.git/index"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	later := time.Now().Add(time.Hour)
	if list, tree, ok := parseIndex(string(text), later); !ok || len(list) == 0 || len(tree) != 40 {
		f.Fatalf("a sound index: %d entries, tree %q, %v", len(list), tree, ok)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		list, tree, ok := parseIndex(string(text), later)
		if ok && (len(tree) != 40 || len(list)*entryHead > len(text)) {
			t.Errorf("%d entries, tree %q of %d bytes", len(list), tree, len(text))
		}
		if folders, ok := foldersOf(list); ok && len(folders) == 0 {
			t.Error("no top")
		}
	})
}
