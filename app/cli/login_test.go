package cli_test

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"carrel/agent/catalog/coder"
	"carrel/agent/catalog/coder/fakecoder"
	"carrel/agent/model/fakewire"
)

func TestLoginAtCoderFromTheCommandLine(t *testing.T) {
	d := fakecoder.New(t, fakewire.Steps(fakewire.Reply{Text: "Through Coder."}))
	d.Set(func(s *fakecoder.State) { s.Providers = []coder.Provider{{Name: "claude-corp", Type: "anthropic"}} })
	dir := t.TempDir()
	command := func(args ...string) *exec.Cmd {
		c := exec.Command("carrel", args...)
		c.Dir = dir
		c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "CARREL_ROOT=" + filepath.Join(dir, "root")}
		return c
	}
	if text, err := command("provider", "login", "coder").CombinedOutput(); err == nil || !strings.Contains(string(text), "Name the deployment") {
		t.Errorf("%s, %v", text, err)
	}
	login := command("provider", "login", "coder", "--url", d.URL)
	var out bytes.Buffer
	login.Stdout = &out
	stderr, err := login.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := login.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if address := strings.TrimSpace(lines.Text()); strings.HasPrefix(address, d.URL) {
			fakecoder.Approve(t, address)
			break
		}
	}
	for lines.Scan() { // to its end, before Wait
	}
	if err := login.Wait(); err != nil || !strings.Contains(out.String(), "Logged in at "+d.URL) || !strings.Contains(out.String(), "claude-corp") {
		t.Fatalf("%s, %v", &out, err)
	}
	run := func(want string, args ...string) {
		t.Helper()
		text, err := command(args...).CombinedOutput()
		if !strings.Contains(string(text), want) {
			t.Errorf("%v: %s, %v", args, text, err)
		}
	}
	run("Coder", "provider", "list")
	run("Through Coder.", "run", "-m", "coder:claude-corp/claude-opus-5-5", "hi")
	run("Only coder has one", "provider", "login", "anthropic")
	run("Logged out.", "provider", "logout", "coder")
	if d.Logins() != 0 {
		t.Errorf("%d logins are left", d.Logins())
	}
}
