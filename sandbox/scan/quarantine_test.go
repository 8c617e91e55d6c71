package scan_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"carrel/sandbox/scan"
)

func quarantine(t *testing.T, r scan.Report, dir string) []scan.Kept {
	t.Helper()
	var list []scan.Kept
	for _, f := range r.Findings {
		k, err := scan.Quarantine(f, dir)
		if err != nil {
			t.Fatalf("%s: %v", f.Path, err)
		}
		list = append(list, k)
	}
	return list
}

func read(t *testing.T, parts ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestQuarantineMovesAndPutsBack(t *testing.T) {
	root, dir := project(t), filepath.Join(t.TempDir(), "held")
	was := read(t, root, ".git/config")
	s := scan.New(scan.Config{Roots: []string{root}})
	kept := quarantine(t, found(t, s, root,
		`git config core.fsmonitor pwn; git init -q s9; echo x > s9/.git/hooks/post-checkout; chmod +x s9/.git/hooks/post-checkout`), dir)
	if len(kept) != 2 || !kept[0].PutBack || kept[1].PutBack {
		t.Fatalf("kept %+v", kept)
	}
	if got := read(t, root, ".git/config"); got != was {
		t.Fatalf("the configuration is %q", got)
	}
	if _, err := os.Lstat(filepath.Join(root, "s9/.git/hooks/post-checkout")); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("the hook is still there: %v", err)
	}
	git(t, filepath.Join(root, "s9"), "status")
	list, err := scan.List(dir)
	if err != nil || len(list) != 2 {
		t.Fatalf("list %v, %v", list, err)
	}
	for _, k := range list {
		if _, err := scan.Restore(dir, k.ID); err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(read(t, root, ".git/config"), "pwn") || read(t, root, "s9/.git/hooks/post-checkout") != "x\n" {
		t.Fatal("not restored")
	}
	info, err := os.Stat(filepath.Join(root, "s9/.git/hooks/post-checkout"))
	if err != nil || info.Mode().Perm()&0o100 == 0 {
		t.Fatalf("restored as %v, %v", info.Mode(), err)
	}
	if list, err = scan.List(dir); err != nil || len(list) != 0 {
		t.Fatalf("list %v, %v", list, err)
	}
}

func TestQuarantineTakesLinksNotTheirTargets(t *testing.T) {
	root, dir := project(t), filepath.Join(t.TempDir(), "held")
	outside := filepath.Join(filepath.Dir(root), "outside")
	write(t, outside, "settings.json", "mine")
	s := scan.New(scan.Config{Roots: []string{root}})
	r := found(t, s, root, `ln -s ../outside .claude; ln -s ../outside/settings.json .mcp.json`)
	quarantine(t, r, dir)
	if read(t, outside, "settings.json") != "mine" {
		t.Fatal("the target changed")
	}
	for _, name := range []string{".claude", ".mcp.json"} {
		if _, err := os.Lstat(filepath.Join(root, name)); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("%s is still there", name)
		}
	}
}

// The tree changes between the look and the move, as one that races us does.
func TestQuarantineNeverLeavesTheRoot(t *testing.T) {
	root, dir := project(t), filepath.Join(t.TempDir(), "held")
	outside := filepath.Join(filepath.Dir(root), "outside")
	write(t, outside, "hooks/update", "mine")
	write(t, outside, "tasks.json", "mine")
	s := scan.New(scan.Config{Roots: []string{root}})
	r := found(t, s, root, `echo x > .git/hooks/update; echo x > .vscode/tasks.json`)
	sh(t, root, `rm -r .git/hooks .vscode; ln -s ../../outside/hooks .git/hooks; ln -s ../outside .vscode`)
	for _, f := range r.Findings {
		if _, err := scan.Quarantine(f, dir); err == nil {
			t.Errorf("%s: no error", f.Path)
		}
	}
	if read(t, outside, "hooks/update") != "mine" || read(t, outside, "tasks.json") != "mine" {
		t.Fatal("a file outside was moved")
	}
	if list, err := scan.List(dir); err != nil || len(list) != 0 {
		t.Fatalf("list %v, %v", list, err)
	}
}

func TestPuttingBackNeverWritesThroughALink(t *testing.T) {
	root, dir := project(t), filepath.Join(t.TempDir(), "held")
	outside := filepath.Join(filepath.Dir(root), "outside")
	write(t, outside, "file", "mine")
	r := found(t, scan.New(scan.Config{Roots: []string{root}}), root, `ln -sf ../../outside/file .vscode/tasks.json`)
	quarantine(t, r, dir)
	if read(t, outside, "file") != "mine" || read(t, root, ".vscode/tasks.json") != "{}\n" {
		t.Fatal("not put back in its own place")
	}
}

func TestRestoreRefusesNamesThatAreNoIDs(t *testing.T) {
	for _, id := range []string{"", "..", "../x", "a/b", "A"} {
		if _, err := scan.Restore(t.TempDir(), id); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: %v", id, err)
		}
	}
}
