package plan

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"carrel/sandbox/policy"
)

// World is a generated world, put on disk.
type World struct {
	Policy policy.Policy
	walk   walker
	base   string
}

// NewWorld makes the world of a seed below a folder. Sockets are left out: their paths would be too long.
func NewWorld(t *testing.T, seed uint64, base string) World {
	t.Helper()
	w := generate(rand.New(rand.NewPCG(seed, 7)))
	text, err := json.Marshal(w.p)
	if err != nil {
		t.Fatal(err)
	}
	moved := World{base: base}
	if err := json.Unmarshal([]byte(strings.ReplaceAll(string(text), `"/`, `"`+base+`/`)), &moved.Policy); err != nil {
		t.Fatal(err)
	}
	lines := []string{base + "/usr/bin/tool"}
	for _, line := range w.lines {
		if !strings.HasSuffix(line, " |") {
			line = strings.NewReplacer(" -> /", " -> "+base+"/", "= /", "= "+base+"/", "gitdir: /", "gitdir: "+base+"/").Replace(line)
			lines = append(lines, base+line)
		}
	}
	host := tree(lines...)
	for _, name := range (walker{host: host}).paths() {
		if within(name, base) {
			write(t, name, host[name])
		}
	}
	moved.walk = newWalker(moved.Policy, host)
	return moved
}

// write puts one node on disk; folders come first, since names are sorted.
func write(t *testing.T, name string, n *node) {
	t.Helper()
	var err error
	switch {
	case n.kind.IsDir():
		err = os.MkdirAll(name, 0o755)
	case n.link != "":
		err = os.Symlink(n.link, name)
	default:
		err = os.WriteFile(name, []byte(n.text), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Refusable reports an error that the policy's own contradictions make.
func Refusable(err error) bool { return refusable(err) }

// Files are what a command is to try: regular files and folders below the world's top.
func (w World) Files() []string {
	return slices.DeleteFunc(w.walk.paths(), func(name string) bool {
		n := w.walk.host[name]
		return !inside(name, w.base) || !n.kind.IsRegular() && !n.kind.IsDir() || strings.Contains(name, "/srv/main/.git")
	})
}

// Wrong compares what a command could do, "r" and "w", with what the policy says. Without layers caches
// start empty.
func (w World) Wrong(name, could string, layers bool) string {
	want, dir := w.walk.expect(name), w.walk.host[name].kind.IsDir()
	read, written := strings.Contains(could, "r"), strings.Contains(could, "w")
	bad := false
	switch want {
	case gone:
		bad = read && !dir || written
	case readable:
		bad = !read && !dir || written
	case changed:
		bad = !read || !written
	case layered:
		bad = layers && (!read || !written) || !layers && read && !dir
	case own:
		bad = read && !dir // another's file, by the same name
	}
	if !bad {
		return ""
	}
	return fmt.Sprintf("%s: a command can %q, the policy says %s", strings.TrimPrefix(name, w.base), could, want)
}

// Untouched reports whether a file that is not the project's is what it was.
func (w World) Untouched(t *testing.T) {
	t.Helper()
	for _, name := range w.Files() {
		n := w.walk.host[name]
		if text, err := os.ReadFile(name); n.kind.IsRegular() && (err != nil || string(text) != n.text) && w.walk.expect(name) != changed {
			t.Errorf("%s was changed: %q, %v", name, text, err)
		}
		if left, _ := filepath.Glob(filepath.Join(name, ".tried*")); n.kind.IsDir() && len(left) > 0 && w.walk.expect(name) != changed {
			t.Errorf("%s: something was left: %v", name, left)
		}
	}
}
