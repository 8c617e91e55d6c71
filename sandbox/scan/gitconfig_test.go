package scan

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// gitReads gives what git itself reads of a configuration; false when it refuses the file.
func gitReads(t *testing.T, text string) (list []setting, ok bool) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("git", "config", "-f", file, "--no-includes", "-z", "--list")
	cmd.Dir, cmd.Env = filepath.Dir(file), []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Dir(file), "GIT_CONFIG_NOSYSTEM=1"}
	out, err := cmd.Output()
	if err != nil {
		return nil, false
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if key, value, has := strings.Cut(line, "\n"); strings.Contains(key, ".") { // others mean nothing
			if !has {
				value = "true"
			}
			list = append(list, setting{key, value})
		}
	}
	return list, true
}

// FuzzConfig holds our reader to git's: no setting that git obeys may escape it.
func FuzzConfig(f *testing.F) {
	for _, text := range []string{
		"[core]\n\tfsmonitor = pwn\n", "[core] fsmonitor=pwn", "[core]fsmonitor=pwn # c\n", "[CORE]\nFSMonitor=a\\\nb\n",
		"[filter \"x\"]\nclean = a \"b # c\" ; d\n", "[filter \"a]b\\\"c\"]\nsmudge=x\n", "[alias]\nst = \"!sh -c \\\"x\\\"\"\n",
		"[diff.Odd]\ntextconv=x\n", "\uFEFF[core]\r\n\tpager = x\r\n", "[a]\nb\n[core] ; c\n hooksPath = \"\"\n", "[include]\npath=x\n[includeIf \"a:b\"] path = y\n",
		"[core]\n\tpager = x\\\n", "[core]\n\tpager = \"x\\ty\"\n", "[core] # c\\\n\tpager = x\n", "[core]\n; c\\\n\tpager = x\n", "[core][diff]external=x",
		"[core]\n\t\tpager =\t x\t y \t\n", "[core]\npager=x\x0by\n", "[filter \"a\tb\"]process=x", "[core]\npager = a\\nb\\\\c\n", "[core \"\"]\npager=x\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4096 || strings.ContainsRune(text, 0) {
			t.Skip("git reads no zero bytes")
		}
		theirs, ok := gitReads(t, text)
		ours := parseConfig(text)
		if !ok {
			return
		}
		for _, s := range theirs {
			if _, runs := s.runs(); runs && !slices.ContainsFunc(ours, func(o setting) bool { _, r := o.runs(); return r && o.key == s.key }) {
				t.Errorf("git reads %q = %q, we read %q", s.key, s.value, ours)
			}
		}
	})
}
