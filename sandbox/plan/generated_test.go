package plan

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"carrel/sandbox/policy"
)

// world is a generated tree and policy.
type world struct {
	lines []string
	p     policy.Policy
	m     Machine
}

func (w *world) add(lines ...string) { w.lines = append(w.lines, lines...) }

// generate makes a person's machine: home in odd places, links on the way, repositories in one another,
// secrets, sockets, more write roots, denials inside and outside of them.
func generate(r *rand.Rand) world {
	w := world{m: strong()}
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	chance := func(percent int) bool { return r.IntN(100) < percent }
	home := pick("/home/ada", "/home/ada", "/tmp/x/home", "/srv/homes/ada", "/link/ada")
	if home == "/link/ada" {
		w.add("/link -> /usr/home", "/usr/home/ada/")
	}
	root := pick(home+"/.carrel", home+"/.carrel", "/srv/carrel", "/tmp/x/carrel")
	w.p = policy.Defaults(home, root)
	w.p.Project = pick(home+"/p", home+"/code/deep/p", root+"/src/p", "/tmp/y/p", "/srv/p", home+"/.config/p", home+"/.cache/p", home)
	w.p.Private = root + "/sandbox/w"
	w.p.ReadOnly = chance(10)
	w.p.Network = policy.Network(pick("allow", "deny", "allowlist"))
	w.add(w.p.Project + "/main.go")
	for _, name := range []string{
		".ssh/id", ".ssh/a.pub", ".ssh/config", ".aws/credentials", ".netrc", ".bashrc", ".config/gh/hosts.yml", ".config/tool/x",
		".cache/pip/x", ".cache/other/x", "go/pkg/mod/x", ".npm/_cacache/x", ".npm/x", ".local/bin/tool", ".gnupg/pubring", ".gnupg/private-keys-v1.d/k",
		".mozilla/x", "notes/x", ".claude/settings.json", ".claude/.credentials.json", ".cargo/registry/x", ".cargo/bin/x", "code/other/x",
	} {
		if chance(60) {
			w.add(home + "/" + name)
		}
	}
	if chance(30) {
		w.add(home + "/.dot/sock |")
		w.m.Sockets = append(w.m.Sockets, home+"/.dot/sock", "/srv/sock", w.p.Project+"/sock")
		w.add("/srv/sock |", w.p.Project+"/sock |")
	}
	w.repositories(r)
	for range r.IntN(3) {
		w.p.Write = append(w.p.Write, pick(home+"/w", w.p.Project+"/sub", "/srv/w", home+"/.config/w", "/tmp/z", home+"/missing", home+"/.local"))
	}
	for _, dir := range w.p.Write {
		if !strings.HasSuffix(dir, "missing") {
			w.add(dir+"/f", dir+"/.vscode/tasks.json")
		}
	}
	for range r.IntN(4) {
		w.p.DenyRead = append(w.p.DenyRead, pick(w.p.Project+"/secret", w.p.Project+"/a/b/secret", "/srv/secret", home+"/notes", home+"/later/x", "/usr/bin/tool", home+"/code"))
	}
	for _, name := range w.p.DenyRead[len(w.p.DenyRead)-3:] {
		if chance(50) && strings.HasSuffix(name, "secret") {
			w.add(name + pick("", "/in", " -> /srv/behind"))
		}
	}
	w.add("/srv/behind", "/srv/open")
	return w
}

// repositories puts git into the project, one way or another, and guarded names.
func (w *world) repositories(r *rand.Rand) {
	p := w.p.Project
	switch r.IntN(5) {
	case 0:
		w.add(repo(p + "/.git")...)
	case 1:
		w.add(linkedWorktree("/srv/main/.git", "p", p)...)
		w.add(repo("/srv/main/.git")...)
	case 2:
		w.add(repo(p + "/.git")...)
		w.add(repo(p + "/.git/modules/m")...)
		w.add(p+"/m/.git = gitdir: ../.git/modules/m", p+"/m/x")
	case 3:
		w.add(p + "/.git = gitdir: /srv/behind")
	}
	for _, name := range []string{".vscode/x", "web/.claude/x", ".mcp.json", "a/.mcp.json", ".husky/x", "node_modules/y/.vscode/x", ".envrc", "src/x"} {
		if r.IntN(100) < 40 {
			w.add(p + "/" + name)
		}
	}
	for _, sub := range []string{"/vendor/sub", "/a/b/c"} {
		if r.IntN(100) < 40 {
			w.add(repo(p + sub + "/.git")...)
		}
	}
	if r.IntN(100) < 30 {
		w.add(p+"/real/x", p+"/.idea -> real")
	}
}

// Generated policies on generated trees: what the mounts show is what the policy says, no step fails, no
// mount can be renamed away, nothing that is denied appears later.
func TestGeneratedPlansMeanWhatTheirPoliciesSay(t *testing.T) {
	const seeds = 150
	made := 0
	for seed := range uint64(seeds) {
		if checkGenerated(t, seed) {
			made++
		}
	}
	if made < seeds/2 {
		t.Errorf("only %d plans were made", made)
	}
}

// FuzzGeneratedPlans goes on where the test ends.
func FuzzGeneratedPlans(f *testing.F) {
	f.Add(uint64(1000))
	f.Fuzz(func(t *testing.T, seed uint64) { checkGenerated(t, seed) })
}

// checkGenerated makes the plans of one seed and compares; false if the policy contradicts itself.
func checkGenerated(t *testing.T, seed uint64) bool {
	w := generate(rand.New(rand.NewPCG(seed, 7)))
	host := tree(w.lines...)
	plan, err := Make(w.p, w.m, host.tree(), Command{Tier: TierA})
	if err != nil {
		if !refusable(err) {
			t.Errorf("seed %d: %v", seed, err)
		}
		return false
	}
	v, walk := execute(plan, host), newWalker(w.p, host)
	wrong := slices.Clone(v.faults)
	for _, name := range walk.paths() {
		if got, want := v.sees(name), walk.expect(name); !agree(got, want, name, walk) {
			wrong = append(wrong, fmt.Sprintf("%s: %s, the policy says %s", name, got, want))
		}
	}
	wrong = append(wrong, appearing(v, walk)...)
	weak, err := Make(w.p, w.m, host.tree(), Command{Tier: TierC})
	if err != nil {
		t.Fatalf("seed %d: tier C: %v", seed, err)
	}
	wrong = append(wrong, granted(weak, walk)...)
	if len(wrong) > 0 {
		t.Fatalf("seed %d: project %s home %s read-only %v write %v deny %v\n%s\n\n%s\n%s\n%s", seed, w.p.Project, w.p.Home, w.p.ReadOnly, w.p.Write,
			w.p.DenyRead[len(w.p.DenyRead)-4:], strings.Join(wrong, "\n"), strings.Join(w.lines, "\n"), plan.Text(), weak.Text())
	}
	return true
}

// granted compares what Landlock grants in tier C with what it can hold of the policy: rights add up, so
// inside a writable folder nothing can be taken away.
func granted(p Plan, w walker) []string {
	var wrong []string
	for _, name := range w.paths() {
		var have Rights
		for _, a := range p.Access {
			if name == a.Path || strings.HasPrefix(name, a.Path+"/") || a.Path == "/" {
				have |= a.Rights
			}
		}
		n, want := w.host[name], w.expect(name)
		inRoot := w.under(name, w.roots())
		switch {
		case inRoot && have&Write == 0, !inRoot && want != layered && have&Write != 0 && !slices.Contains([]string{"/dev/null"}, name) && !strings.Contains(name, "/srv/main/.git/"):
			wrong = append(wrong, fmt.Sprintf("tier C: %s: granted %s, in a writable folder %v", name, have, inRoot))
		case want == gone && !inRoot && have&Read != 0:
			wrong = append(wrong, fmt.Sprintf("tier C: %s: granted %s, but denied", name, have))
		case want == readable && have&Read == 0 && n.kind.IsRegular() && !strings.HasPrefix(name, "/dev") && !strings.HasPrefix(name, "/proc"):
			wrong = append(wrong, fmt.Sprintf("tier C: %s: not readable", name))
		}
	}
	return wrong
}

// refusable: contradictions that a policy may hold.
func refusable(err error) bool {
	return strings.Contains(err.Error(), "denied") || strings.Contains(err.Error(), "private folder") || strings.Contains(err.Error(), "symbolic link")
}

// agree allows what is no harm: a folder that had to be put together is not writable or shows less.
func agree(got, want seen, name string, w walker) bool {
	if got == want {
		return true
	}
	n := w.host[name]
	shell := n.kind.IsDir() && got == gone && slices.ContainsFunc(w.paths(), func(p string) bool { return strings.HasPrefix(p, name+"/") })
	switch {
	case n.kind.IsDir() && (want == readable || want == gone) && got == gone:
		return true // rebuilt: it is there, but not the host's own
	case shell:
		return true
	case want == own && got == gone, want == own && got == readable && path.Dir(name) == "/":
		return true
	case strings.HasPrefix(name, "/proc") || strings.HasPrefix(name, "/dev") || strings.HasPrefix(name, "/run"):
		return got == gone
	case name == "/etc/resolv.conf":
		return got == own || got == readable
	case w.host["/srv/main/.git"] != nil && strings.HasPrefix(name, "/srv/main/.git"):
		return true // see TestLinkedWorktreeWritesOnlyWhatItsGitNeeds
	case n.kind == fs.ModeSymlink: // one that is made anew in a rebuilt folder, or a guard that is looked at
		return got == gone || want == gone || want == readable && got == changed // what it leads to is judged by itself
	}
	return false
}

// appearing lists denied names in home that would be seen if they appeared after the start.
func appearing(v *view, w walker) []string {
	var list []string
	home := w.lead(w.p.Home)
	if home == "" || w.under(home, w.roots()) {
		return nil
	}
	for _, d := range w.p.DenyRead {
		at, n, _ := w.host.find(d)
		if n == nil && at != "" && w.under(at, []string{home}) && !w.under(at, w.roots()) && v.late(at) {
			list = append(list, at+": it would be seen if it appeared")
		}
	}
	return list
}
