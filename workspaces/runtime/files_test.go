package runtime_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"carrel/workspaces/runtime"
	"carrel/workspaces/runtime/runtimetest"
)

// O-TRUST-02: a folder swapped for a link between check and open.
func TestSwappedFolderNeverLeadsOut(t *testing.T) {
	rt := newLocal(t, runtime.Options{})
	out := t.TempDir()
	secret := filepath.Join(out, "f")
	must(t, os.WriteFile(secret, []byte("secret"), 0o600), os.Mkdir(filepath.Join(rt.Dir(), "real"), 0o700),
		os.WriteFile(filepath.Join(rt.Dir(), "real", "f"), []byte("ours"), 0o600))
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		name, folder := filepath.Join(rt.Dir(), "d"), filepath.Join(rt.Dir(), "real")
		for {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.Rename(folder, name)
			_ = os.Rename(name, folder)
			_ = os.Symlink(out, name)
			_ = os.RemoveAll(name) // the link, or a folder that a write has made
		}
	}()
	wrote, read := 0, 0
	for i := range 3000 {
		if file, _, err := rt.Files().Open(t.Context(), "d/f"); err == nil {
			data, err := io.ReadAll(file)
			must(t, err, file.Close())
			read++
			if string(data) == "secret" {
				t.Fatal("read outside")
			}
		}
		if i%20 != 0 {
			continue // a write takes its time, it waits for the disk
		}
		if rt.Files().Write(t.Context(), "d/f", []byte("ours"), runtime.WriteOptions{}) == nil {
			wrote++
		}
		_ = rt.Files().Remove(t.Context(), "d/gone")
	}
	close(stop)
	<-stopped
	data, err := os.ReadFile(secret)
	entries, err2 := os.ReadDir(out)
	must(t, err, err2)
	if string(data) != "secret" || len(entries) != 1 {
		t.Fatalf("outside changed: %q, %v", data, entries)
	}
	t.Logf("%d of 3000 reads and %d of 150 writes went through", read, wrote)
}

func TestLinkInPlaceOfTheWorkspaceIsRefused(t *testing.T) {
	rt := newLocal(t, runtime.Options{})
	must(t, os.Remove(rt.Dir()), os.Symlink(t.TempDir(), rt.Dir()))
	if _, err := rt.Files().Stat(t.Context(), "."); !errors.Is(err, runtime.ErrOutside) {
		t.Fatalf("got %v", err)
	}
}

func TestWorkspaceBehindALinkTakesBothNames(t *testing.T) {
	dir, parent := t.TempDir(), t.TempDir()
	link, folder := filepath.Join(parent, "ws"), filepath.Join(parent, "folder")
	must(t, os.Symlink(dir, link), os.Symlink(filepath.Dir(dir), folder), os.WriteFile(filepath.Join(dir, "f"), []byte("x"), 0o600))
	rt, err := runtime.NewLocal(runtime.Local, link+"/", runtime.Options{})
	must(t, err)
	if real, _ := filepath.EvalSymlinks(dir); rt.Dir() != real {
		t.Errorf("folder is %q", rt.Dir())
	}
	for _, path := range []string{link + "/f", dir + "/f", filepath.Join(folder, filepath.Base(dir), "f"), "f"} {
		if got := runtimetest.Read(t, rt.Files(), path); got != "x" {
			t.Errorf("%s: %q", path, got)
		}
	}
}

func TestMissingFolderIsNoWorkspace(t *testing.T) {
	for _, dir := range []string{"relative", filepath.Join(t.TempDir(), "none"), os.Args[0]} {
		if _, err := runtime.NewLocal(runtime.Local, dir, runtime.Options{}); err == nil {
			t.Errorf("%s was opened", dir)
		}
	}
	rt := newLocal(t, runtime.Options{})
	must(t, os.Remove(rt.Dir()))
	if _, err := rt.Start(t.Context(), runtime.Command{Argv: []string{"true"}}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("started in a missing folder: %v", err)
	}
}

// O-EDIT-07
func TestKeepsGroupOfTheFile(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root may give files away")
	}
	rt := newLocal(t, runtime.Options{})
	name := filepath.Join(rt.Dir(), "f")
	must(t, os.WriteFile(name, nil, 0o640), os.Chown(name, 1234, 4321), os.Chmod(name, 0o640|fs.ModeSetgid))
	must(t, rt.Files().Write(t.Context(), "f", []byte("x"), runtime.WriteOptions{}))
	info, err := os.Stat(name)
	must(t, err)
	s := info.Sys().(*syscall.Stat_t)
	if s.Uid != 1234 || s.Gid != 4321 || info.Mode() != 0o640|fs.ModeSetgid {
		t.Fatalf("got %d:%d %v", s.Uid, s.Gid, info.Mode())
	}
}

func TestRefusesAReadOnlyFile(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "f")
	must(t, os.WriteFile(name, []byte("kept"), 0o444), os.Chmod(dir, 0o777), os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(name, 0o444))
	cmd := exec.Command(copySelf(t), "write", dir)
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	out, err := cmd.CombinedOutput()
	data, _ := os.ReadFile(name)
	if err != nil || string(out) != `write "f": permission denied` || string(data) != "kept" {
		t.Fatalf("got %q, %v; file is %q", out, err, data)
	}
}

// writeAsOther is what the test program does as another user.
func writeAsOther(dir string) {
	rt, err := runtime.NewLocal(runtime.Local, dir, runtime.Options{})
	if err == nil {
		err = rt.Files().Write(context.Background(), "f", []byte("lost"), runtime.WriteOptions{})
	}
	if err != nil {
		_, _ = os.Stdout.WriteString(err.Error())
	}
}

// copySelf puts the test program where another user can run it.
func copySelf(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(os.Args[0])
	must(t, err)
	name := filepath.Join(t.TempDir(), "self")
	must(t, os.WriteFile(name, data, 0o755))
	return name
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}
