package plan

import (
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"carrel/sandbox/policy"
)

var update = flag.Bool("update", false, "write the golden files again")

// golden compares with a file in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; look at it, then run the test with -update\n%s", file, got)
	}
}

// few is a policy that is short enough to be read.
func few(home string) policy.Policy {
	return policy.Policy{
		Project: home + "/p", Home: home, Root: home + "/.carrel", Private: home + "/.carrel/sandbox/w1",
		DenyRead: []string{home + "/.ssh", home + "/.netrc", home + "/.carrel"}, AllowRead: []string{home + "/.ssh/*.pub"},
		Guards:  []policy.Guard{{Name: ".claude", Dir: true, Deep: true, Hold: true}, {Name: ".mcp.json", Deep: true}, {Name: home + "/.zshenv"}},
		Caches:  []policy.Cache{{Path: home + "/.npm/_cacache", Mode: policy.CacheOverlay}, {Path: home + "/.cache/pip", Mode: policy.CacheOverlay, Fresh: true}},
		Network: policy.NetworkAllowlist, Env: []string{"PATH"},
	}
}

func fewTree(home string) memory {
	return tree(append(repo(home+"/p/.git"), home+"/.ssh/id", home+"/.ssh/id.pub", home+"/.netrc", home+"/.zshrc", home+"/.npm/_cacache/x",
		home+"/.npm/settings", home+"/p/main.go", home+"/p/.claude/settings.json", home+`/odd "name"/x`, home+"/docs -> /srv/docs")...)
}

func TestSeatbeltProfileIsTheOneThatWasRead(t *testing.T) {
	profile, params, err := Seatbelt(few("/Users/ada"), fewTree("/Users/ada").tree(), Command{Proxy: 8123})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "seatbelt.golden", profile+"\n; parameters\n"+strings.Join(params, "\n")+"\n")
}

// An evaluator of the file rules of a profile: the last rule that matches decides, but a refusal of one
// operation is not lifted by a rule for a family of them.
type sbpl struct {
	rules []sbplRule
}

type sbplRule struct {
	allow bool
	ops   []string
	match func(string) bool
}

func parseSeatbelt(t *testing.T, profile string, params []string) sbpl {
	t.Helper()
	values := map[string]string{}
	for _, p := range params {
		name, value, _ := strings.Cut(p, "=")
		values[name] = value
	}
	var s sbpl
	rule := regexp.MustCompile(`^\((allow|deny) ((?:file-[a-z*-]+ ?)+)\((literal|subpath|regex) \(param "([A-Z0-9_]+)"\)\)\)$`)
	for line := range strings.Lines(profile) {
		line = strings.TrimSpace(line)
		m := rule.FindStringSubmatch(line)
		if m == nil {
			if strings.Contains(line, "param") && strings.Contains(line, "file-") {
				t.Fatalf("the evaluator does not know %q", line)
			}
			continue
		}
		value, ok := values[m[4]]
		if !ok {
			t.Fatalf("%s: no such parameter", line)
		}
		r := sbplRule{allow: m[1] == "allow", ops: strings.Fields(m[2])}
		switch m[3] {
		case "literal":
			r.match = func(p string) bool { return p == value }
		case "subpath":
			r.match = func(p string) bool { return p == value || strings.HasPrefix(p, value+"/") }
		case "regex":
			r.match = regexp.MustCompile(value).MatchString
		}
		s.rules = append(s.rules, r)
	}
	return s
}

// may answers for one operation; reading starts allowed, writing refused.
func (s sbpl) may(op, name string) bool {
	verdict, exact := strings.HasPrefix(op, "file-read"), false
	for _, r := range s.rules {
		for _, o := range r.ops {
			family, wild := strings.CutSuffix(o, "*")
			if !r.match(name) || o != op && !(wild && strings.HasPrefix(op, family)) {
				continue
			}
			if exact && wild && r.allow {
				continue
			}
			verdict, exact = r.allow, !wild && !r.allow
		}
	}
	return verdict
}

func TestSeatbeltMeansWhatThePolicySays(t *testing.T) {
	made := 0
	for seed := range uint64(80) {
		w := generate(rand.New(rand.NewPCG(seed, 11)))
		host := tree(w.lines...)
		profile, params, err := Seatbelt(w.p, host.tree(), Command{})
		if err != nil {
			if !refusable(err) {
				t.Errorf("seed %d: %v", seed, err)
			}
			continue
		}
		made++
		s, walk := parseSeatbelt(t, profile, params), newWalker(w.p, host)
		var wrong []string
		for _, name := range walk.paths() {
			want, n := walk.expect(name), host[name]
			if n.kind == fs.ModeSocket || n.kind == fs.ModeSymlink || strings.Contains(name, "/srv/main/.git") {
				continue
			}
			read, write := s.may("file-read-data", name), s.may("file-write-data", name)
			if read != (want != gone) || write != (want == changed || want == layered && !w.p.ReadOnly) {
				wrong = append(wrong, fmt.Sprintf("%s: read %v, write %v, the policy says %s", name, read, write, want))
			}
		}
		if len(wrong) > 0 {
			t.Fatalf("seed %d: project %s home %s write %v\n%s\n%s\n%s\n%s", seed, w.p.Project, w.p.Home, w.p.Write, strings.Join(wrong, "\n"),
				strings.Join(w.lines, "\n"), profile[len(seatbeltBase):], strings.Join(params, "\n"))
		}
	}
	if made < 40 {
		t.Errorf("only %d profiles were made", made)
	}
}

// Missing names, other cases of letters, renamed folders: what mounts can't hold a profile does.
func TestSeatbeltGuardsNamesThatDoNotExist(t *testing.T) {
	p := few("/Users/ada")
	p.Guards = policy.Defaults("/Users/ada", "/Users/ada/.carrel").Guards
	profile, params, err := Seatbelt(p, fewTree("/Users/ada").tree(), Command{})
	if err != nil {
		t.Fatal(err)
	}
	s := parseSeatbelt(t, profile, params)
	for _, name := range []string{
		".git/commondir", ".GIT/HOOKS/post-checkout", ".vscode/tasks.json", ".VSCode/tasks.json", ".mcp.json", ".MCP.json", // L39, L46, L47
		"sub9/.git/hooks/post-checkout", "a/b/.git/config", "a/b/.Git/Config.worktree", ".claude/hooks/x", // L44
	} {
		if s.may("file-write-create", "/Users/ada/p/"+name) {
			t.Errorf("%s can be made", name)
		}
	}
	for _, name := range []string{"", "/.git", "/.git/hooks", "/.claude"} { // L38
		if s.may("file-write-unlink", "/Users/ada/p"+name) {
			t.Errorf("p%s can be renamed", name)
		}
	}
	for _, name := range []string{"/Users/ada/.ssh/id", "/Users/ada/.SSH/id", "/Users/ada/.ssh/new", "/Users/ada/.ssh/x.pub/in"} { // L54, L67
		if s.may("file-read-data", name) {
			t.Errorf("%s can be read", name)
		}
	}
	for _, name := range []string{"/Users/ada/.ssh/id.pub", "/Users/ada/other", "/etc/hosts"} {
		if !s.may("file-read-data", name) {
			t.Errorf("%s can't be read", name)
		}
	}
	for _, name := range []string{"main.go", ".git/index.lock", ".git/refs/heads/x", "src/config", ".github/workflows/x.yml"} {
		if !s.may("file-write-create", "/Users/ada/p/"+name) {
			t.Errorf("%s can't be made", name)
		}
	}
}

// No path is text of a profile, whatever its name.
func TestSeatbeltPathsAreParameters(t *testing.T) {
	home := `/Users/a")(allow default)(x "`
	p := few(home)
	profile, params, err := Seatbelt(p, fewTree(home).tree(), Command{})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(profile, "allow default") {
		t.Error("a path is part of the profile")
	}
	if !slices.ContainsFunc(params, func(s string) bool { return strings.HasSuffix(s, "="+home+"/p") }) {
		t.Errorf("the project is no parameter: %v", params)
	}
}
