package app_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"carrel/app"
)

// fileWorkspace is a workspace in the folder itself.
func fileWorkspace(t *testing.T, dir string) (app.API, app.Workspace) {
	t.Helper()
	h := newHouse(t)
	p, err := h.api.Projects.Add(t.Context(), app.AddProject{Path: dir})
	if err != nil {
		t.Fatal(err)
	}
	w, err := h.api.Workspaces.Create(t.Context(), app.NewWorkspace{ProjectID: p.ID, Name: "here", Runtime: "local"})
	if err != nil {
		t.Fatal(err)
	}
	return h.api, w
}

// fastImport makes commits and checks them out.
func fastImport(t *testing.T, dir, in string) {
	t.Helper()
	cmd := exec.Command("git", "fast-import", "--quiet")
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(in)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git fast-import: %v\n%s", err, out)
	}
	gitIn(t, dir, "read-tree", "HEAD")
}

// found asks for files by a query.
func found(t *testing.T, a app.API, id, query string) []string {
	t.Helper()
	f, err := a.Workspaces.Files(t.Context(), app.FindFiles{ID: id, Query: query})
	if err != nil {
		t.Fatal(err)
	}
	return f.Files
}

func TestFilesAreFoundByTheirLetters(t *testing.T) {
	dir := repository(t)
	for _, name := range []string{"src/composer/Composer.svelte", "src/composer/order.ts", "docs/composer.md", "src/comp.ts", "tool/x.go", "build/out.o", "ä b.txt"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name), "x")
	}
	write(t, filepath.Join(dir, ".gitignore"), "build/\n")
	gitIn(t, dir, "add", ".")
	gitIn(t, dir, "commit", "-qm", "More")
	write(t, filepath.Join(dir, "new.txt"), "x")
	a, ws := fileWorkspace(t, dir)
	for query, want := range map[string]string{"composer.md": "docs/composer.md", "Composer.sv": "src/composer/Composer.svelte", "COMP.TS": "src/comp.ts",
		"cmporder": "src/composer/order.ts", "ä": "ä b.txt", "tool/": "tool/x.go", "new": "new.txt"} {
		if got := found(t, a, ws.ID, query); len(got) == 0 || got[0] != want {
			t.Errorf("%q finds %q, want %q first", query, got, want)
		}
	}
	if got := found(t, a, ws.ID, ""); len(got) == 0 || strings.Contains(got[0], "/") {
		t.Errorf("without a query: %q", got)
	}
	for _, query := range []string{"out.o", "nothing like it", strings.Repeat("x", 2000), "../", "/etc/passwd"} {
		if got := found(t, a, ws.ID, query); len(got) != 0 {
			t.Errorf("%q finds %q", query, got)
		}
	}
}

// O-TRUST-02, O-DESK-03: a repository can't make completion leave it, nor show a name that misleads.
func TestFilesStayInsideAndShowWhatTheyAre(t *testing.T) {
	dir := repository(t)
	outside := t.TempDir()
	write(t, filepath.Join(outside, "secret.txt"), "x")
	if err := os.Symlink(outside, filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a\nb.txt", "bell\a.txt", "gpj\u202etxt.exe", "\xff\xfe.txt", "<img src=x>.txt", "-rf.txt", "日本.txt"} {
		write(t, filepath.Join(dir, name), "x")
	}
	a, ws := fileWorkspace(t, dir)
	got := found(t, a, ws.ID, "")
	slices.Sort(got)
	if want := []string{"-rf.txt", "<img src=x>.txt", "README.md", "out", "日本.txt"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := found(t, a, ws.ID, "secret"); len(got) != 0 {
		t.Errorf("found %q outside", got)
	}
}

func TestFilesOfAFolderWithoutGit(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "plain")
	for _, name := range []string{"a/one.txt", "node_modules/x.js", ".hidden/y", "two.txt"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name), "x")
	}
	if err := os.Symlink("/etc", filepath.Join(dir, "etc")); err != nil {
		t.Fatal(err)
	}
	a, ws := fileWorkspace(t, dir)
	if got, want := found(t, a, ws.ID, ""), []string{"etc", "two.txt", "a/one.txt"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFilesOfALargeRepositoryAreBounded(t *testing.T) {
	dir := repository(t)
	var in strings.Builder
	in.WriteString("commit refs/heads/main\ncommitter a <a@example.invalid> 1700000000 +0000\ndata 1\nx\nfrom refs/heads/main^0\n")
	for i := range 50_000 {
		fmt.Fprintf(&in, "M 100644 inline pkg%02d/part%d/file%05d.go\ndata 0\n\n", i%50, i%7, i)
	}
	fastImport(t, dir, in.String())
	a, ws := fileWorkspace(t, dir)
	if got := found(t, a, ws.ID, "file49999"); !slices.Equal(got, []string{"pkg49/part5/file49999.go"}) {
		t.Errorf("got %q", got)
	}
	if got := found(t, a, ws.ID, "g"); len(got) != 50 {
		t.Errorf("%d files in one answer", len(got))
	}
}
