package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

const (
	// somebody is a user that machines don't have: nothing is his but what a test makes.
	somebody = 12345
	// helperVariable tells a test process where the helper is.
	helperVariable = "CARREL_TEST_SANDBOX_HELPER"
)

// TestMain runs the tests as the user who started them and, where that is root, as an ordinary user
// too: root may do what others may not, and people are not root.
func TestMain(m *testing.M) {
	code, err := runAsBoth(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(code)
}

func runAsBoth(m *testing.M) (int, error) {
	if os.Getenv(helperVariable) != "" {
		return m.Run(), nil
	}
	dir, err := os.MkdirTemp("", "carrel-sandbox-test-")
	if err != nil {
		return 1, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	program := filepath.Join(dir, "carrel-sandbox")
	build := exec.Command("go", "build", "-o", program, "./jail/main")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return 1, fmt.Errorf("build helper: %w: %s", err, out)
	}
	if err := errors.Join(os.Chmod(dir, 0o755), os.Setenv(helperVariable, program)); err != nil {
		return 1, err
	}
	if os.Getuid() != 0 {
		return m.Run(), nil
	}
	code, err := asSomebody(dir)
	if err != nil || code != 0 {
		return 1, err
	}
	return m.Run(), nil
}

// asSomebody runs the same tests as an ordinary user.
func asSomebody(dir string) (int, error) {
	self := filepath.Join(dir, "tests")
	if err := copyFile("/proc/self/exe", self); err != nil {
		return 1, err
	}
	home := filepath.Join(dir, "home")
	if err := errors.Join(os.Mkdir(home, 0o700), os.Chown(home, somebody, somebody)); err != nil {
		return 1, err
	}
	cmd := exec.Command(self)
	for _, a := range os.Args[1:] { // go test's own files are not his
		if !strings.HasPrefix(a, "-test.testlogfile=") && !strings.Contains(a, "profile=") {
			cmd.Args = append(cmd.Args, a)
		}
	}
	cmd.Dir, cmd.Stdout, cmd.Stderr = home, os.Stdout, os.Stderr
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "HOME=") && !strings.HasPrefix(v, "TMPDIR=") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, "HOME="+home, "TMPDIR="+home)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: somebody, Gid: somebody}}
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	return 0, err
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
