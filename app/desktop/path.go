package desktop

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// pathWait bounds the question to the login shell, so that a start-up file that sleeps or asks for
// something delays the window by no more.
const pathWait = 1500 * time.Millisecond

// fromLauncher reports whether the process was started by a dock or menu, whose PATH lacks what the
// person's shell adds, rather than from a terminal.
func fromLauncher(env func(string) string) bool {
	return env("TERM") == "" && env("SHLVL") == ""
}

// shellPath asks the person's login shell for its PATH. What start-up files print besides does not
// matter. When the shell does not answer in time, the result is a usual PATH and a sentence that says so.
func shellPath(ctx context.Context, env func(string) string, wait time.Duration) (path, note string) {
	shell := loginShell(env)
	found, err := askShell(ctx, shell, wait)
	if err != nil {
		return usualPath(env), fmt.Sprintf("the login shell %s did not tell its PATH (%v), so agents may not find programs that its start-up files add", shell, err)
	}
	return found, ""
}

func askShell(ctx context.Context, shell string, wait time.Duration) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	mark := "carrel-" + rand.Text()
	// Every shell, fish too, reads this in the same way.
	cmd := exec.CommandContext(ctx, shell, "-l", "-i", "-c", "echo; echo "+mark+"; printenv PATH; echo "+mark)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // it must find no terminal to read from
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 100 * time.Millisecond
	out, err := cmd.Output()
	if found := between(out, mark); found != "" {
		return found, nil // a start-up file may still end the shell with an error
	}
	if ctx.Err() != nil {
		return "", fmt.Errorf("no answer within %v", wait)
	}
	if err == nil {
		err = errors.New("no answer")
	}
	return "", err
}

// between returns the line between two lines that are the mark.
func between(out []byte, mark string) string {
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<20)
	var found []string
	inside := false
	for lines.Scan() {
		switch {
		case lines.Text() != mark:
			if inside {
				found = append(found, lines.Text())
			}
		case inside:
			return strings.Join(found, "")
		default:
			inside = true
		}
	}
	return ""
}

// loginShell is the person's shell, from SHELL or the list of users.
func loginShell(env func(string) string) string {
	if shell := env("SHELL"); shell != "" {
		return shell
	}
	if me, err := user.Current(); err == nil {
		if shell := listedShell("/etc/passwd", me.Uid); shell != "" {
			return shell
		}
	}
	return "/bin/sh"
}

func listedShell(file, uid string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Split(strings.TrimSpace(line), ":"); len(fields) == 7 && fields[2] == uid {
			return fields[6]
		}
	}
	return ""
}

// usualPath is the PATH that we have and the usual folders behind it.
func usualPath(env func(string) string) string {
	parts := filepath.SplitList(env("PATH"))
	usual := []string{"/usr/local/bin", "/opt/homebrew/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"}
	if home := env("HOME"); home != "" {
		usual = append(usual, filepath.Join(home, ".local", "bin"), filepath.Join(home, "bin"), filepath.Join(home, "go", "bin"))
	}
	for _, dir := range usual {
		if !slices.Contains(parts, dir) {
			parts = append(parts, dir)
		}
	}
	return strings.Join(parts, string(filepath.ListSeparator))
}
