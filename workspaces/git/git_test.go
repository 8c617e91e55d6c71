package git

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// repo is a real repository in a temporary folder, with a home of its own.
type repo struct {
	t    *testing.T
	g    *Git
	root string // holds everything, canonical
	dir  string // the main checkout
}

func testEnv(root string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(root, "home"), "GIT_CONFIG_NOSYSTEM=1",
		"LC_ALL=C", "TMPDIR=" + root,
	}
}

func newRepo(t *testing.T) *repo {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &repo{t: t, root: root, dir: filepath.Join(root, "repo")}
	r.put("home/.gitconfig", "[user]\n\tname = A\n\temail = a@example.com\n[init]\n\tdefaultBranch = main\n[protocol \"file\"]\n\tallow = always\n")
	if r.g, err = New(Options{Env: testEnv(root)}); err != nil {
		t.Fatal(err)
	}
	r.git(root, "init", "-q", "repo")
	return r
}

// newCommit is newRepo with one commit of a.txt on main.
func newCommit(t *testing.T) *repo {
	t.Helper()
	r := newRepo(t)
	r.commit("repo", "a.txt", "a\n")
	return r
}

// put writes a file below root.
func (r *repo) put(path, text string) {
	r.t.Helper()
	full := filepath.Join(r.root, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// commit writes a file of a checkout below root and commits it; it gives the commit.
func (r *repo) commit(checkout, path, text string) string {
	r.t.Helper()
	r.put(filepath.Join(checkout, path), text)
	dir := filepath.Join(r.root, checkout)
	r.git(dir, "add", "-A")
	r.git(dir, "commit", "-q", "-m", "change "+filepath.Base(path))
	return r.git(dir, "rev-parse", "HEAD")
}

// git is the user's own git in dir: not our runner.
func (r *repo) git(dir string, args ...string) string {
	r.t.Helper()
	out, err := r.try(dir, args...)
	if err != nil {
		r.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return out
}

func (r *repo) try(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, testEnv(r.root)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if err != nil {
		return out.String() + errs.String(), err
	}
	return strings.TrimSuffix(out.String(), "\n"), nil
}

func (r *repo) path(elem ...string) string {
	return filepath.Join(append([]string{r.root}, elem...)...)
}

func (r *repo) read(path string) string {
	r.t.Helper()
	text, err := os.ReadFile(r.path(path))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(text)
}

// add makes a worktree on a new branch of the same name, below root.
func (r *repo) add(name string) string {
	r.t.Helper()
	_, err := r.g.AddTree(r.t.Context(), NewTree{Repo: r.dir, Dir: r.path(name), Branch: name, Create: true})
	if err != nil {
		r.t.Fatal(err)
	}
	return r.path(name)
}
