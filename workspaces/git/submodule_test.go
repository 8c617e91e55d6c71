package git

import (
	"os"
	"strings"
	"testing"
)

// withSubmodule adds the submodule lib (with a.txt and skill/x) and a link into it.
func withSubmodule(r *repo) {
	r.t.Helper()
	r.git(r.root, "init", "-q", "libsource")
	r.put("libsource/skill/x", "skill\n")
	r.commit("libsource", "a.txt", "lib\n")
	r.git(r.dir, "submodule", "--quiet", "add", r.path("libsource"), "lib")
	if err := os.MkdirAll(r.path("repo/.claude/skills"), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.Symlink("../../lib/skill", r.path("repo/.claude/skills/x")); err != nil {
		r.t.Fatal(err)
	}
	r.git(r.dir, "add", "-A")
	r.git(r.dir, "commit", "-q", "-m", "add lib")
}

func TestAddTreeFillsSubmodulesOffline(t *testing.T) { // O-GIT-01
	r := newCommit(t)
	withSubmodule(r)
	// The only copy left is the one in .git/modules.
	if err := os.RemoveAll(r.path("libsource")); err != nil {
		t.Fatal(err)
	}
	w1 := r.add("w1")
	if got := r.read("w1/lib/a.txt") + r.read("w1/.claude/skills/x/x"); got != "lib\nskill\n" {
		t.Errorf("content %q", got)
	}
	if out := r.git(w1, "status", "--porcelain"); out != "" {
		t.Errorf("status %q", out)
	}
	if out := r.git(w1, "submodule", "status"); !strings.HasPrefix(out, " ") {
		t.Errorf("submodule status %q", out)
	}
	if url := r.git(r.path("w1/lib"), "config", "remote.origin.url"); url != r.path("libsource") {
		t.Errorf("fetches from %q", url)
	}
	if err := r.g.MoveTree(t.Context(), r.dir, w1, r.path("deep/er/w2")); err == nil {
		t.Error("moved below a folder that is not there")
	}
	if err := r.g.MoveTree(t.Context(), r.dir, w1, r.path("home/w2")); err != nil {
		t.Fatal(err)
	}
	if out := r.git(r.path("home/w2"), "status", "--porcelain") + r.git(r.path("home/w2/lib"), "rev-parse", "--show-toplevel"); out != r.path("home/w2/lib") {
		t.Errorf("after the move: %q", out)
	}
}

func TestMoveTreeKeepsSubmodulesThatGitFilled(t *testing.T) {
	r := newCommit(t)
	withSubmodule(r)
	r.git(r.dir, "worktree", "add", "-q", "-b", "w1", r.path("w1"))
	r.git(r.path("w1"), "submodule", "--quiet", "update", "--init")
	if err := os.Mkdir(r.path("deep"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := r.g.MoveTree(t.Context(), r.dir, r.path("w1"), r.path("deep/w2")); err != nil {
		t.Fatal(err)
	}
	if out := r.git(r.path("deep/w2"), "status", "--porcelain") + r.git(r.path("deep/w2/lib"), "rev-parse", "--show-toplevel"); out != r.path("deep/w2/lib") {
		t.Errorf("after the move: %q", out)
	}
}

func TestAddTreeWarnsOfSubmoduleThatIsNotHere(t *testing.T) { // O-GIT-01
	r := newCommit(t)
	withSubmodule(r)
	r.git(r.dir, "submodule", "--quiet", "deinit", "-f", "lib")
	if err := os.RemoveAll(r.path("repo/.git/modules")); err != nil {
		t.Fatal(err)
	}
	made, err := r.g.AddTree(t.Context(), NewTree{Repo: r.dir, Dir: r.path("w1"), Branch: "w1", Create: true})
	if err != nil || len(made.Warnings) != 1 || !strings.Contains(made.Warnings[0], `"lib"`) {
		t.Errorf("made %+v, %v", made, err)
	}
	if out := r.git(r.path("w1"), "status", "--porcelain"); out != "" {
		t.Errorf("status %q", out)
	}
}

func TestSubmoduleFromAnotherCommitOfSpare(t *testing.T) {
	r := newCommit(t)
	withSubmodule(r)
	if err := r.g.PrepareSpare(t.Context(), r.dir, r.path("spare")); err != nil {
		t.Fatal(err)
	}
	lib := r.commit("repo/lib", "a.txt", "newer\n")
	r.git(r.dir, "commit", "-q", "-am", "newer lib")
	made, err := r.g.AddTree(t.Context(), NewTree{Repo: r.dir, Dir: r.path("w1"), Branch: "w1", Create: true, Spare: r.path("spare")})
	if err != nil || !made.FromSpare {
		t.Fatalf("made %+v, %v", made, err)
	}
	// The newer commit is only in the main checkout's module; the spare's clone is older.
	if len(made.Warnings) > 0 || r.git(r.path("w1/lib"), "rev-parse", "HEAD") != lib {
		t.Errorf("warnings %q", made.Warnings)
	}
}

func TestSubmodulePathsCannotLeadOut(t *testing.T) {
	for _, p := range []string{"", "/x", "../x", "a/../../x", "a//b", "./a", ".git/x", "a/.GIT", "-x", "a\nb"} {
		if safeRelative(p) {
			t.Errorf("%q is taken for safe", p)
		}
	}
	if !safeRelative("third_party/lib-a b") {
		t.Error("a usual path is refused")
	}
}
