package transcript_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"carrel/agent/transcript"
)

// smallDisk mounts a file system of that many KiB, which only root may.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("mounting a small disk needs root: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func TestAFullDiskInTheMiddleOfALineLosesNothingBefore(t *testing.T) { // O-DATA-01
	dir := smallDisk(t, "256k")
	session := filepath.Join(dir, "s")
	l := open(t, session)
	fill(t, l, 3)
	want := texts(t, l)
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 160<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	intact := readLog(t, session)
	for range 3 {
		_, err := l.Append(transcript.Record{Kind: transcript.Note, Note: strings.Repeat("x", 100<<10)})
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("append on a full disk: %v", err)
		}
	}
	if got := readLog(t, session); got != intact {
		t.Errorf("%d bytes of log, %d before", len(got), len(intact))
	}
	if diff := cmp.Diff(want, texts(t, l)); diff != "" {
		t.Error(diff)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	turn(t, l, 3)
	want = texts(t, l)
	_ = l.Close()
	l = open(t, session)
	if diff := cmp.Diff(want, texts(t, l)); diff != "" || len(want) != 8 || l.State().Damaged != 0 || l.State().Torn != "" {
		t.Errorf("%d messages, %+v: %s", len(want), l.State(), diff)
	}
}

func TestAKillOnAFullDiskLeavesATornTailThatIsKeptAside(t *testing.T) { // O-DATA-01
	dir := smallDisk(t, "256k")
	l := open(t, dir)
	fill(t, l, 3)
	want := texts(t, l)
	_ = l.Close()
	// What a kill between a short write and its clean-up leaves.
	writeLog(t, dir, readLog(t, dir)+`{"seq":16,"time":"2026-01-01T00:00:00Z","kind":"note","note":"xxxx`)
	l = open(t, dir)
	turn(t, l, 3)
	if diff := cmp.Diff(want, texts(t, l)[:6]); diff != "" || len(sidecars(t, dir)) != 1 {
		t.Error(diff)
	}
}
