package sandbox

import (
	"os"
	"path/filepath"
	"testing"

	"carrel/sandbox/plan"
)

func TestGroundTellsOfWhatPlansRestOn(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir+"/file", "one")
	if err := os.Mkdir(dir+"/folder", 0o700); err != nil {
		t.Fatal(err)
	}
	g := newGround()
	defer g.close()
	for _, name := range []string{dir, dir + "/file", dir + "/folder", dir + "/later/below"} {
		if !g.Add(name) {
			t.Fatalf("%q can't be watched", name)
		}
	}
	steps := []struct {
		what string
		do   func() error
	}{
		{"a new file", func() error { return os.WriteFile(dir+"/new", nil, 0o600) }},
		{"a file's text", func() error { return os.WriteFile(dir+"/file", []byte("two"), 0o600) }},
		{"a replaced file", func() error { return os.Rename(dir+"/new", dir+"/file") }},
		{"a mode", func() error { return os.Chmod(dir+"/folder", 0o755) }},
		{"a name in a folder", func() error { return os.Symlink("x", dir+"/folder/link") }},
		{"a name that was missing", func() error { return os.MkdirAll(dir+"/later/below", 0o700) }},
		{"a folder that goes", func() error { return os.RemoveAll(dir + "/folder") }},
	}
	for _, s := range steps {
		before := g.Generation()
		if again := g.Generation(); again != before {
			t.Errorf("before %s: nothing happened, and the generation changed", s.what)
		}
		if err := s.do(); err != nil {
			t.Fatal(err)
		}
		if g.Generation() == before {
			t.Errorf("%s is not noticed", s.what)
		}
	}
}

// A secret that appears, and one that a link is bent to, are denied to the next command although the
// last plan was quick.
func TestPlanThatDidNotLookSeesWhatChanged(t *testing.T) {
	eachTier(t, func(t *testing.T, tier plan.Tier) {
		l := open(t, tier, nil)
		for range 3 {
			l.sh(t, "true")
		}
		writeFile(t, l.home+"/visible", "plain")
		if out, _ := l.sh(t, "cat ~/visible"); out != "plain" {
			t.Errorf("a new file: %q", out)
		}
		if err := os.MkdirAll(filepath.Join(l.home, ".aws"), 0o700); err != nil {
			t.Fatal(err)
		}
		writeFile(t, l.home+"/.aws/credentials", "SECRET")
		if out, exit := l.sh(t, "cat ~/.aws/credentials"); exit.Code == 0 {
			t.Errorf("a new secret: %q", out)
		}
	})
}
