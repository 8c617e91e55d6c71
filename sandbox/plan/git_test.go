package plan

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"carrel/sandbox/policy"
)

// git runs the real one, with nothing of whoever runs the tests.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "protocol.file.allow=always"}, args...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// real is a policy over a home on disk; links on the way to it are followed first.
func real(t *testing.T) (policy.Policy, string) {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := policy.Defaults(home, home+"/.carrel")
	p.Project, p.Private, p.Caches = home+"/p", home+"/.carrel/sandbox/w", nil
	return p, home
}

// What git makes is what is recognised: a linked worktree, also with relative paths, and a submodule.
func TestRepositoriesOfTheRealGitAreRecognised(t *testing.T) {
	p, home := real(t)
	git(t, home, "init", "-q", "main")
	git(t, home+"/main", "commit", "-q", "--allow-empty", "-m", "first")
	git(t, home+"/main", "worktree", "add", "-q", home+"/p", "-b", "task")
	git(t, home, "init", "-q", "lib")
	git(t, home+"/lib", "commit", "-q", "--allow-empty", "-m", "first")
	git(t, home+"/main", "submodule", "--quiet", "add", home+"/lib", "libs/lib")
	for project, want := range map[string]struct{ write, guarded []string }{
		home + "/p": {
			[]string{home + "/main/.git", home + "/p"},
			[]string{home + "/p/.git", home + "/main/.git/config", home + "/main/.git/hooks", home + "/main/.git/worktrees", home + "/main/.git/worktrees/p/gitdir"},
		},
		home + "/main": {
			[]string{home + "/main"},
			[]string{home + "/main/.git/config", home + "/main/.git/hooks", home + "/main/.git/modules/libs/lib/config", home + "/main/.git/modules/libs/lib/hooks", home + "/main/libs/lib/.git"},
		},
		home + "/main/libs/lib": {
			[]string{home + "/main/.git/modules/libs/lib", home + "/main/libs/lib"},
			[]string{home + "/main/.git/modules/libs/lib/config", home + "/main/libs/lib/.git"},
		},
	} {
		p.Project = project
		plan, err := Make(p, strong(), Host(), Command{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(plan.Write, want.write) {
			t.Errorf("%s: writable %v, want %v", project, plan.Write, want.write)
		}
		for _, g := range want.guarded {
			if !mounted(plan, KindRO, g) {
				t.Errorf("%s: %s is not guarded\n%s", project, g, plan.Text())
			}
		}
		if len(plan.Notes) > 0 {
			t.Errorf("%s: notes %v", project, plan.Notes)
		}
	}
}

// Configurations are read as git reads them, where it matters.
func TestGitConfigIsReadAsGitReadsIt(t *testing.T) {
	for name, text := range map[string]string{
		"plain":          "[core]\n\thooksPath = .githooks\n",
		"case":           "[CORE]\nHOOKSPATH=.x\n",
		"quotes":         "[core]\nhooksPath = \"a b;c\" # comment\n",
		"escape":         "[core]\nhooksPath = a\\\\b\\\"c\n",
		"comment":        "[core]\nhooksPath = x ; not this\n",
		"two":            "[core]\nhooksPath = one\n[other]\nhooksPath = no\n[core]\nhooksPath = two\n",
		"on one line":    "[core] hooksPath = here\n",
		"goes on":        "[core]\nhooksPath = a\\\nb\n",
		"spaces inside":  "[core]\nhooksPath =   a  b  \n",
		"carriage":       "[core]\r\nhooksPath = win\r\n",
		"subsection":     "[core \"x\"]\nhooksPath = no\n[core]\nhooksPath = yes\n",
		"after a remote": "[remote \"o ] x\"]\nurl = y\n[core]\nhooksPath = z\n",
		"tabs":           "[core]\n\thooksPath\t=\tq\n",
	} {
		file := filepath.Join(t.TempDir(), "config")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		want := strings.Split(strings.TrimSuffix(git(t, filepath.Dir(file), "config", "--file", file, "--get-all", "core.hooksPath"), "\n"), "\n")
		if got := parseGitConfig([]byte(text)).hooks; !slices.Equal(got, want) {
			t.Errorf("%s: %q, git reads %q", name, got, want)
		}
	}
}

func TestGitConfigFindsIncludesAndWorktree(t *testing.T) {
	c := parseGitConfig([]byte("[include]\npath = a\n[includeIf \"gitdir:~/x/]\"]\npath = b\n[core]\nworktree = ../../m\n[remote \"include\"]\npath = no\n"))
	if !slices.Equal(c.includes, []string{"a", "b"}) || c.worktree != "../../m" {
		t.Errorf("%+v", c)
	}
}

// Whatever a .git file and what it leads to say: a plan is made or refused, nothing outside is granted,
// and it takes no time.
func FuzzGitFiles(f *testing.F) {
	f.Add("gitdir: /home/ada/victim/.git/worktrees/w", "../..", "/home/ada/p/.git", "[core]\nhooksPath = x\n")
	f.Add("gitdir: ../victim/.git/modules/m\n", "..", "x", "[core]\nworktree = ../../../../p\n")
	f.Add("gitdir: in/worktrees/x", "/home/ada/victim/.git\n", "/home/ada/p/.git\n", "[include]\npath = /etc/passwd\n")
	f.Add("gitdir: "+strings.Repeat("../", 2000)+"etc", "\x00", "\n\n", "[")
	f.Fuzz(func(t *testing.T, dot, commondir, gitdir, config string) {
		host := tree(append(repo("/home/ada/victim/.git"), linkedWorktree("/home/ada/victim/.git", "w", "/home/ada/w")...)...)
		for name, text := range map[string]string{
			"/home/ada/p/.git": dot, "/home/ada/p/in/worktrees/x/commondir": commondir, "/home/ada/p/in/worktrees/x/gitdir": gitdir, "/home/ada/p/in/config": config,
			"/home/ada/p/in/HEAD": "", "/home/ada/p/sub/.git": dot, "/home/ada/victim/README": "",
		} {
			host.put(name, &node{text: text})
		}
		host.add("/home/ada/p/in/objects/")
		host.add("/home/ada/p/in/refs/")
		start := time.Now()
		plan, err := Make(ada(), strong(), host.tree(), Command{})
		if err != nil {
			return
		}
		if d := time.Since(start); d > 5*time.Second {
			t.Errorf("it took %s", d)
		}
		for _, w := range plan.Write {
			if !within(w, "/home/ada/p") {
				t.Errorf("%s is writable", w)
			}
		}
		v := execute(plan, host)
		if len(v.faults) > 0 {
			t.Errorf("%v", v.faults)
		}
	})
}
