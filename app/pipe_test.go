package app_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"carrel/app"
)

func TestAPipeInARepositoryDoesNotHoldUpTheProjects(t *testing.T) {
	h := newHouse(t)
	for _, place := range []string{"HEAD", "packed-refs", "config"} {
		repo := repository(t)
		if _, err := h.api.Projects.Add(t.Context(), app.AddProject{Path: repo}); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(repo, ".git", place)
		_ = os.Remove(path) // it need not exist
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now()
	all, err := h.api.Projects.List(t.Context())
	if err != nil || len(all) != 3 {
		t.Fatalf("%v, %v", all, err)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("the list took %v", took)
	}
}
