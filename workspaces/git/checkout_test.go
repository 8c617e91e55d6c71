package git

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestMissingFilterProgramLeavesPointers(t *testing.T) { // O-GIT-04
	const lfs = "[filter \"lfs\"]\n\tprocess = git-lfs-is-not-here filter-process\n\tsmudge = git-lfs-is-not-here smudge\n\tclean = git-lfs-is-not-here clean\n\trequired = true\n"
	const pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n"
	for _, place := range []string{"home/.gitconfig", "repo/.git/config"} {
		for _, policy := range []Filters{FiltersUser, FiltersAll, FiltersNone} {
			r := newCommit(t)
			r.put("repo/.gitattributes", "*.bin filter=lfs\n")
			r.commit("repo", "x.bin", pointer)
			r.put(place, r.read(place)+lfs)
			made, err := r.g.AddTree(t.Context(), NewTree{Repo: r.dir, Dir: r.path("w1"), Branch: "w1", Create: true, Filters: policy})
			if err != nil {
				t.Fatalf("%s %v: %v", place, policy, err)
			}
			if len(made.Warnings) != 1 || !strings.Contains(made.Warnings[0], `"lfs" did not run on 1 file`) {
				t.Errorf("%s %v: warnings %q", place, policy, made.Warnings)
			}
			if got := r.read("w1/x.bin"); got != pointer {
				t.Errorf("%s %v: content %q", place, policy, got)
			}
			// A later look at the file asks for the filter again.
			r.put("w1/x.bin", pointer+"x")
			if s, err := r.g.State(t.Context(), r.path("w1"), "main"); err != nil || s.Unstaged != 1 || s.Added != 1 {
				t.Errorf("%s %v: state %+v, %v", place, policy, s, err)
			}
			if list, _, err := r.g.Changes(t.Context(), r.path("w1"), "main", 10); err != nil || len(list) != 1 || !strings.Contains(list[0].Patch, "+x\n") {
				t.Errorf("%s %v: changes %+v, %v", place, policy, list, err)
			}
		}
	}
}

func TestFailingFilterDoesNotFailCreation(t *testing.T) { // O-GIT-04
	r := newCommit(t)
	r.put("repo/.gitattributes", "*.bin filter=f\n")
	r.commit("repo", "x.bin", "stored\n")
	r.put("home/.gitconfig", r.read("home/.gitconfig")+"[filter \"f\"]\n\tsmudge = \"echo remote end hung up >&2; exit 1\"\n\tclean = cat\n\trequired = true\n")
	made, err := r.g.AddTree(t.Context(), NewTree{Repo: r.dir, Dir: r.path("w1"), Branch: "w1", Create: true})
	if err != nil || len(made.Warnings) != 1 || !strings.Contains(made.Warnings[0], "it failed") || r.read("w1/x.bin") != "stored\n" {
		t.Errorf("made %+v, %v", made, err)
	}
}

func TestFiltersRunAsTheyMay(t *testing.T) {
	const upper = "[filter \"up\"]\n\tsmudge = tr a-z A-Z\n\tclean = tr A-Z a-z\n"
	for _, c := range []struct {
		place  string
		policy Filters
		want   string
	}{
		{"home/.gitconfig", FiltersUser, "ABC\n"}, {"home/.gitconfig", FiltersNone, "abc\n"},
		{"repo/.git/config", FiltersUser, "abc\n"}, {"repo/.git/config", FiltersAll, "ABC\n"},
	} {
		r := newCommit(t)
		r.put(c.place, r.read(c.place)+upper)
		r.put("repo/.gitattributes", "*.up filter=up\n")
		r.commit("repo", "x.up", "ABC\n")
		made, err := r.g.AddTree(t.Context(), NewTree{Repo: r.dir, Dir: r.path("w1"), Branch: "w1", Create: true, Filters: c.policy})
		if got := r.read("w1/x.up"); err != nil || got != c.want || (len(made.Warnings) == 0) != (c.want == "ABC\n") {
			t.Errorf("%+v: content %q, made %+v, %v", c, got, made, err)
		}
	}
}

func TestPartialCloneIsExplainedAndNeverFetches(t *testing.T) {
	r := newCommit(t)
	r.git(r.dir, "config", "uploadpack.allowFilter", "true")
	r.commit("repo", "a.txt", "second\n")
	r.git(r.root, "clone", "-q", "--filter=blob:none", "file://"+r.dir, "partial")
	partial := r.path("partial")
	if _, err := r.g.AddTree(t.Context(), NewTree{Repo: partial, Dir: r.path("w1"), Branch: "w1", Create: true}); err != nil {
		t.Errorf("files that are here: %v", err)
	}
	_, err := r.g.AddTree(t.Context(), NewTree{Repo: partial, Dir: r.path("w2"), Branch: "w2", Base: "main~1", Create: true})
	if !errors.Is(err, ErrPartial) || exists(r.path("w2")) {
		t.Errorf("files that are not here: %v", err)
	}
}

func TestHookRunsOnlyWhenAskedAndNeverFailsCreation(t *testing.T) {
	r := newCommit(t)
	r.put("repo/.git/hooks/post-checkout", "#!/bin/sh\necho \"$3 $PWD\" >> '"+r.path("hook.log")+"'\necho broken >&2\nexit 3\n")
	if err := os.Chmod(r.path("repo/.git/hooks/post-checkout"), 0o755); err != nil {
		t.Fatal(err)
	}
	r.add("w1")
	if exists(r.path("hook.log")) {
		t.Error("the hook ran without being asked for")
	}
	made, err := r.g.AddTree(t.Context(), NewTree{Repo: r.dir, Dir: r.path("w2"), Branch: "w2", Create: true, Hooks: true})
	if err != nil || len(made.Warnings) != 1 || !strings.Contains(made.Warnings[0], "code 3: broken") {
		t.Errorf("made %+v, %v", made, err)
	}
	if got := r.read("hook.log"); got != "1 "+r.path("w2")+"\n" {
		t.Errorf("hook said %q", got)
	}
}

func TestSparseCheckoutAndOddFilesSurviveCreation(t *testing.T) {
	r := newCommit(t)
	for _, name := range oddNames {
		r.put("repo/"+name, "x\n")
	}
	if err := os.Symlink("a.txt", r.path("repo/link")); err != nil {
		t.Fatal(err)
	}
	r.put("repo/run.sh", "#!/bin/sh\n")
	if err := os.Chmod(r.path("repo/run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	r.commit("repo", "z", "z")
	w1 := r.add("w1")
	out, err := exec.Command("diff", "-r", "--no-dereference", "-x", ".git", r.dir, w1).CombinedOutput()
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
	info, err := os.Stat(filepath.Join(w1, "run.sh"))
	if err != nil || info.Mode()&0o100 == 0 {
		t.Error("not executable")
	}
}
