package scan_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"carrel/sandbox/scan"
)

// asUser runs the calling test again as an unprivileged user, whom rights bind, and reports whether
// this is that run. The user's folder is dir.
func asUser(t *testing.T) (dir string, inside bool) {
	t.Helper()
	if os.Getuid() != 0 {
		return t.TempDir(), true
	}
	if dir := os.Getenv("SCAN_TEST_DIR"); dir != "" {
		t.Fatal("still root")
	}
	dir = t.TempDir()
	for _, d := range []string{dir, filepath.Dir(dir)} {
		if err := os.Chown(d, 65534, 65534); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Dir = dir
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + dir, "TMPDIR=" + dir}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Fatalf("as a user: %v\n%s", err, out)
	}
	return dir, false
}

func TestFoldersWithoutRightsAreFoundAndMoved(t *testing.T) {
	dir, inside := asUser(t)
	if !inside {
		return
	}
	root := filepath.Join(dir, "project")
	git(t, "", "init", "-q", root)
	git(t, "", "init", "-q", filepath.Join(root, "nested"))
	s := scan.New(scan.Config{Roots: []string{root}})
	r := found(t, s, root, `
		echo x > .git/hooks/update; chmod 555 .git/hooks
		echo x > nested/.git/hooks/update; chmod 111 nested/.git/hooks
		mkdir -p shut/r; chmod 0 shut
		mkdir .husky; echo x > .husky/h; chmod 311 .husky`)
	if got := paths(r); !slices.Equal(got, []string{".git/hooks/update", ".husky", "nested/.git/hooks", "shut"}) {
		t.Fatalf("found %q", got)
	}
	held := filepath.Join(dir, "held")
	quarantine(t, r, held)
	for _, name := range []string{".git/hooks/update", "nested/.git/hooks", ".husky"} {
		if _, err := os.Lstat(filepath.Join(root, name)); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
	if r.Findings[3].Action != scan.Ask {
		t.Errorf("a folder without rights is no crime: %+v", r.Findings[3])
	}
	sh(t, dir, "chmod -R u+rwx .")
}

func TestQuarantineOnAnotherDiskRenamesInPlace(t *testing.T) {
	root := project(t)
	other, err := os.MkdirTemp("/dev/shm", "scan")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(other) })
	kept := quarantine(t, found(t, scan.New(scan.Config{Roots: []string{root}}), root, `echo x > .envrc; echo y > .vscode/tasks.json`), other)
	if len(kept) != 2 || !strings.HasPrefix(kept[0].Aside, ".envrc.quarantine-") || read(t, root, kept[0].Aside) != "x\n" {
		t.Fatalf("kept %+v", kept)
	}
	if _, err := scan.Restore(other, kept[0].ID); err != nil || read(t, root, ".envrc") != "x\n" {
		t.Fatalf("restored %q, %v", read(t, root, ".envrc"), err)
	}
}
