package workspaces

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"carrel/store"
	"carrel/workspaces/git"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is a Desks on a data root of its own, with what it told.
type bench struct {
	*Desks
	t    testing.TB
	env  []string
	mu   sync.Mutex
	told []Event
	more chan struct{} // closed and replaced at each event
}

// testEnv is an environment that reaches nothing of the machine's user.
func testEnv(t testing.TB) []string {
	home := filepath.Join(realTemp(t), "home")
	if err := os.MkdirAll(home, 0o755); err != nil {
		t.Fatal(err)
	}
	return []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com"}
}

// realTemp is a temporary folder under its true name.
func realTemp(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func newBench(t testing.TB) *bench {
	t.Helper()
	if test, ok := t.(*testing.T); ok {
		test.Parallel()
	}
	return openBench(t, filepath.Join(realTemp(t), "root"), testEnv(t))
}

// openBench opens a Desks on a data root that may exist, as another process would.
func openBench(t testing.TB, dir string, env []string) *bench {
	t.Helper()
	root, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	db, err := root.DB(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	g, err := git.New(git.Options{Env: env})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, env: env, more: make(chan struct{})}
	b.Desks = New(Options{Root: root, Git: g, Registry: NewRegistry(db), Env: env, Events: b.hear})
	t.Cleanup(func() {
		if err := errors.Join(b.Close(), root.Close()); err != nil {
			t.Error(err)
		}
	})
	return b
}

func (b *bench) hear(e Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.told = append(b.told, e)
	close(b.more)
	b.more = make(chan struct{})
}

// await waits for an event that fits, among those told before too.
func (b *bench) await(what string, fits func(Event) bool) Event {
	b.t.Helper()
	deadline := time.After(60 * time.Second)
	for next := 0; ; {
		b.mu.Lock()
		news, more := b.told[next:], b.more
		b.mu.Unlock()
		for _, e := range news {
			if fits(e) {
				return e
			}
		}
		next += len(news)
		select {
		case <-more:
		case <-deadline:
			b.t.Fatalf("waited in vain for %s; notes so far: %q", what, b.notes())
		}
	}
}

// notes are all sentences told so far.
func (b *bench) notes() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []string
	for _, e := range b.told {
		all = append(all, e.Notes...)
	}
	return strings.Join(all, "\n")
}

func (b *bench) add(path string) Project {
	b.t.Helper()
	p, err := b.AddProject(b.t.Context(), path, "")
	if err != nil {
		b.t.Fatal(err)
	}
	return p
}

func (b *bench) trust(p Project) {
	b.t.Helper()
	if _, err := b.SetTrust(b.t.Context(), p.ID, true); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) make(n NewWorkspace) Workspace {
	b.t.Helper()
	w, err := b.Create(b.t.Context(), n)
	if err != nil {
		b.t.Fatal(err)
	}
	return w
}

// git runs git as the person would and returns what it printed.
func (b *bench) git(dir string, args ...string) string {
	b.t.Helper()
	return runGit(b.t, b.env, dir, args...)
}

func runGit(t testing.TB, env []string, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(context.Background(), "git", args...)
	cmd.Dir, cmd.Env = dir, env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q in %s: %v\n%s", args, dir, err, out)
	}
	return strings.TrimSpace(string(out))
}

// repo makes a repository on the branch main with one commit.
func (b *bench) repo(name string) string {
	b.t.Helper()
	dir := filepath.Join(realTemp(b.t), name)
	b.write(filepath.Join(dir, "a.txt"), "a\n")
	b.git(dir, "init", "-q", "-b", "main")
	b.commit(dir, "first")
	return dir
}

func (b *bench) commit(dir, message string) {
	b.t.Helper()
	b.git(dir, "add", "-A")
	b.git(dir, "commit", "-q", "--allow-empty", "-m", message)
}

func (b *bench) write(path, text string) { b.writeMode(path, text, 0o644) }

func (b *bench) script(path, text string) { b.writeMode(path, "#!/bin/sh\n"+text, 0o755) }

func (b *bench) writeMode(path, text string, mode os.FileMode) {
	b.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) read(path string) string {
	b.t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		b.t.Fatal(err)
	}
	return string(text)
}

// refused wants err to be a Refusal with that code and a sentence.
func refused(t testing.TB, err error, code Code) Refusal {
	t.Helper()
	var r *Refusal
	if !errors.As(err, &r) || r.Code != code || r.Message == "" {
		t.Fatalf("got %#v (%v), want the refusal %s", err, err, code)
	}
	return *r
}

func initEnded(id string) func(Event) bool {
	return func(e Event) bool {
		return e.Workspace != nil && e.Workspace.ID == id && e.InitOutput == "" && e.Notes == nil &&
			(e.Workspace.Init == InitDone || e.Workspace.Init == InitFailed)
	}
}
