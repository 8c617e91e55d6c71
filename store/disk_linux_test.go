package store_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"carrel/store"
)

// smallDisk mounts a file system of 256 KiB. Mounting needs root, which CI has; elsewhere the test
// can't make a full disk and says so.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "disk")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=256k,mode=0700")
	if errors.Is(err, syscall.EPERM) && os.Getenv("CI") == "" {
		t.Skip("a full disk needs root to mount one; CI runs this")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func TestAFullDiskKeepsTheOldFile(t *testing.T) {
	disk := smallDisk(t)
	r := openAt(t, filepath.Join(disk, "root"))
	if err := r.SetSetting([]string{"theme"}, "dark"); err != nil {
		t.Fatal(err)
	}
	before := read(t, r.Path("settings.jsonc"))
	fill, err := os.Create(filepath.Join(disk, "fill"))
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = fill.Write(make([]byte, 4096))
	}
	_ = fill.Close()
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	big := string(bytes.Repeat([]byte("x"), 8192))
	if err := r.SetSetting([]string{"theme"}, big); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("got %v, want no space", err)
	}
	if err := store.WriteFile(r.Path("settings.jsonc"), []byte(big), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("got %v, want no space", err)
	}
	if got := read(t, r.Path("settings.jsonc")); got != before {
		t.Fatalf("got %q, want what was there", got)
	}
	if left, _ := filepath.Glob(r.Path(".settings*")); len(left) != 0 {
		t.Fatalf("left behind %v", left)
	}
	if err := os.Remove(fill.Name()); err != nil {
		t.Fatal(err)
	}
	if err := r.SetSetting([]string{"theme"}, "light"); err != nil {
		t.Fatal(err)
	}
}
