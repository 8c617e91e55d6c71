package scan

import (
	"os"
	"path/filepath"
	"testing"
)

// A link in a git directory that leads out of it would be written by the next git on the host: logs are
// appended to and messages written through it.
func TestLinksThatLeaveAGitDirectoryAreFindings(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{".git/logs/refs/heads", ".git/objects/info", ".git/objects/pack", ".git/refs/heads", ".git/info", ".git/rebase-merge", ".git/worktrees/w/logs", ".git/modules/m/logs"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{".git/HEAD", ".git/modules/m/HEAD"} {
		if err := os.WriteFile(filepath.Join(root, file), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/tmp/before", filepath.Join(root, ".git/old")); err != nil {
		t.Fatal(err)
	}
	s := New(Config{Roots: []string{root}})
	before, err := s.Before(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	links := map[string]string{
		".git/logs/HEAD": "../../../.bashrc", ".git/logs/refs/heads/a": "/etc/passwd", ".git/COMMIT_EDITMSG": "../x", ".git/rebase-merge/message": "../../y",
		".git/refs/heads/a": "/etc/passwd", ".git/refs/remotes": "../../x", ".git/objects/ab": "../../x", ".git/objects/info/commit-graph": "/etc/passwd",
		".git/objects/pack/multi-pack-index": "../../../x", ".git/worktrees/other": "/srv",
		// Inside, but to what git obeys, or by a way that may itself be a link.
		".git/MERGE_MSG": "config", ".git/FETCH_HEAD": "hooks/post-merge", ".git/here": ".", ".git/TAG_EDITMSG": "objects/ab/x/config",
		".git/SQUASH_MSG":            "refs/heads/../../config",
		".git/worktrees/w/logs/HEAD": "../../../../../z", ".git/modules/m/logs/HEAD": "/x", ".git/modules/m/MERGE_MSG": "/x",
	}
	harmless := map[string]string{".git/ORIG": "refs/heads/main", ".git/logs/refs/heads/b": "../../HEAD", ".git/refs/heads/main": "../remotes/origin/main"}
	for _, list := range []map[string]string{links, harmless} {
		for name, target := range list {
			if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	report, err := s.After(t.Context(), before)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, f := range report.Findings {
		found[f.Path] = true
		if f.Kind != Redirect || f.Action != Move {
			t.Errorf("%s: %s %s", f.Path, f.Kind, f.Action)
		}
	}
	for name := range links {
		if !found[name] {
			t.Errorf("%s is not found", name)
		}
	}
	if len(found) > len(links) {
		t.Errorf("too much is found: %v", found)
	}
}

func TestLeavesCountsFoldersAndNotText(t *testing.T) {
	for _, c := range []struct {
		within, target string
		want           bool
	}{
		{"", "HEAD", false}, {"", "../x", true}, {"", "a/../..", true}, {"logs", "../HEAD", false}, {"logs", "../../x", true},
		{"logs/refs/heads", "../../../x", false}, {"logs/refs/heads", "../../../../x", true}, {"", "/x", true}, {"logs", "a/../../../.git/x", true}, {"", ".", false},
	} {
		if got := leaves(c.within, c.target); got != c.want {
			t.Errorf("%q in %q: %v", c.target, c.within, got)
		}
	}
}

// A rebase that waits to go on runs commands on the host if its list has any.
func TestRebaseThatRunsCommandsIsAFinding(t *testing.T) {
	root := t.TempDir()
	file := filepath.Join(root, ".git/rebase-merge/git-rebase-todo")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	s := New(Config{Roots: []string{root}})
	for list, want := range map[string]int{
		"pick 1234 exec x\n# exec y\n": 0, "pick 1234 a\nexec make\n": 1, "x touch y\n": 1, "": 0, "exec\n": 0, "\t exec\tmake\n": 1,
	} {
		if err := os.RemoveAll(file); err != nil {
			t.Fatal(err)
		}
		before, err := s.Before(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(list), 0o600); err != nil {
			t.Fatal(err)
		}
		report, err := s.After(t.Context(), before)
		if err != nil {
			t.Fatal(err)
		}
		if len(report.Findings) != want {
			t.Errorf("%q: %+v", list, report.Findings)
		}
	}
}
