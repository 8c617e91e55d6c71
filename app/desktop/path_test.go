package desktop

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// O-BASH-09
func TestShellPathSurvivesWhatStartUpFilesDo(t *testing.T) {
	bash := "/bin/bash"
	if _, err := os.Stat(bash); err != nil {
		t.Skip("no bash here")
	}
	for name, c := range map[string]struct {
		rc   string
		want bool // the PATH that the file sets is found
	}{
		"adds a folder":       {"export PATH=\"$PATH:/opt/t/bin\"", true},
		"prints a banner":     {"echo hello; printf '\\033[31mred\\033[0m'; export PATH=\"$PATH:/opt/t/bin\"", true},
		"sleeps":              {"sleep 300", false},
		"reads":               {"read x; export PATH=\"$PATH:/opt/t/bin\"", true},
		"ends the shell":      {"exit 1", false},
		"prints on its error": {"echo oops >&2; export PATH=\"$PATH:/opt/t/bin\"", true},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			if err := os.WriteFile(filepath.Join(home, ".bash_profile"), []byte(c.rc+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			t.Setenv("HOME", home)
			t.Setenv("PATH", "/usr/bin:/bin")
			env := func(name string) string {
				return map[string]string{"HOME": home, "SHELL": bash, "PATH": "/usr/bin:/bin"}[name]
			}
			began := time.Now()
			wait := time.Minute
			if name == "sleeps" {
				wait = 300 * time.Millisecond
			}
			path, note := shellPath(t.Context(), env, wait)
			if took := time.Since(began); took > time.Minute {
				t.Errorf("it took %v", took)
			}
			if strings.ContainsAny(path, "\n\x1b ") || !strings.Contains(path, "/usr/bin") {
				t.Errorf("PATH %q", path)
			}
			if strings.HasSuffix(path, ":/opt/t/bin") != c.want || (note == "") != c.want {
				t.Errorf("PATH %q, note %q", path, note)
			}
			if !c.want && !strings.Contains(path, filepath.Join(home, ".local", "bin")) {
				t.Errorf("the usual folders are missing in %q", path)
			}
		})
	}
}

func TestOnlyALauncherNeedsTheShellsPath(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want bool
	}{
		{map[string]string{"HOME": "/h", "DISPLAY": ":0"}, true},
		{map[string]string{"TERM": "xterm"}, false},
		{map[string]string{"SHLVL": "1"}, false},
	} {
		if got := fromLauncher(func(name string) string { return c.env[name] }); got != c.want {
			t.Errorf("%v: %v", c.env, got)
		}
	}
}

func TestLoginShellIsTheListedOne(t *testing.T) {
	file := filepath.Join(t.TempDir(), "passwd")
	if err := os.WriteFile(file, []byte("root:x:0:0:root:/root:/bin/sh\nme:x:7:7::/home/me:/usr/bin/fish\nbroken\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := listedShell(file, "7"); got != "/usr/bin/fish" {
		t.Error(got)
	}
	if listedShell(file, "8") != "" || listedShell(file+"-none", "7") != "" {
		t.Error("a shell of nobody's")
	}
	if got := loginShell(func(string) string { return "/bin/zsh" }); got != "/bin/zsh" {
		t.Error(got)
	}
}
