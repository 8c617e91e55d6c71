package sandbox

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"carrel/sandbox/plan"
	"carrel/sandbox/policy"
)

// machine is probed once for all tests of a process.
var machine = sync.OnceValues(func() (Status, error) {
	root, err := os.MkdirTemp("", "probe-")
	if err != nil {
		return Status{}, err
	}
	defer func() { _ = os.RemoveAll(root) }()
	if err := os.Mkdir(filepath.Join(root, "run"), 0o700); err != nil {
		return Status{}, err
	}
	return Probe(context.Background(), ProbeConfig{Root: root, Program: testHelper(), OldBwrap: true})
})

// place is one workspace for a test: a home with a project in it, and a box.
type place struct {
	*Box
	home, project, outside string
	policy                 policy.Policy
	ctx                    context.Context
}

// open makes a place; edit changes the policy or the configuration.
func open(t *testing.T, tier plan.Tier, edit func(*policy.Policy, *Config)) *place {
	t.Helper()
	status, err := machine()
	if err != nil {
		t.Fatal(err)
	}
	before := goleak.IgnoreCurrent()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l := &place{home: filepath.Join(base, "home"), outside: filepath.Join(base, "home", "outside")}
	l.project = filepath.Join(l.home, "project")
	private := filepath.Join(l.home, ".carrel", "sandbox", "w1")
	for _, d := range []string{l.outside, l.project + "/.git/hooks", l.project + "/.git/objects", l.project + "/.git/refs", private, l.home + "/.ssh"} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	writeFile(t, l.project+"/.git/config", "[core]\n\tbare = false\n")
	writeFile(t, l.project+"/.git/HEAD", "ref: refs/heads/main\n")
	writeFile(t, l.home+"/.ssh/id_ed25519", "SECRET")
	writeFile(t, l.outside+"/victim", "safe\n")
	l.policy = policy.Defaults(l.home, filepath.Join(l.home, ".carrel"))
	l.policy.Project, l.policy.Private = l.project, private
	c := Config{Tier: tier, Program: testHelper(), Status: &status, OldBwrap: true}
	if edit != nil {
		edit(&l.policy, &c)
	}
	c.Policy = func() policy.Policy { return l.policy }
	if l.Box, err = Open(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	var cancel context.CancelFunc
	l.ctx, cancel = context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(func() {
		defer cancel()
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		goleak.VerifyNone(t, before)
	})
	return l
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// eachTier runs a test in every tier.
func eachTier(t *testing.T, test func(t *testing.T, tier plan.Tier)) {
	for _, tier := range []plan.Tier{plan.TierA, plan.TierB, plan.TierC} {
		t.Run(string(tier), func(t *testing.T) { test(t, tier) })
	}
}

// running is a started command whose output is kept.
type running struct {
	*Process
	out func() string
}

// start starts a shell script.
func (l *place) start(t *testing.T, script string, edit ...func(*Command)) running {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c := Command{Argv: []string{"sh", "-c", script}, Stdout: w, Stderr: w, Name: t.Name(), Env: testEnvironment(l)}
	for _, e := range edit {
		e(&c)
	}
	var out bytes.Buffer
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(&out, r)
		_ = r.Close()
	}()
	p, err := l.Start(l.ctx, c)
	_ = w.Close()
	if err != nil {
		<-read
		t.Fatalf("start: %v", err)
	}
	return running{p, func() string { <-read; return out.String() }}
}

func testEnvironment(l *place) []string {
	return []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + l.home, "LANG=C.UTF-8", "MY_TOKEN=hunter2"}
}

// sh runs a script to its end.
func (l *place) sh(t *testing.T, script string, edit ...func(*Command)) (string, Exit) {
	t.Helper()
	r := l.start(t, script, edit...)
	exit, err := r.Wait()
	if err != nil {
		t.Fatalf("wait: %v (%s)", err, r.out())
	}
	return strings.TrimSpace(r.out()), exit
}

func TestCommandsWorkAndPassTheirEndThrough(t *testing.T) {
	eachTier(t, func(t *testing.T, tier plan.Tier) {
		l := open(t, tier, nil)
		for range 2 { // with a new helper and with one that has waited
			out, exit := l.sh(t, `echo hello; pwd; exit 7`)
			if exit.Code != 7 || exit.Status() != 7 || out != "hello\n"+l.project {
				t.Fatalf("%+v %q", exit, out)
			}
		}
		if _, exit := l.sh(t, `kill -TERM $$`); exit.Code != -1 || exit.Status() != 128+15 {
			t.Fatalf("%+v", exit)
		}
		if out, exit := l.sh(t, `echo x > made && cat made`); out != "x" || exit.Code != 0 {
			t.Fatalf("%+v %q", exit, out)
		}
		if out, _ := l.sh(t, `env`); strings.Contains(out, "hunter2") || !strings.Contains(out, "HOME="+l.home) {
			t.Fatalf("environment %q", out)
		}
	})
}

func TestWritesStayInside(t *testing.T) { // L01, L03, L54
	eachTier(t, func(t *testing.T, tier plan.Tier) {
		l := open(t, tier, nil)
		out, _ := l.sh(t, `echo pwn > "$HOME/outside/new"; echo pwn > "$HOME/outside/victim"; echo pwn > "$HOME/.zshenv"; cat "$HOME/.ssh/id_ed25519"; true`)
		if strings.Contains(out, "SECRET") {
			t.Error("the key was read")
		}
		for _, name := range []string{l.outside + "/new", l.home + "/.zshenv"} {
			if _, err := os.Lstat(name); err == nil {
				t.Errorf("%s was made", name)
			}
		}
		if text, _ := os.ReadFile(l.outside + "/victim"); string(text) != "safe\n" {
			t.Errorf("victim is %q", text)
		}
	})
}

func TestNothingIsLeftBehind(t *testing.T) { // L89
	eachTier(t, func(t *testing.T, tier plan.Tier) {
		l := open(t, tier, nil)
		script := `sleep 600 & echo $$; wait`
		if tier != plan.TierC { // it can't hold what leaves the process group
			script = `setsid sleep 600 & echo $$; setsid sleep 600 & wait`
		}
		r := l.start(t, script)
		r.Kill()
		if exit, err := r.Wait(); err != nil || exit.Status() != 128+9 {
			t.Fatalf("%+v %v", exit, err)
		}
		r.out() // ends when the last holder of the pipe has ended
	})
}

func TestMissingProgramsAndFoldersAreErrors(t *testing.T) {
	eachTier(t, func(t *testing.T, tier plan.Tier) {
		l := open(t, tier, nil)
		_, err := l.Start(l.ctx, Command{Argv: []string{"no-such-program"}})
		if !os.IsNotExist(unwrapAll(err)) {
			t.Errorf("%v", err)
		}
		if _, err := l.Start(l.ctx, Command{Argv: []string{"/no/such/program"}}); !os.IsNotExist(unwrapAll(err)) {
			t.Errorf("%v", err)
		}
		if out, exit := l.sh(t, "echo still works"); exit.Code != 0 || out != "still works" {
			t.Errorf("%+v %q", exit, out)
		}
	})
}

func unwrapAll(err error) error {
	for {
		u, ok := err.(interface{ Unwrap() error })
		if !ok || u.Unwrap() == nil {
			return err
		}
		err = u.Unwrap()
	}
}
