package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestChangesShowTrueNames(t *testing.T) { // O-GIT-10
	r := newCommit(t)
	for _, name := range oddNames {
		r.put("repo/"+name, strings.Repeat("line\n", 20)+strings.ReplaceAll(name, "\n", " ")+"\n")
	}
	r.commit("repo", "z", "z\n")
	w1 := r.add("w1")
	r.git(w1, "mv", "--", oddNames[0], "新\t名.txt")
	for _, name := range oddNames[1:] {
		r.put("w1/"+name, strings.Repeat("line\n", 20)+"other\n")
		r.put("w1/new/"+name, "fresh\n")
	}
	list, more, err := r.g.Changes(t.Context(), w1, "main", 1000)
	if err != nil || more != 0 {
		t.Fatal(err, more)
	}
	got := map[string]Change{}
	for _, c := range list {
		got[c.Path] = c
	}
	if c := got["新\t名.txt"]; c.Status != "R" || c.OldPath != oddNames[0] || !strings.Contains(c.Patch, "rename from") {
		t.Errorf("renamed: %+v", c)
	}
	for _, name := range oddNames[1:] {
		if c := got[name]; c.Status != "M" || c.Added != 1 || c.Removed != 1 || !strings.Contains(c.Patch, "+other\n") {
			t.Errorf("%q: %+v", name, c)
		}
		if c := got["new/"+name]; c.Status != "?" || c.Added != 1 || !strings.HasSuffix(c.Patch, "\n@@ -0,0 +1 @@\n+fresh\n") {
			t.Errorf("new %q: %+v", name, c)
		}
	}
	if len(list) != 2*len(oddNames)-1 {
		t.Errorf("%d changes", len(list))
	}
	// The patches are whole: they turn the base into the work tree.
	var patch strings.Builder
	for _, c := range list {
		patch.WriteString(c.Patch)
	}
	r.put("all.patch", patch.String())
	r.git(r.dir, "apply", "--index", r.path("all.patch"))
	r.git(w1, "add", "-A")
	if a, b := r.git(r.dir, "write-tree"), r.git(w1, "write-tree"); a != b {
		t.Error("the patches give another tree")
	}
}

// everyKind makes a worktree with changes of every kind.
func everyKind(t *testing.T) (r *repo, w1 string) {
	t.Helper()
	r = newCommit(t)
	r.put("repo/gone.txt", "gone\n")
	r.put("repo/mode.sh", "x\n")
	r.put("repo/type", "x\n")
	r.put("repo/bin", "a\x00b")
	r.put("repo/big.txt", "small\n")
	r.commit("repo", "touched.txt", "same\n")
	w1 = r.add("w1")
	big := strings.Repeat("a long line of text\n", 10000)
	for _, err := range []error{
		os.Remove(r.path("w1/gone.txt")), os.Chmod(r.path("w1/mode.sh"), 0o755), os.Remove(r.path("w1/type")),
		os.Symlink("a.txt", r.path("w1/type")), os.Symlink("/etc/passwd", r.path("w1/link")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for path, text := range map[string]string{
		"bin": "a\x00c", "big.txt": big, "newbig.txt": big, "newbin": "\x00", "empty": "", "noeol": "x\ny", "longline": strings.Repeat("x", 100<<10),
	} {
		r.put("w1/"+path, text)
	}
	return r, w1
}

func TestChangesOfEveryKind(t *testing.T) {
	r, w1 := everyKind(t)
	list, _, err := r.g.Changes(t.Context(), w1, "", 100)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]Change{}
	for _, c := range list {
		if len(c.Patch) > maxPatch {
			t.Errorf("%s: patch of %d bytes", c.Path, len(c.Patch))
		}
		c.Patch = map[bool]string{true: "patch"}[c.Patch != ""]
		got[c.Path] = c
	}
	for _, want := range []Change{
		{Path: "gone.txt", Status: "D", Removed: 1, Patch: "patch"},
		{Path: "mode.sh", Status: "M", Patch: "patch"},
		{Path: "type", Status: "T", Added: 1, Removed: 1, Patch: "patch"},
		{Path: "bin", Status: "M", Binary: true},
		{Path: "big.txt", Status: "M", Added: 10000, Removed: 1, Patch: "patch", Cut: true},
		{Path: "newbig.txt", Status: "?", Added: 10000, Patch: "patch", Cut: true},
		{Path: "newbin", Status: "?", Binary: true},
		{Path: "empty", Status: "?", Patch: "patch"},
		{Path: "noeol", Status: "?", Added: 2, Patch: "patch"},
		{Path: "longline", Status: "?", Added: 1, Patch: "patch", Cut: true},
		{Path: "link", Status: "?", Added: 1, Patch: "patch"},
	} {
		if got[want.Path] != want {
			t.Errorf("%+v, want %+v", got[want.Path], want)
		}
		delete(got, want.Path)
	}
	if len(got) > 0 {
		t.Errorf("also %+v", got)
	}
}

func TestChangesAreLimited(t *testing.T) {
	r, w1 := everyKind(t)
	list, _, err := r.g.Changes(t.Context(), w1, "", 100)
	if err != nil {
		t.Fatal(err)
	}
	for limit, want := range map[int]int{0: 0, 3: 3, 7: 7} {
		some, more, err := r.g.Changes(t.Context(), w1, "", limit)
		if err != nil || len(some) != want || more != len(list)-want {
			t.Errorf("limit %d: %d and %d more, %v", limit, len(some), more, err)
		}
		for i, c := range some {
			if c != list[i] {
				t.Errorf("limit %d: %+v, want %+v", limit, c, list[i])
			}
		}
	}
}

func TestChangesOfConflictAndUnbornBranch(t *testing.T) {
	r := newCommit(t)
	w1 := r.add("w1")
	r.commit("w1", "a.txt", "theirs\n")
	r.commit("repo", "a.txt", "ours\n")
	_, _ = r.try(w1, "merge", "main") // it conflicts
	list, _, err := r.g.Changes(t.Context(), w1, "", 10)
	if err != nil || len(list) != 1 || list[0].Status != "U" || !strings.Contains(list[0].Patch, "+<<<<<<<") {
		t.Errorf("%+v, %v", list, err)
	}
	u := newRepo(t)
	u.put("repo/a", "a\n")
	u.git(u.dir, "add", "a")
	list, _, err = u.g.Changes(t.Context(), u.dir, "main", 10)
	if err != nil || len(list) != 1 || list[0].Status != "A" {
		t.Errorf("unborn: %+v, %v", list, err)
	}
}

func TestAtRiskListsWhatExistsNowhereElse(t *testing.T) { // O-GIT-05
	r := newCommit(t)
	withSubmodule(r)
	w1 := r.add("w1")
	risk := func(want [3]int) Risk {
		t.Helper()
		got, err := r.g.AtRisk(t.Context(), w1)
		if err != nil || got.Counts != want || got.Unknown != "" {
			t.Errorf("risk %+v, %v, want %v", got, err, want)
		}
		return got
	}
	risk([3]int{})
	r.commit("w1", "b.txt", "b\n")
	r.put("w1/a.txt", "edited\n")
	for _, name := range oddNames {
		r.put("w1/u/"+name, "x")
	}
	if got := risk([3]int{1, len(oddNames), 1}); got.Changed[0] != "a.txt" || !strings.HasSuffix(got.Commits[0], " change b.txt") {
		t.Errorf("risk %+v", got)
	}
	r.git(r.dir, "branch", "saved", "w1")
	risk([3]int{1, len(oddNames), 0})
	r.commit("w1/lib", "a.txt", "only in the submodule\n")
	r.put("w1/lib/new", "x")
	got := risk([3]int{2, len(oddNames) + 1, 1}) // the moved submodule is a change
	if !strings.HasPrefix(got.Commits[0], "lib/") || got.Untracked[len(got.Untracked)-1] != "lib/new" {
		t.Errorf("risk %+v", got)
	}
	if err := os.RemoveAll(filepath.Join(w1, "lib")); err != nil {
		t.Fatal(err)
	}
	for i := range 60 {
		r.put(filepath.Join("w1", "many", string(rune('a'+i%26))+string(rune('a'+i/26))), "x")
	}
	if got, err := r.g.AtRisk(t.Context(), w1); err != nil || len(got.Untracked) != maxNamed || got.Counts[1] != len(oddNames)+60 {
		t.Errorf("risk %v, %v", got.Counts, err)
	}
}
