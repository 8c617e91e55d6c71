package store_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"carrel/store"
)

// open opens a fresh root in a folder whose name needs care, and closes it with the test.
func open(t *testing.T) *store.Root {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "röot ?#%41 x"))
}

func openAt(t *testing.T, dir string) *store.Root {
	t.Helper()
	r, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func TestOpenMakesAPrivateRoot(t *testing.T) {
	r := open(t)
	info, err := os.Stat(r.Dir())
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Fatalf("got %v %v, want mode 0700", info.Mode(), err)
	}
}

func TestOpenTakesTheRootFromTheEnvironment(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "here")
	t.Setenv("CARREL_ROOT", dir)
	if r := openAt(t, ""); filepath.Base(r.Dir()) != "here" {
		t.Fatalf("opened %s", r.Dir())
	}
	t.Setenv("CARREL_ROOT", "")
	t.Setenv("HOME", dir)
	if r := openAt(t, ""); filepath.Base(r.Dir()) != ".carrel" {
		t.Fatalf("opened %s", r.Dir())
	}
}

func TestOpenRefusesARootThatOthersCanWrite(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "settings.jsonc"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	_, err := store.Open(dir)
	if err == nil || !strings.Contains(err.Error(), "chmod 700") {
		t.Fatalf("got %v, want a refusal that says how to mend it", err)
	}
}

func TestOpenClosesAReadableRootToOthers(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "settings.jsonc"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	r := openAt(t, dir)
	if info, err := os.Stat(r.Dir()); err != nil || info.Mode().Perm() != 0o700 {
		t.Fatalf("got %v %v", info, err)
	}
}

func TestRootReachedThroughALinkIsOneRoot(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	if a, b := openAt(t, dir), openAt(t, link+"/"); a.Dir() != b.Dir() {
		t.Fatalf("%s is not %s", a.Dir(), b.Dir())
	}
}

func TestSessionDirRefusesIdsThatClimb(t *testing.T) {
	r := open(t)
	for _, id := range []string{"", ".", "..", "../x", "a/b", "a\x00b", strings.Repeat("a", 65), "-a"} {
		if dir, err := r.SessionDir(id); err == nil {
			t.Errorf("%q became %s", id, dir)
		}
	}
	dir, err := r.SessionDir(store.NewID())
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Fatalf("got %v %v", info, err)
	}
}

func TestNewIDIsTwelveLowerCaseCharacters(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		id := store.NewID()
		if len(id) != 12 || strings.Trim(id, "abcdefghijklmnopqrstuvwxyz234567") != "" || seen[id] {
			t.Fatalf("got %q", id)
		}
		seen[id] = true
	}
}

func TestWriteFileKeepsALinkAndSetsTheMode(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "real"), filepath.Join(dir, "link")
	if err := os.WriteFile(target, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	if err := store.WriteFile(link, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(target)
	if err != nil || info.Mode() != 0o600 {
		t.Fatalf("got %v %v", info, err)
	}
	if got, _ := os.ReadFile(target); string(got) != "new" {
		t.Fatalf("got %q", got)
	}
	if l, err := os.Lstat(link); err != nil || l.Mode()&os.ModeSymlink == 0 {
		t.Fatal("the link is gone")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) != 0 {
		t.Fatalf("left behind %v", left)
	}
}

func TestOpenRefusesTheRootOfAnotherUser(t *testing.T) {
	dir := "/usr" // another user's, unless we are root
	if os.Geteuid() == 0 {
		dir = t.TempDir()
		if err := os.Chown(dir, 65534, 65534); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := store.Open(dir); err == nil || !strings.Contains(err.Error(), "another user") {
		t.Fatalf("got %v", err)
	}
}
