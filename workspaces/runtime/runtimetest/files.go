package runtimetest

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"carrel/workspaces/runtime"
)

func fileTree(t *testing.T, make Make) {
	t.Run("WritesWhatItReads", func(t *testing.T) {
		f := make(t).Files()
		for _, data := range []string{"", "\x00\xff\r\n", strings.Repeat("long", 100000)} {
			if err := f.Write(t.Context(), "new/folder/file", []byte(data), runtime.WriteOptions{}); err != nil {
				t.Fatal(err)
			}
			if got := Read(t, f, "new/folder/file"); got != data {
				t.Fatalf("got %d bytes, want %d", len(got), len(data))
			}
		}
		if entries, err := f.ReadDir(t.Context(), "new/folder"); err != nil || len(entries) != 1 {
			t.Fatalf("a temporary file is left: %v, %v", entries, err)
		}
	})
	t.Run("TakesAbsolutePathsInside", func(t *testing.T) {
		rt := make(t)
		if err := rt.Files().Write(t.Context(), rt.Dir()+"/sub/f", []byte("x"), runtime.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		if got := Read(t, rt.Files(), "./sub/../sub/f"); got != "x" {
			t.Fatalf("got %q", got)
		}
	})
	// O-EDIT-07
	t.Run("KeepsModes", func(t *testing.T) { keepsModes(t, make(t)) })
	t.Run("RefusesAChangedFile", func(t *testing.T) { changedFile(t, make(t)) })
	t.Run("ListsSorted", func(t *testing.T) {
		rt := make(t)
		Sh(t, rt, "mkdir b; touch c a")
		entries, err := rt.Files().ReadDir(t.Context(), ".")
		if err != nil || len(entries) != 3 || entries[0].Name() != "a" || !entries[1].IsDir() {
			t.Fatalf("got %v, %v", entries, err)
		}
	})
	kindsOfFile(t, make)
}

func kindsOfFile(t *testing.T, make Make) {
	t.Run("RemovesTheLinkNotItsTarget", func(t *testing.T) {
		rt := make(t)
		Sh(t, rt, "echo x >f; ln -s f l")
		if err := rt.Files().Remove(t.Context(), "l"); err != nil {
			t.Fatal(err)
		}
		if got := Read(t, rt.Files(), "f"); got != "x\n" {
			t.Fatalf("got %q", got)
		}
		if _, err := rt.Files().Stat(t.Context(), "l"); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("got %v", err)
		}
	})
	t.Run("OpensOnlyRegularFiles", func(t *testing.T) {
		rt := make(t)
		Sh(t, rt, "mkdir d; mkfifo p")
		for _, path := range []string{"d", "p", ".", "none", "d/none"} {
			if file, _, err := rt.Files().Open(t.Context(), path); err == nil {
				_ = file.Close()
				t.Errorf("%s was opened", path)
			}
			if err := rt.Files().Write(t.Context(), path+"/", nil, runtime.WriteOptions{If: []byte("x")}); err == nil {
				t.Errorf("%s was written", path)
			}
		}
	})
}

func keepsModes(t *testing.T, rt runtime.Runtime) {
	Sh(t, rt, "umask 022; echo a >run.sh; chmod 755 run.sh; echo b >.env; chmod 600 .env; ln -s run.sh link; chmod g+s .")
	for _, path := range []string{"run.sh", ".env", "link", "new"} {
		if err := rt.Files().Write(t.Context(), path, []byte("new\n"), runtime.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	out, _ := Sh(t, rt, "umask; ls -ld run.sh .env link new | cut -c1-10")
	lines := Lines(out)
	if lines[1] != "-rw-------" || lines[2] != "lrwxrwxrwx" && lines[2] != "lrwxr-xr-x" || lines[4] != "-rwxr-xr-x" {
		// ls sorts by name: .env link new run.sh
		t.Fatalf("got %q", lines)
	}
	if lines[0] == "0022" && lines[3] != "-rw-r--r--" {
		t.Fatalf("new file: %q", lines)
	}
	if got := Read(t, rt.Files(), "run.sh"); got != "new\n" {
		t.Fatalf("the link was not followed: %q", got)
	}
}

func changedFile(t *testing.T, rt runtime.Runtime) {
	f := rt.Files()
	write := func(data string, o runtime.WriteOptions) error {
		return f.Write(t.Context(), "f", []byte(data), o)
	}
	if err := write("a", runtime.WriteOptions{If: []byte{}}); !errors.Is(err, runtime.ErrChanged) {
		t.Fatalf("missing file: %v", err)
	}
	if err := write("a", runtime.WriteOptions{New: true}); err != nil {
		t.Fatal(err)
	}
	if err := write("b", runtime.WriteOptions{New: true}); !errors.Is(err, fs.ErrExist) {
		t.Fatalf("existing file: %v", err)
	}
	for _, have := range []string{"", "b", "ab"} {
		if err := write("c", runtime.WriteOptions{If: []byte(have)}); !errors.Is(err, runtime.ErrChanged) {
			t.Fatalf("%q: %v", have, err)
		}
	}
	if err := write("c", runtime.WriteOptions{If: []byte("a")}); err != nil || Read(t, f, "f") != "c" {
		t.Fatalf("unchanged file: %v", err)
	}
}

// O-TRUST-02
func confinement(t *testing.T, make Make) {
	t.Run("NothingLeadsOut", func(t *testing.T) {
		rt := make(t)
		out, _ := Sh(t, rt, `out=$(mktemp -d) && echo secret >"$out/secret" && echo "$out" &&
			ln -s "$out" out && ln -s "$out/secret" f && ln -s "$out/new" dang && mkdir a && ln -s "../../$(basename "$out")" a/b &&
			ln -s out chain && ln -s /proc/self/root root && ln -s .. up`)
		outside := Lines(out)[0]
		for _, path := range []string{
			outside + "/secret", "out/secret", "f", "dang", "a/b/x", "chain/secret", "root/etc/passwd", "up/x", "..", "../x", "/", "/etc/passwd",
			"a/../../x", "out/../../x",
		} {
			refuses(t, rt.Files(), path)
		}
		if got, _ := Sh(t, rt, "ls -A '"+outside+"'; cat '"+outside+"/secret'; rm -r '"+outside+"'"); got != "secret\nsecret\n" {
			t.Errorf("outside changed: %q", got)
		}
	})
	t.Run("LinksInsideWork", func(t *testing.T) {
		rt := make(t)
		Sh(t, rt, `mkdir -p d/e; echo x >d/f; ln -s d rel; ln -s "$PWD/d" abs; ln -s ../f d/e/up; ln -s d/new dang; ln -s abs/e chain; ln -s l1 l2; ln -s l2 l1`)
		for _, path := range []string{"rel/f", "abs/f", "d/e/up", "abs/e/up", "chain/up", rt.Dir() + "/abs/f"} {
			if got := Read(t, rt.Files(), path); got != "x\n" {
				t.Errorf("%s: %q", path, got)
			}
		}
		if err := rt.Files().Write(t.Context(), "dang", []byte("y"), runtime.WriteOptions{}); err != nil || Read(t, rt.Files(), "d/new") != "y" {
			t.Errorf("dangling link: %v", err)
		}
		if _, err := rt.Files().Stat(t.Context(), "l1"); err == nil || errors.Is(err, runtime.ErrOutside) {
			t.Errorf("link loop: %v", err)
		}
	})
}

func refuses(t *testing.T, f runtime.Files, path string) {
	t.Helper()
	check := func(op string, err error) {
		if !errors.Is(err, runtime.ErrOutside) {
			t.Errorf("%s %q: %v", op, path, err)
		}
	}
	file, _, err := f.Open(t.Context(), path)
	if err == nil {
		_ = file.Close()
	}
	check("open", err)
	_, err = f.Stat(t.Context(), path)
	check("stat", err)
	_, err = f.ReadDir(t.Context(), path)
	check("list", err)
	check("write", f.Write(t.Context(), path, []byte("bad"), runtime.WriteOptions{}))
}
