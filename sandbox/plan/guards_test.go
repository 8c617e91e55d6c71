package plan

import (
	"path"
	"slices"
	"strings"
	"testing"

	"carrel/sandbox/policy"
)

// strong is a machine that can do everything.
func strong() Machine {
	return Machine{UserNS: true, NetNS: true, Overlay: true, Landlock: 7, Seccomp: true, UID: 1000, GID: 1000, Bwrap: Version{0, 12, 0}}
}

// ada is the policy of most tests: a project in home.
func ada() policy.Policy {
	p := policy.Defaults("/home/ada", "/home/ada/.carrel")
	p.Project = "/home/ada/p"
	p.Private = "/home/ada/.carrel/sandbox/w1"
	p.Caches = nil
	return p
}

// planOf makes the plan and executes it; steps that would fail fail the test.
func planOf(t *testing.T, p policy.Policy, m Machine, host memory, c Command) (Plan, *view) {
	t.Helper()
	plan, err := Make(p, m, host.tree(), c)
	if err != nil {
		t.Fatal(err)
	}
	v := execute(plan, host)
	for _, f := range v.faults {
		t.Errorf("%s\n%s", f, plan.Text())
	}
	return plan, v
}

func absentIn(p Plan, name string) bool {
	return slices.ContainsFunc(p.Absent, func(a Absent) bool { return a.Path == name })
}

// repo is a repository as git makes it, as lines of a tree.
func repo(dir string) []string {
	return []string{dir + "/HEAD = ref: refs/heads/main", dir + "/config", dir + "/objects/", dir + "/refs/heads/main",
		dir + "/hooks/pre-commit.sample", dir + "/info/exclude", dir + "/index"}
}

// linkedWorktree is a worktree of the repository common, as lines of a tree.
func linkedWorktree(common, id, work string) []string {
	admin := common + "/worktrees/" + id
	return []string{work + "/.git = gitdir: " + admin + `\n`, admin + `/commondir = ../..\n`, admin + "/gitdir = " + work + `/.git\n`,
		admin + "/HEAD = ref: refs/heads/" + id, admin + "/index"}
}

// Each guard of spec 003 inside a project: what exists is read-only, with pins above it.
func TestGuardsInTheProjectAreReadOnly(t *testing.T) {
	for _, c := range []struct {
		id, name string
		more     []string
	}{
		{"L34", ".git/hooks/pre-commit.sample", nil},
		{"L36", ".git/config", nil},
		{"L38", ".git/hooks", nil},
		{"L48", ".git/config", nil},
		{"L53", ".git/config", nil},
		{"info/attributes", ".git/info", nil},
		{"commondir that exists", ".git/commondir", []string{"/home/ada/p/.git/commondir = ."}},
		{"config.worktree", ".git/config.worktree", []string{"/home/ada/p/.git/config.worktree"}},
		{"L41", "vendor/sub/.git/hooks", repo("/home/ada/p/vendor/sub/.git")},
		{"nested config", "a/b/c/.git/config", repo("/home/ada/p/a/b/c/.git")},
		{"bare repository", "deep/bare/config", repo("/home/ada/p/deep/bare")},
		{"L43", ".git/modules/sm/config", repo("/home/ada/p/.git/modules/sm")},
		{"submodule with a slash", ".git/modules/x/y/hooks", repo("/home/ada/p/.git/modules/x/y")},
		{"submodule of a submodule", ".git/modules/sm/modules/in/config", append(repo("/home/ada/p/.git/modules/sm"), repo("/home/ada/p/.git/modules/sm/modules/in")...)},
		{"other worktrees", ".git/worktrees", linkedWorktree("/home/ada/p/.git", "w", "/elsewhere/w")},
		{"L46", ".vscode", []string{"/home/ada/p/.vscode/tasks.json"}},
		{"agent settings", ".claude", []string{"/home/ada/p/.claude/settings.json"}},
		{"agent settings below", "web/.claude", []string{"/home/ada/p/web/.claude/settings.json"}},
		{"servers", ".mcp.json", []string{"/home/ada/p/.mcp.json"}},
		{"husky", ".husky", []string{"/home/ada/p/.husky/pre-commit"}},
		{"our own", ".carrel", []string{"/home/ada/p/.carrel/init"}},
		{"hooksPath", "scripts/hooks", []string{"/home/ada/p/scripts/hooks/pre-push", `/home/ada/p/.git/config = [core]\n\thooksPath = scripts/hooks\n`}},
		{"include", ".gitconfig", []string{"/home/ada/p/.gitconfig", `/home/ada/p/.git/config = [include]\n\tpath = ../.gitconfig\n`}},
	} {
		t.Run(c.id, func(t *testing.T) {
			host := tree(append(repo("/home/ada/p/.git"), append([]string{"/home/ada/p/main.go"}, c.more...)...)...)
			plan, v := planOf(t, ada(), strong(), host, Command{})
			name := "/home/ada/p/" + c.name
			if got := v.sees(name); got != readable {
				t.Errorf("%s: %s, want %s\n%s", name, got, readable, plan.Text())
			}
			if got := v.sees("/home/ada/p/main.go"); got != changed {
				t.Errorf("main.go: %s", got)
			}
			if got := v.sees("/home/ada/p/.git/index"); got != changed {
				t.Errorf("git can't write its index: %s", got)
			}
		})
	}
}

// L39, L44, L47: what does not exist is covered by an empty folder, or looked for after the command.
func TestMissingGuardsAreStoodForOrLookedFor(t *testing.T) {
	host := tree(repo("/home/ada/p/.git")...)
	plan, v := planOf(t, ada(), strong(), host, Command{})
	for _, name := range []string{".claude", ".vscode", ".idea", ".husky", ".githooks", ".carrel", ".xum", ".mux", ".git/worktrees", ".git/modules"} {
		if got := v.sees("/home/ada/p/" + name); got != readable {
			t.Errorf("%s: %s", name, got)
		}
	}
	for _, name := range []string{".git/commondir", ".git/config.worktree", ".mcp.json", ".envrc", ".cursor"} {
		if !absentIn(plan, "/home/ada/p/"+name) {
			t.Errorf("%s is not looked for", name)
		}
	}
	plan, _ = planOf(t, ada(), strong(), tree("/home/ada/p/main.go"), Command{})
	if !absentIn(plan, "/home/ada/p/.git") {
		t.Error("a new repository is not looked for")
	}
}

// Where commands can't make names nothing has to stand in, and nothing is made.
func TestFoldersThatNobodyMayChangeGetNoStandIns(t *testing.T) {
	p := ada()
	p.Project = "/home/ada/locked"
	plan, _ := planOf(t, p, strong(), tree("/home/ada/locked/x"), Command{})
	for _, x := range plan.Prepare {
		if x.Stand {
			t.Errorf("%s is to be made", x.Path)
		}
	}
	if !absentIn(plan, "/home/ada/locked/.vscode") {
		t.Error("it is not looked for either")
	}
}

// L49, L51: a linked worktree gets what its git writes, and nothing that others obey.
func TestLinkedWorktreeWritesOnlyWhatItsGitNeeds(t *testing.T) {
	common := "/home/ada/main/.git"
	host := tree(slices.Concat(repo(common), linkedWorktree(common, "p", "/home/ada/p"), linkedWorktree(common, "other", "/home/ada/other"),
		[]string{common + "/logs/HEAD", common + "/packed-refs", common + "/ORIG_HEAD"})...)
	plan, v := planOf(t, ada(), strong(), host, Command{})
	for name, want := range map[string]seen{
		"objects": changed, "refs/heads/main": changed, "logs/HEAD": changed, "packed-refs": changed, "packed-refs.lock": changed,
		"worktrees/p/HEAD": changed, "worktrees/p/index.lock": changed,
		"worktrees/p/commondir": readable, "worktrees/p/gitdir": readable, "worktrees/other/HEAD": readable,
		"config": readable, "hooks": readable, "info": readable, "HEAD": readable, "index": readable, "ORIG_HEAD": readable,
	} {
		if got := v.sees(common + "/" + name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if got := v.sees("/home/ada/p/.git"); got != readable {
		t.Errorf(".git file: %s", got)
	}
	if got := v.sees("/home/ada/main/file"); got == changed {
		t.Error("the main working tree is writable")
	}
	if !absentIn(plan, common+"/commondir") || !slices.Contains(plan.Watch, common+"/config") {
		t.Errorf("commondir must be looked for, config watched:\n%s", plan.Text())
	}
	if slices.Contains(plan.Watch, common+"/index") {
		t.Error("git outside replaces its index all the time; that must not end commands")
	}
}

// A .git file proves nothing: what it names must name the folder back.
func TestHostileGitFilesGrantNothing(t *testing.T) {
	victim := "/home/ada/victim/.git"
	base := slices.Concat(repo(victim), linkedWorktree(victim, "w", "/home/ada/w"), []string{"/home/ada/.ssh/id", "/home/ada/secret/HEAD"})
	for name, lines := range map[string][]string{
		"another repository":             {"/home/ada/p/.git = gitdir: /home/ada/victim/.git"},
		"another's worktree":             {"/home/ada/p/.git = gitdir: /home/ada/victim/.git/worktrees/w"},
		"relative":                       {"/home/ada/p/.git = gitdir: ../victim/.git"},
		"a folder of keys":               {"/home/ada/p/.git = gitdir: ../.ssh"},
		"home":                           {"/home/ada/p/.git = gitdir: /home/ada"},
		"the top":                        {"/home/ada/p/.git = gitdir: /"},
		"a link inside that leads out":   {"/home/ada/p/.git = gitdir: in/worktrees/x", "/home/ada/p/in -> /home/ada/victim/.git"},
		"common folder elsewhere":        {"/home/ada/p/.git = gitdir: g/worktrees/x", "/home/ada/p/g/worktrees/x/commondir = /home/ada/victim/.git", "/home/ada/p/g/worktrees/x/gitdir = /home/ada/p/.git"},
		"a link for .git":                {"/home/ada/p/.git -> ../victim/.git"},
		"a submodule that is none":       {"/home/ada/p/.git = gitdir: ../victim/.git/modules/m", victim + "/modules/m/HEAD", victim + "/modules/m/objects/", victim + "/modules/m/refs/", victim + `/modules/m/config = [core]\nworktree = /home/ada/w`},
		"commondir with a line too much": {"/home/ada/p/.git = gitdir: /home/ada/victim/.git/worktrees/w\\nx"},
		"nothing":                        {"/home/ada/p/.git"},
		"far too long":                   {"/home/ada/p/.git = gitdir: " + strings.Repeat("x/", 20000) + "x"}, "a path too long": {"/home/ada/p/.git = gitdir: " + strings.Repeat("x/", 3000) + "x"},
		"a worktree that names p, forged": {"/home/ada/p/.git = gitdir: /home/ada/p/f/worktrees/x", "/home/ada/p/f/worktrees/x/gitdir = /home/ada/p/.git", `/home/ada/p/f/worktrees/x/commondir = ../../..\n`},
	} {
		t.Run(name, func(t *testing.T) {
			plan, v := planOf(t, ada(), strong(), tree(append(slices.Clone(base), lines...)...), Command{})
			if !slices.Equal(plan.Write, []string{"/home/ada/p"}) {
				t.Errorf("writable: %v", plan.Write)
			}
			for _, out := range []string{victim, victim + "/config", victim + "/worktrees/w/HEAD", "/home/ada/secret", "/home/ada/.ssh/id"} {
				if got := v.sees(out); got == changed || got == layered {
					t.Errorf("%s: %s", out, got)
				}
			}
			cPlan, err := Make(ada(), strong(), tree(append(slices.Clone(base), lines...)...).tree(), Command{Tier: TierC})
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range cPlan.Access {
				if a.Rights&Write != 0 && !within(a.Path, "/home/ada/p") && !within(a.Path, "/dev") && !within(a.Path, "/home/ada/.carrel/sandbox/w1") {
					t.Errorf("tier C grants %s", a.Path)
				}
			}
		})
	}
}

// A submodule that is opened by itself is written by its git.
func TestSubmoduleAsProjectWritesItsGitFolder(t *testing.T) {
	dir := "/home/ada/super/.git/modules/m"
	host := tree(append(repo(dir), "/home/ada/super/m/.git = gitdir: ../.git/modules/m", dir+`/config = [core]\n\tworktree = ../../../m\n`)...)
	p := ada()
	p.Project = "/home/ada/super/m"
	_, v := planOf(t, p, strong(), host, Command{})
	for name, want := range map[string]seen{dir + "/index": changed, dir + "/config": readable, dir + "/hooks": readable, "/home/ada/super/m/.git": readable} {
		if got := v.sees(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// A worktree inside the project keeps working, while the others' folders stay as they are.
func TestWorktreeInsideTheProjectKeepsItsState(t *testing.T) {
	host := tree(slices.Concat(repo("/home/ada/p/.git"), linkedWorktree("/home/ada/p/.git", "in", "/home/ada/p/trees/in"),
		linkedWorktree("/home/ada/p/.git", "out", "/home/ada/out"))...)
	_, v := planOf(t, ada(), strong(), host, Command{})
	for name, want := range map[string]seen{"in/index": changed, "in/commondir": readable, "in/gitdir": readable, "out/index": readable} {
		if got := v.sees("/home/ada/p/.git/worktrees/" + name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if got := v.sees("/home/ada/p/trees/in/.git"); got != readable {
		t.Errorf(".git file: %s", got)
	}
}

// Guards that are links: the link can't be held, so it is looked at; what it leads to is read-only.
func TestGuardThatIsALinkIsLookedAt(t *testing.T) {
	host := tree("/home/ada/p/shared/claude/settings.json", "/home/ada/p/.claude -> shared/claude")
	plan, v := planOf(t, ada(), strong(), host, Command{})
	if got := v.sees("/home/ada/p/shared/claude/settings.json"); got != readable {
		t.Errorf("settings: %s", got)
	}
	if !slices.Contains(plan.Absent, Absent{Path: "/home/ada/p/.claude", Link: "shared/claude", Why: "tools outside obey it"}) {
		t.Errorf("the link is not looked at: %v", plan.Absent)
	}
}

// L03, L24, L33: where a write root covers home, its startup files and programs are guarded.
func TestHomeIsGuardedWhereItIsWritable(t *testing.T) {
	p := ada()
	p.Project = "/home/ada"
	host := tree("/home/ada/.bashrc", "/home/ada/.local/bin/tool", "/home/ada/.gitconfig", "/home/ada/.ssh/id", "/home/ada/.netrc", "/home/ada/notes")
	plan, v := planOf(t, p, strong(), host, Command{})
	for name, want := range map[string]seen{
		".bashrc": readable, ".local/bin": readable, ".gitconfig": readable, ".ssh/id": gone, ".netrc": gone, "notes": changed,
	} {
		if got := v.sees(path.Join("/home/ada", name)); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if !absentIn(plan, "/home/ada/.zshenv") || !absentIn(plan, "/home/ada/.bash_login") {
		t.Error("missing startup files are not looked for")
	}
	if !slices.ContainsFunc(plan.Unheld, func(s string) bool { return strings.Contains(s, "home folder lies in") }) {
		t.Errorf("it is not said that home is not rebuilt: %v", plan.Unheld)
	}
}
