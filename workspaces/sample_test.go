package workspaces

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestASampleIsARepositoryToTryThingsOn(t *testing.T) {
	b := newBench(t)
	home := realTemp(t)
	b.write(filepath.Join(home, "carrel-sample", "mine.txt"), "not ours")
	p, err := b.AddSample(t.Context(), home)
	if err != nil {
		t.Fatal(err)
	}
	if p.Path != filepath.Join(home, "carrel-sample-2") || !p.Git || p.Name != "Sample" || p.Trusted {
		t.Errorf("%+v", p)
	}
	if got := b.git(p.Path, "log", "--format=%s"); got != "Begin the sample project" {
		t.Errorf("log %q", got)
	}
	if got := b.git(p.Path, "status", "--porcelain"); got != "" {
		t.Errorf("status %q", got)
	}
	cmd := exec.Command("sh", "test.sh")
	cmd.Dir = p.Path
	if out, err := cmd.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != "all is well" {
		t.Errorf("its tests say %s, %v", out, err)
	}
	again, err := b.AddSample(t.Context(), home)
	if err != nil || again.ID != p.ID {
		t.Errorf("the second time: %+v, %v", again, err)
	}
	if b.make(NewWorkspace{ProjectID: p.ID}).Branch == "" {
		t.Error("no worktree can be made of it")
	}
}

func TestASampleWithoutAHomeIsAnError(t *testing.T) {
	b := newBench(t)
	if _, err := b.AddSample(t.Context(), filepath.Join(realTemp(t), "none")); err == nil {
		t.Error("it was made in a folder that is not there")
	}
}
