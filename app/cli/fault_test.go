//go:build linux

package cli_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"carrel/agent/model/fakewire"
	"carrel/app"
	"carrel/store"
)

// place is a home, a data root, a repository and a model, for runs of the real command.
type place struct {
	t                *testing.T
	home, root, repo string
	model            *fakewire.Server
}

func newPlace(t *testing.T, script fakewire.Script) *place {
	t.Helper()
	dir := t.TempDir()
	p := &place{t: t, home: filepath.Join(dir, "home"), root: filepath.Join(dir, "root"), repo: filepath.Join(dir, "repo"),
		model: fakewire.New(t, script)}
	for _, d := range []string{p.home, p.repo} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(p.home, ".gitconfig"), []byte(gitConfig), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := makeRepo(p.repo, p.home); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		killRoot(p.root)
		p.noneLeft()
	})
	return p
}

func (p *place) environ() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.home, "CARREL_ROOT=" + p.root, "CARREL_DEMO_DELAY=0", "CARREL_MODE=bypass", "CARREL_SANDBOX=danger-full-access",
		"ANTHROPIC_API_KEY=key", "ANTHROPIC_BASE_URL=" + p.model.URL}
}

// command is carrel, in the repository.
func (p *place) command(args ...string) *exec.Cmd {
	c := exec.Command("carrel", args...)
	c.Dir, c.Env = p.repo, p.environ()
	return c
}

// carrel runs a command to its end.
func (p *place) carrel(args ...string) (stdout, stderr string, code int) {
	p.t.Helper()
	c := p.command(args...)
	var out, errOut bytes.Buffer
	c.Stdout, c.Stderr = &out, &errOut
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.t.Fatal(err)
	}
	return out.String(), errOut.String(), c.ProcessState.ExitCode()
}

// must runs a command that succeeds.
func (p *place) must(args ...string) string {
	p.t.Helper()
	out, errOut, code := p.carrel(args...)
	if code != 0 {
		p.t.Fatalf("carrel %v: exit %d\n%s%s", args, code, out, errOut)
	}
	return out
}

// started is a command that runs.
type started struct {
	*exec.Cmd
	out    io.ReadCloser
	errOut *bytes.Buffer
}

func (p *place) start(args ...string) *started {
	p.t.Helper()
	s := &started{Cmd: p.command(args...), errOut: &bytes.Buffer{}}
	s.Stderr = s.errOut
	var err error
	if s.out, err = s.StdoutPipe(); err != nil {
		p.t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		p.t.Fatal(err)
	}
	return s
}

// workspaces reads the registry as the command line shows it.
func (p *place) workspaces() []app.Workspace {
	p.t.Helper()
	return parse[[]app.Workspace](p.t, p.must("workspace", "list", "--json"))
}

// open opens a workspace's conversation in this process, as any host does.
func (p *place) open(id string) app.Conversation {
	p.t.Helper()
	root, err := store.Open(p.root)
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	a, err := app.New(app.Options{Root: root, Environ: p.environ(), Headless: true})
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = a.Close(p.t.Context()) }()
	c, err := a.API().Conversations.Open(p.t.Context(), app.ByID{ID: id})
	if err != nil {
		p.t.Fatal(err)
	}
	return c
}

// processes are the commands of agents that run for this place.
func (p *place) processes() []string {
	var found []string
	links, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range links {
		cwd, err := os.Readlink(link)
		if err == nil && (strings.HasPrefix(cwd, p.repo) || strings.HasPrefix(cwd, p.root)) {
			pid := strings.Split(link, "/")[2]
			if processRuns(pid) {
				args, _ := os.ReadFile("/proc/" + pid + "/cmdline")
				found = append(found, pid+" "+strings.ReplaceAll(string(args), "\x00", " "))
			}
		}
	}
	return found
}

// noneLeft waits until no command of an agent runs.
func (p *place) noneLeft() {
	p.t.Helper()
	var left []string
	for deadline := time.Now().Add(60 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if left = p.processes(); len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("still run: %v", left)
		}
	}
}

func bash(script string) fakewire.Call {
	return fakewire.Call{Name: "bash", Input: fmt.Sprintf(`{"script":%q,"timeout_secs":1000,"display_name":"Run"}`, script)}
}

func TestASecondInterruptEndsAtOnce(t *testing.T) {
	t.Parallel()
	p := newPlace(t, fakewire.Steps(fakewire.Reply{Calls: []fakewire.Call{
		bash("trap '' TERM INT; touch stubborn; while :; do sleep 1000; done"),
	}}))
	run := p.command("run", "--quiet", "Never end")
	said, err := run.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the command", func() bool { _, err := os.Stat(filepath.Join(p.repo, "stubborn")); return err == nil })
	// The command takes two seconds to end, so the second signal comes while it does. The first must
	// be heard before: two that wait at once are one to the system.
	lines := bufio.NewReader(said)
	for _, want := range []string{"interrupting", ""} {
		if err := run.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		if want != "" {
			if text, err := lines.ReadString('\n'); err != nil || !strings.Contains(text, want) {
				t.Fatalf("said %q, %v", text, err)
			}
		}
	}
	began := time.Now()
	rest, _ := io.ReadAll(lines)
	_ = run.Wait() // its exit code tells
	if code := run.ProcessState.ExitCode(); code != 130 || len(rest) > 0 {
		t.Errorf("exit code %d after %v; %s", code, time.Since(began), rest)
	}
	p.noneLeft()
	if all := p.workspaces(); len(all) != 1 || all[0].Health != app.Ready {
		t.Errorf("workspaces %+v", all)
	}
}

// lines reads the rest of a command's output.
func (s *started) lines(t *testing.T) []string {
	t.Helper()
	text, err := io.ReadAll(s.out)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}
