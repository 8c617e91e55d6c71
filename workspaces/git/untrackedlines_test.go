package git

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// sums are a checkout's line counts as State and as Changes tell them.
func (r *repo) sums(dir, base string) (s State, added, removed int) {
	r.t.Helper()
	s, err := r.g.State(r.t.Context(), dir, base)
	if err != nil {
		r.t.Fatal(err)
	}
	list, _, err := r.g.Changes(r.t.Context(), dir, base, 5000)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, c := range list {
		added, removed = added+c.Added, removed+c.Removed
	}
	return s, added, removed
}

func TestStateCountsTheLinesOfUntrackedFilesAsChangesDo(t *testing.T) {
	r := newCommit(t)
	w1 := r.add("w1")
	r.put("w1/.gitignore", "ignored/\n*.log\n")
	for path, text := range map[string]string{
		"plain": "1\n2\n", "noeol": "1\n2", "empty": "", "crlf": "1\r\n2\r\n", "binary": "1\n\x002\n", "late": strings.Repeat("x\n", 4001) + "\x00",
		"dir/a": "1\n", "dir/deep/b c\td": "1\n2\n3\n", "dir/x.log": "1\n", "ignored/a": "1\n", "dir/ignored/a": "1\n",
		"wide": strings.Repeat("y", 40_000) + "\n" + strings.Repeat("z\n", 40_000), "edge": strings.Repeat("e", 32<<10),
	} {
		r.put("w1/"+path, text)
	}
	r.git(r.root, "init", "-q", "w1/nested")
	r.put("w1/nested/a", "1\n")
	r.pipe("w1/pipe")
	if err := os.Symlink("plain", r.path("w1/link")); err != nil {
		t.Fatal(err)
	}
	for _, base := range []string{"main", ""} {
		s, added, removed := r.sums(w1, base)
		if s.Added != added || s.Removed != removed || s.Uncounted || added < 44_000 {
			t.Errorf("against %q: state +%d -%d, changes +%d -%d", base, s.Added, s.Removed, added, removed)
		}
	}
	r.put("w1/plain", "1\n2\n3\n")
	if s, added, _ := r.sums(w1, "main"); s.Added != added {
		t.Errorf("after a change: state +%d, changes +%d", s.Added, added)
	}
}

func TestStateNoticesAChangeOfTheSameSize(t *testing.T) {
	r := newCommit(t)
	old := time.Now().Add(-time.Hour)
	for i, text := range []string{"a\nb\n", "abc\n"} {
		r.put("repo/new", text)
		at := old.Add(time.Duration(i) * time.Second)
		if err := os.Chtimes(r.path("repo/new"), at, at); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if s, added, _ := r.sums(r.dir, ""); s.Added != added {
				t.Errorf("%q: state +%d, changes +%d", text, s.Added, added)
			}
		}
	}
}

func TestStateOfAnUnbornBranchCountsEverything(t *testing.T) { // O-GIT-16
	r := newRepo(t)
	r.put("repo/staged", "1\n2\n")
	r.put("repo/both", "1\n")
	r.git(r.dir, "add", "-A")
	r.put("repo/both", "1\n2\n")
	r.put("repo/loose", "1\n")
	if s, added, _ := r.sums(r.dir, ""); s.Added != added || added != 5 {
		t.Errorf("state +%d, changes +%d", s.Added, added)
	}
}

func TestTooManyUntrackedFilesAreNotCounted(t *testing.T) {
	r := newCommit(t)
	r.put("repo/a.txt", "a\nb\n")
	for i := range maxCountedFiles + 1 {
		r.put(fmt.Sprintf("repo/deps/%d", i), "x\n")
	}
	if s, err := r.g.State(t.Context(), r.dir, "main"); err != nil || !s.Uncounted || s.Added != 1 || s.Untracked != 1 {
		t.Errorf("state %+v, %v", s, err)
	}
	if err := os.Remove(r.path("repo/deps/0")); err != nil {
		t.Fatal(err)
	}
	if s, err := r.g.State(t.Context(), r.dir, "main"); err != nil || s.Uncounted || s.Added != 1+maxCountedFiles {
		t.Errorf("state %+v, %v", s, err)
	}
}
