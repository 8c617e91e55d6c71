package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"carrel/sandbox/jail"
	"carrel/sandbox/plan"
	"carrel/sandbox/policy"
)

// mount executes steps after the least that a plan has, and gives the helper's answer.
func mount(t *testing.T, steps ...plan.Mount) error {
	t.Helper()
	status, err := machine()
	if err != nil {
		t.Fatal(err)
	}
	p, err := startPod(t.Context(), testHelper())
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	h, err := p.spawn(t.Context(), jail.Closed)
	if err != nil {
		t.Fatal(err)
	}
	defer h.discard()
	pl := trial(plan.TierA, policy.NetworkDeny, status.Machine.Landlock)
	pl.Mounts = append(pl.Mounts[:3], steps...)
	return p.ready(t.Context(), h, pl, status.Machine.Landlock)
}

func TestMountsFollowNoLink(t *testing.T) { // L08, L124
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"project/real", "outside/in"} {
		if err := os.MkdirAll(filepath.Join(base, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"project/link": base + "/outside", "project/self": "real", "project/root": "/proc/self/root"} {
		if err := os.Symlink(to, filepath.Join(base, link)); err != nil {
			t.Fatal(err)
		}
	}
	project, outside := base+"/project", base+"/outside"
	good := plan.Mount{Kind: plan.KindRW, Source: project, Target: project, Dir: true}
	if err := mount(t, good); err != nil {
		t.Fatalf("control: %v", err)
	}
	for name, step := range map[string]plan.Mount{
		"a source that is a link":    {Kind: plan.KindRW, Source: project + "/link", Target: project + "/real", Dir: true},
		"a source behind a link":     {Kind: plan.KindRW, Source: project + "/link/in", Target: project + "/real", Dir: true},
		"a target that is a link":    {Kind: plan.KindRW, Source: outside, Target: project + "/self", Dir: true},
		"a target behind a link":     {Kind: plan.KindRO, Source: project + "/real", Target: project + "/link/in", Dir: true},
		"a target through /proc":     {Kind: plan.KindRO, Source: project + "/real", Target: project + "/root" + outside + "/in", Dir: true},
		"a pin that is a link":       {Kind: plan.KindPin, Target: project + "/self", Dir: true},
		"a folder behind a link":     {Kind: plan.KindDir, Target: project + "/link/new", Dir: true},
		"a missing target on disk":   {Kind: plan.KindRO, Source: project + "/real", Target: project + "/missing", Dir: true},
		"a mask that is a link":      {Kind: plan.KindMask, Target: project + "/link", Dir: true},
		"an overlay without a layer": {Kind: plan.KindOverlay, Source: project + "/real", Target: project + "/real", Dir: true},
	} {
		var f *jail.Failure
		if err := mount(t, good, step); !errors.As(err, &f) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, made := range []string{outside + "/new", project + "/missing"} {
		if _, err := os.Lstat(made); err == nil {
			t.Errorf("%s was made", made)
		}
	}
}

func TestPreparationFollowsNoLink(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Mkdir(base+"/outside", 0o755), os.Symlink("outside", base+"/link")); err != nil {
		t.Fatal(err)
	}
	for _, step := range []plan.Prepare{
		{Path: base + "/link/new", Dir: true, Mode: 0o755},
		{Path: base + "/link", Dir: true, Mode: 0o755},
		{Path: base + "/link/file", Text: "x", Mode: 0o600},
	} {
		if _, err := prepare([]plan.Prepare{step}); !errors.Is(err, unix.ELOOP) && !errors.Is(err, unix.ENOTDIR) {
			t.Errorf("%s: %v", step.Path, err)
		}
	}
	if left, err := os.ReadDir(base + "/outside"); err != nil || len(left) > 0 {
		t.Errorf("made %v %v", left, err)
	}
	file := plan.Prepare{Path: base + "/a/b/file", Text: "one", Mode: 0o600}
	for _, text := range []string{"one", "two", "two"} {
		file.Text = text
		if _, err := prepare([]plan.Prepare{file}); err != nil {
			t.Fatal(err)
		}
		if have, err := os.ReadFile(file.Path); err != nil || string(have) != text {
			t.Errorf("%q %v", have, err)
		}
	}
}
