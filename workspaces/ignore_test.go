package workspaces

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestListedIgnoredFilesAreCopiedBeforeTheInitHook(t *testing.T) { // O-GIT-19
	b := newBench(t)
	repo := b.repo("r")
	b.write(filepath.Join(repo, ".gitignore"), ".env\n/.tool/\nsecrets/\n*.key\nlink\nbig.bin\nclash\ntree/\n")
	b.write(filepath.Join(repo, ".carrelignore"), "# what to copy\n\n.env.example\n!.env\n!.tool/settings.local.json\r\n!link\n!big.bin\n!clash\n!not-ignored\n!secrets/\n!a.txt\n")
	b.write(filepath.Join(repo, "server/main.go"), "package main\n")
	b.script(filepath.Join(repo, ".carrel/init"), "cat .env server/.env > seen-by-init\n")
	b.commit(repo, "setup")
	b.write(filepath.Join(repo, "clash"), "tracked on the branch")
	b.git(repo, "checkout", "-q", "-b", "with-clash")
	b.git(repo, "add", "-f", "clash")
	b.commit(repo, "clash")
	b.git(repo, "checkout", "-q", "main")
	b.write(filepath.Join(repo, "clash"), "mine")
	b.writeMode(filepath.Join(repo, ".env"), "A=1\n", 0o600)
	b.write(filepath.Join(repo, "server/.env"), "B=2\n")
	b.write(filepath.Join(repo, ".tool/settings.local.json"), "{}")
	b.write(filepath.Join(repo, ".tool/other"), "no")
	b.write(filepath.Join(repo, "x.key"), "no")
	b.write(filepath.Join(repo, "not-ignored"), "no")
	b.write(filepath.Join(repo, "secrets/deep/s 日本.txt"), "s")
	if err := os.Symlink("/etc/hostname", filepath.Join(repo, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(touch(t, filepath.Join(repo, "big.bin")), maxCopyFile+1); err != nil {
		t.Fatal(err)
	}
	p := b.add(repo)
	b.trust(p)
	w := b.make(NewWorkspace{ProjectID: p.ID, Name: "w1", Base: "with-clash"})
	b.await("the init hook", initEnded(w.ID))
	for file, want := range map[string]string{
		".env": "A=1\n", "server/.env": "B=2\n", ".tool/settings.local.json": "{}", "secrets/deep/s 日本.txt": "s",
		"seen-by-init": "A=1\nB=2\n", "clash": "tracked on the branch",
	} {
		if got := b.read(filepath.Join(w.Dir, file)); got != want {
			t.Errorf("%s = %q, want %q", file, got, want)
		}
	}
	for _, file := range []string{".tool/other", "x.key", "not-ignored", "big.bin"} {
		if exists(filepath.Join(w.Dir, file)) {
			t.Errorf("%s was copied", file)
		}
	}
	if to, err := os.Readlink(filepath.Join(w.Dir, "link")); err != nil || to != "/etc/hostname" {
		t.Errorf("link = %q, %v", to, err)
	}
	if info, err := os.Stat(filepath.Join(w.Dir, ".env")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf(".env: %v %v", info.Mode(), err)
	}
	log, err := b.InitLog(w.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"big.bin was not copied", "clash was not copied"} {
		if !strings.Contains(b.notes(), want) || !strings.Contains(log, want) {
			t.Errorf("nobody was told: %s\nnotes: %s\nlog: %s", want, b.notes(), log)
		}
	}
}

func touch(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestOlderIgnoreFileIsRead(t *testing.T) {
	b := newBench(t)
	repo := b.repo("r")
	b.write(filepath.Join(repo, ".gitignore"), ".env\n")
	b.write(filepath.Join(repo, ".muxignore"), "!.env\n")
	b.commit(repo, "setup")
	b.write(filepath.Join(repo, ".env"), "A=1\n")
	w := b.make(NewWorkspace{ProjectID: b.add(repo).ID})
	b.read(filepath.Join(w.Dir, ".env"))
}

func TestCopiesCannotLeaveTheWorktree(t *testing.T) { // O-GIT-19
	b := newBench(t)
	from, to, out := realTemp(t), realTemp(t), realTemp(t)
	b.write(filepath.Join(from, "conf/secret"), "s")
	if err := os.Symlink(out, filepath.Join(to, "conf")); err != nil {
		t.Fatal(err)
	}
	notes, err := copyIgnored(t.Context(), from, to, []string{"conf/secret", "../../etc/passwd"})
	if err != nil || len(notes) != 2 {
		t.Fatalf("notes = %q, %v", notes, err)
	}
	if entries, _ := os.ReadDir(out); len(entries) != 0 {
		t.Fatal("a copy left the worktree through a link")
	}
}

func TestAllCopiesTogetherAreCapped(t *testing.T) { // O-GIT-19
	b := newBench(t)
	from, to := realTemp(t), realTemp(t)
	var files []string
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		if err := os.Truncate(touch(t, filepath.Join(from, name)), maxCopyFile); err != nil {
			t.Fatal(err)
		}
		files = append(files, name)
	}
	b.write(filepath.Join(from, "z"), "")
	notes, err := copyIgnored(t.Context(), from, to, append(files, "z"))
	if err != nil || len(notes) != 1 || !strings.HasPrefix(notes[0], "e was not copied") {
		t.Fatalf("notes = %q, %v", notes, err)
	}
	if !exists(filepath.Join(to, "d")) || !exists(filepath.Join(to, "z")) || exists(filepath.Join(to, "e")) {
		t.Fatal("the wrong ones were copied")
	}
}

func TestOnlyMarkedLinesAct(t *testing.T) {
	got := copyPatterns("\ufeff!a\n#!b\nc\n\n!\n! \n!!d\n!#e\n!f \\ \r\n")
	if want := []string{"a", `\!d`, `\#e`, `f \ `}; !slices.Equal(got, want) {
		t.Fatalf("patterns = %q, want %q", got, want)
	}
}
