package plan

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"carrel/sandbox/policy"
)

// counting counts questions to a tree.
type counting struct {
	memory
	lists int
}

func (c *counting) ReadDir(name string) ([]Entry, error) {
	c.lists++
	return c.memory.ReadDir(name)
}

// clocked is a cache whose clock the test moves.
func clocked() (*Cache, *time.Time) {
	now := time.Unix(1_800_000_000, 0)
	c := NewCache()
	c.Now = func() time.Time { return now }
	return c, &now
}

func TestNextPlanLooksAtNothingThatIsTheSame(t *testing.T) {
	c, now := clocked()
	host := &counting{memory: tree(append(repo("/home/ada/p/.git"), "/home/ada/p/a/b/x", "/home/ada/.ssh/id")...)}
	first, err := c.Make(ada(), strong(), host, Command{Env: []string{"PATH=/bin"}})
	if err != nil {
		t.Fatal(err)
	}
	*now = now.Add(time.Hour)
	before := host.lists
	second, err := c.Make(ada(), strong(), host, Command{Dir: "/home/ada/p/a", Env: []string{"PATH=/usr/bin"}})
	if err != nil {
		t.Fatal(err)
	}
	if host.lists != before {
		t.Errorf("%d folders were listed again", host.lists-before)
	}
	if second.Key() != first.Key() || second.Dir != "/home/ada/p/a" || slices.Equal(first.Env, second.Env) {
		t.Errorf("the second plan is not the first with another command: %q, %v", second.Dir, second.Env)
	}
}

// Whatever changes on the way is seen: a new secret in home, a guard, another configuration, a nested
// repository (once MaxAge is over, or when the cache is told to forget).
func TestNextPlanSeesWhatHasChanged(t *testing.T) {
	for name, change := range map[string]struct {
		line string
		sees func(Plan) bool
	}{
		"a new entry of home": {"/home/ada/later/x", func(p Plan) bool { return mounted(p, KindRO, "/home/ada/later") }},
		"a guard":             {"/home/ada/p/.mcp.json", func(p Plan) bool { return mounted(p, KindRO, "/home/ada/p/.mcp.json") }},
		"a guard below":       {"/home/ada/p/a/.mcp.json", func(p Plan) bool { return mounted(p, KindRO, "/home/ada/p/a/.mcp.json") }},
		"a nested repository": {"/home/ada/p/a/b/.git/config", func(p Plan) bool { return mounted(p, KindRO, "/home/ada/p/a/b/.git/config") }},
		"hooksPath": {`/home/ada/p/.git/config = [core]\n\thooksPath = a\n`, func(p Plan) bool {
			return mounted(p, KindRO, "/home/ada/p/a")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			c, now := clocked()
			host := &counting{memory: tree(append(repo("/home/ada/p/.git"), "/home/ada/p/a/b/x")...)}
			if _, err := c.Make(ada(), strong(), host, Command{}); err != nil {
				t.Fatal(err)
			}
			*now = now.Add(time.Minute)
			host.touch(change.line, now.Add(-time.Second))
			plan, err := c.Make(ada(), strong(), host, Command{})
			if err != nil {
				t.Fatal(err)
			}
			if !change.sees(plan) {
				t.Errorf("not seen:\n%s", plan.Text())
			}
		})
	}
}

func mounted(p Plan, kind Kind, target string) bool {
	return slices.ContainsFunc(p.Mounts, func(m Mount) bool { return m.Kind == kind && m.Target == target })
}

func TestForgetLooksForRepositoriesAtOnce(t *testing.T) {
	c, now := clocked()
	host := &counting{memory: tree("/home/ada/p/a/b/x")}
	if _, err := c.Make(ada(), strong(), host, Command{}); err != nil {
		t.Fatal(err)
	}
	host.touch("/home/ada/p/a/b/.git/config", *now)
	*now = now.Add(time.Second)
	plan, err := c.Make(ada(), strong(), host, Command{})
	if err != nil || mounted(plan, KindRO, "/home/ada/p/a/b/.git/config") {
		t.Fatalf("within MaxAge the search counts: %v", err)
	}
	c.Forget()
	plan, err = c.Make(ada(), strong(), host, Command{})
	if err != nil || !mounted(plan, KindRO, "/home/ada/p/a/b/.git/config") {
		t.Fatalf("the repository is not seen: %v\n%s", err, plan.Text())
	}
}

func TestRefreshLooksWhileNobodyWaits(t *testing.T) {
	c, now := clocked()
	host := &counting{memory: tree("/home/ada/p/a/b/x")}
	c.Refresh() // nothing is known yet
	if _, err := c.Make(ada(), strong(), host, Command{}); err != nil {
		t.Fatal(err)
	}
	*now = now.Add(c.MaxAge - time.Second)
	host.touch("/home/ada/p/a/b/.git/config", now.Add(-time.Second))
	c.Refresh()
	*now = now.Add(2 * time.Second)
	plan, err := c.Make(ada(), strong(), host, Command{})
	if err != nil || !mounted(plan, KindRO, "/home/ada/p/a/b/.git/config") {
		t.Fatalf("the repository is not seen: %v", err)
	}
}

// A folder that changed a moment ago may change again without another time: it is listed again.
func TestFoldersThatJustChangedAreNotTrusted(t *testing.T) {
	c, now := clocked()
	c.MaxAge = 0
	host := &counting{memory: tree("/home/ada/p/a/x")}
	host.touch("/home/ada/p/a/y", *now)
	if _, err := c.Make(ada(), strong(), host, Command{}); err != nil {
		t.Fatal(err)
	}
	host.touch("/home/ada/p/a/.mcp.json", *now) // the same tick of the clock
	*now = now.Add(time.Second)
	plan, err := c.Make(ada(), strong(), host, Command{})
	if err != nil || !mounted(plan, KindRO, "/home/ada/p/a/.mcp.json") {
		t.Fatalf("not seen: %v\n%s", err, plan.Text())
	}
}

// The real tree: links are not followed, pipes not waited for, sizes bounded.
func TestHostTreeIsBounded(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"file": "text", "long": string(make([]byte, 100))} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("file", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	h := Host()
	if text, err := h.ReadFile(filepath.Join(dir, "file"), 50); err != nil || string(text) != "text" {
		t.Errorf("file: %q, %v", text, err)
	}
	for _, name := range []string{"long", "link", "absent", "."} {
		if _, err := h.ReadFile(filepath.Join(dir, name), 50); err == nil {
			t.Errorf("%s was read", name)
		}
	}
	entries, err := h.ReadDir(dir)
	if err != nil || len(entries) != 3 || entries[0].Name != "file" {
		t.Errorf("entries: %v, %v", entries, err)
	}
	if e, err := h.Lstat(filepath.Join(dir, "link")); err != nil || e.Type&os.ModeSymlink == 0 || e.Inode == 0 {
		t.Errorf("link: %v, %v", e, err)
	}
}

// BenchmarkPlan is a project of 20,000 files in 2,000 folders on the real file system: the first plan,
// the next one with a look at the tree, and one within MaxAge.
func BenchmarkPlan(b *testing.B) {
	home := b.TempDir()
	project := filepath.Join(home, "p")
	for i := range 2000 {
		dir := filepath.Join(project, fmt.Sprintf("d%d", i/50), fmt.Sprintf("e%d", i%50))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			b.Fatal(err)
		}
		for j := range 10 {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(j)), nil, 0o600); err != nil {
				b.Fatal(err)
			}
		}
	}
	p := policy.Defaults(home, filepath.Join(home, ".carrel"))
	p.Project, p.Private = project, filepath.Join(home, ".carrel/sandbox/w")
	for name, age := range map[string]time.Duration{"looked": 0, "within": time.Hour} {
		b.Run(name, func(b *testing.B) {
			c := NewCache()
			c.MaxAge = age
			if _, err := c.Make(p, strong(), Host(), Command{}); err != nil {
				b.Fatal(err)
			}
			time.Sleep(2 * settled) // what was just made is not trusted yet
			for b.Loop() {
				if _, err := c.Make(p, strong(), Host(), Command{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			if _, err := Make(p, strong(), Host(), Command{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
