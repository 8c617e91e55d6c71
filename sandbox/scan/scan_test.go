package scan_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"carrel/sandbox/scan"
)

// project makes a repository with a nested one, a submodule's git directory and editor settings.
func project(t *testing.T) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "project")
	for _, dir := range []string{root, filepath.Join(root, "vendor/sub")} {
		git(t, "", "init", "-q", dir)
	}
	write(t, root, ".git/modules/sm/HEAD", "ref: refs/heads/main\n")
	write(t, root, ".git/modules/sm/config", "[core]\n\tbare = false\n")
	write(t, root, ".vscode/tasks.json", "{}\n")
	write(t, root, "src/a.go", "package a\n")
	return root
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1"}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func write(t *testing.T, root, name, text string) {
	t.Helper()
	file := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// found runs a shell script as the command and gives the report.
func found(t *testing.T, s *scan.Scanner, root, script string) scan.Report {
	t.Helper()
	before, err := s.Before(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sh(t, root, script)
	r, err := s.After(t.Context(), before)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func sh(t *testing.T, dir, script string) {
	t.Helper()
	cmd := exec.Command("bash", "-ec", script)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "PROJECT=" + dir}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

func paths(r scan.Report) []string {
	var list []string
	for _, f := range r.Findings {
		list = append(list, f.Path)
	}
	return list
}

// later are scripts of a command, and the paths that must be found after it, in order, with a ? when
// a person is asked.
func later() [][3]string {
	return [][3]string{
		// L34 L36 L39 L41 L43 L44 L46 L47 L48 L49 L53
		{"a hook of the project", `echo x > .git/hooks/pre-commit`, ".git/hooks/pre-commit"},
		{"a hook that was a sample", `mv .git/hooks/pre-commit.sample .git/hooks/pre-commit`, ".git/hooks/pre-commit"},
		{"configuration by git", `git config core.sshCommand pwn`, ".git/config"},
		{"configuration on the section's line", `echo '[core] fsmonitor=pwn' >> .git/config`, ".git/config"},
		{"configuration over two lines", `printf '[core]\n fsmonitor = pw\\\nn\n' >> .git/config`, ".git/config"},
		{"configuration in odd cases", `printf '[DIFF "X y"]\n TextConv = pwn\n' >> .git/config`, ".git/config"},
		{"configuration that includes more", `printf '[includeIf "gitdir:/"]\n path = ../evil\n' >> .git/config`, ".git/config"},
		{"an alias that is a program", `git config alias.st '!pwn'`, ".git/config"},
		{"a remote that is a program", `git config remote.o.url 'ext::sh -c pwn'`, ".git/config"},
		{"a redirection of addresses", `git config url.https://evil.test/.insteadOf https://good.test/`, ".git/config?"},
		{"a missing commondir", `mkdir evil; echo "$PROJECT/evil" > .git/commondir`, ".git/commondir"},
		{"a configuration per worktree", `printf '[core]\n fsmonitor=pwn\n' > .git/config.worktree`, ".git/config.worktree"},
		{"a hook of a nested repository", `echo x > vendor/sub/.git/hooks/post-merge`, "vendor/sub/.git/hooks/post-merge"},
		{"a hook of a submodule", `mkdir .git/modules/sm/hooks; echo x > .git/modules/sm/hooks/update`, ".git/modules/sm/hooks/update"},
		{"configuration of a submodule", `printf '[core]\n fsmonitor=pwn\n' >> .git/modules/sm/config`, ".git/modules/sm/config"},
		{"a new repository with a hook", `git init -q s9; echo x > s9/.git/hooks/post-checkout`, "s9/.git/hooks/post-checkout"},
		{"a new repository far down", `mkdir -p a/b/c/d/e; git init -q a/b/c/d/e; git -C a/b/c/d/e config core.fsmonitor pwn`, "a/b/c/d/e/.git/config"},
		{"a bare repository", `git init -q --bare b; git -C b config core.worktree ..; git -C b config core.fsmonitor pwn`, "b/config"},
		{"a gitfile that leads out", `mkdir g; echo 'gitdir: /elsewhere' > g/.git`, "g/.git"},
		{"a gitfile that climbs", `mkdir g; echo 'gitdir: ../../x/.git/modules/y' > g/.git`, "g/.git"},
		{"a .git that is a link", `mkdir g; ln -s ../src g/.git`, "g/.git"},
		{"hooks that are a link", `mkdir evil; rm -r .git/hooks; ln -s ../evil .git/hooks`, ".git/hooks"},
		{"a configuration that is a link", `mv .git/config c; ln -s ../c .git/config`, ".git/config"},
		{"a configuration that is a pipe", `rm vendor/sub/.git/config; mkfifo vendor/sub/.git/config`, "vendor/sub/.git/config"},
		{"a configuration too long to read", `head -c 300000 /dev/zero | tr '\0' '#' >> .git/config`, ".git/config"},
		{"editor settings replaced by rename", `mv .vscode .v; mkdir .vscode; echo 1 > .vscode/tasks.json`, ".vscode/tasks.json"},
		{"editor settings changed in place", `echo pwn >> .vscode/tasks.json`, ".vscode/tasks.json"},
		{"agent settings", `mkdir -p .claude/hooks; echo {} > .claude/settings.json; echo x > .claude/hooks/h; echo x > .claude/notes.md; echo {} > .mcp.json`, ".claude/hooks/h .claude/settings.json .mcp.json"},
		{"agent settings in another case", `mkdir .Cursor; echo {} > .Cursor/MCP.json`, ".Cursor/MCP.json"},
		{"settings that are a link", `ln -s src .claude; ln -s src .husky`, ".claude .husky"},
		{"our own files", `mkdir .carrel; echo x > .carrel/tool_pre; echo x > .carrel/init`, ".carrel/init .carrel/tool_pre"},
		{"a folder of hooks", `mkdir -p .husky/_; echo x > .husky/_/pre-commit`, ".husky/_/pre-commit"},
		{"files that a shell reads", `echo x > .envrc; echo x > src/.envrc`, ".envrc src/.envrc"},
		{"files that tools read", `echo x > .npmrc`, ".npmrc?"},
		{"another version control's hooks", `mkdir -p .hg sub/.hg .jj/repo; touch .hg/hgrc .hg/dirstate sub/.hg/hgrc .jj/repo/config.toml`, ".hg/hgrc .jj/repo/config.toml sub/.hg/hgrc"},
		{"settings of more agents", `mkdir -p .github/hooks .github/workflows .clinerules/hooks; touch crush.json .claude.json .github/hooks/a.json .github/workflows/b.yml .clinerules/a.md .clinerules/hooks/b`,
			".claude.json .clinerules/hooks/b .github/hooks/a.json crush.json"},
		{"settings of more editors", `mkdir .run .vs; touch .run/a.run.xml .run/a.pid .vs/tasks.vs.json .vs/x a.code-workspace .lazy.lua`, ".lazy.lua .run/a.run.xml .vs/tasks.vs.json a.code-workspace"},
		{"files of debuggers", `touch .pdbrc .perldb`, ".pdbrc .perldb"},
		{"files of toolchains", `mkdir .cargo; touch .cargo/config.toml rust-toolchain.toml`, ".cargo/config.toml? rust-toolchain.toml?"},
		{"a long s", `mkdir .vſcode; touch .vſcode/taſks.json`, ".vſcode/taſks.json"},
		{"an alias that makes git run a program", `git config alias.st 'rebase -x pwn HEAD'`, ".git/config"},
		{"an alias that is an option", `git config alias.st '--exec-path=x st'`, ".git/config"},
		{"an alias with a short option", `git config alias.g 'grep "--ope"=pwn x'`, ".git/config"},
		{"a template of hooks", `git config init.templateDir x`, ".git/config"},
		{"an extension of a filter", `git config lfs.extension.a.clean pwn`, ".git/config"},
		{"a program of git's companions", `git config gitflow.path.hooks x; git config annex.freezecontent-command pwn; git config svn.authorsProg pwn; git config tig.bind.main 'x !pwn'`, ".git/config"},
		{"odd names", `d=$'a\nb\xff'; mkdir "$d"; echo x > "$d/.envrc"`, "a\nb\xff/.envrc"},
		{"three names that make the project a git directory", `touch HEAD objects refs; git init -q n; echo x > n/.git/hooks/update`, "n/.git/hooks/update"},
	}
}

func TestFindsWhatCouldRunLater(t *testing.T) {
	for _, c := range later() {
		name, script, want := c[0], c[1], c[2]
		t.Run(name, func(t *testing.T) {
			root := project(t)
			r := found(t, scan.New(scan.Config{Roots: []string{root}}), root, script)
			var got []string
			for _, f := range r.Findings {
				if f.Action == scan.Ask {
					f.Path += "?"
				}
				got = append(got, f.Path)
				if f.Reason == "" || strings.Contains(f.Reason, "\n") || !utf8.ValidString(f.Reason) {
					t.Errorf("reason %q", f.Reason)
				}
			}
			if strings.Join(got, " ") != want || r.Partial != "" {
				t.Fatalf("found %q (%s), want %q", got, r.Partial, want)
			}
		})
	}
}

func TestFindsNothingInOrdinaryWork(t *testing.T) {
	for name, script := range map[string]string{
		"commits and branches":   `git add -A src; git -c user.name=a -c user.email=a@b commit -qm x; git branch b; git gc -q`,
		"a nested repository":    `git init -q fresh; git -C fresh config user.name n; git init -q --bare mirror.git`,
		"a worktree inside":      `git add src; git -c user.name=a -c user.email=a@b commit -qm x; git worktree add -q wt`,
		"a remote":               `git remote add origin https://forge.test/x.git; git config branch.main.remote origin`,
		"a submodule's checkout": `mkdir sm; echo 'gitdir: ../.git/modules/sm' > sm/.git`,
		"large file filters":     `git config filter.lfs.process 'git-lfs filter-process'`,
		"removal":                `rm -r .vscode vendor .git/hooks`,
		"agent instructions":     `mkdir -p .claude/commands; echo hi > .claude/commands/a.md; echo hi > AGENTS.md`,
		"what a build makes":     `mkdir -p node_modules/a; echo {} > node_modules/a/package.json; echo all: > Makefile`,
	} {
		t.Run(name, func(t *testing.T) {
			root := project(t)
			if r := found(t, scan.New(scan.Config{Roots: []string{root}}), root, script); len(r.Findings) > 0 || r.Partial != "" {
				t.Fatalf("found %q (%s)", paths(r), r.Partial)
			}
		})
	}
}

func TestSeesEachChangeAgain(t *testing.T) {
	root := project(t)
	s := scan.New(scan.Config{Roots: []string{root}})
	for i, script := range []string{
		`mkdir deep; git init -q deep/r`,
		`echo x > deep/r/.git/hooks/update`,
		`echo y > deep/r/.git/hooks/update`,
		`touch -d 2001-01-01 deep/r/.git/hooks deep/r/.git/hooks/update`,
		`chmod +x deep/r/.git/hooks/update`,
		`echo z > deep/r/.git/hooks/update; touch -d 2001-01-01 deep/r/.git/hooks deep/r/.git/hooks/update`,
	} {
		want := []string{"deep/r/.git/hooks/update"}
		if i == 0 || i == 3 {
			want = nil
		}
		if r := found(t, s, root, script); !slices.Equal(paths(r), want) {
			t.Fatalf("%s: found %q", script, paths(r))
		}
	}
}

func TestSeesWorktreeAndItsGitDirectory(t *testing.T) {
	root := project(t)
	sh(t, root, `git add src; git -c user.name=a -c user.email=a@b commit -qm x; git worktree add -q ../wt`)
	wt := filepath.Join(filepath.Dir(root), "wt")
	s := scan.New(scan.Config{Roots: []string{wt, filepath.Join(root, ".git")}})
	r := found(t, s, wt, `
		c=$(git rev-parse --git-common-dir); echo x > "$c/hooks/post-commit"
		printf '[core]\n fsmonitor=pwn\n' > "$c/worktrees/wt/config.worktree"
		echo /elsewhere > "$c/worktrees/wt/commondir"
		cp -r "$c" evil; echo "gitdir: $PWD/evil" > .git`)
	want := []string{".git", "evil/hooks/post-commit", "hooks/post-commit", "worktrees/wt/commondir", "worktrees/wt/config.worktree"}
	got := paths(r)
	got = slices.DeleteFunc(got, func(p string) bool { return strings.HasPrefix(p, "evil/worktrees/") })
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Fatalf("found %q, want %q", got, want)
	}
}

func TestHeldPlacesAreTheHosts(t *testing.T) {
	root := project(t)
	held := []string{filepath.Join(root, ".vscode"), filepath.Join(root, ".git/hooks"), filepath.Join(root, ".git/config")}
	s := scan.New(scan.Config{Roots: []string{root}, Held: held})
	if r := found(t, s, root, `echo user > .vscode/tasks.json; echo user > .git/hooks/pre-push`); len(r.Findings) > 0 {
		t.Fatalf("found %q", paths(r))
	}
	open := scan.New(scan.Config{Roots: []string{root}, Held: []string{filepath.Join(root, ".git")}, Open: []string{filepath.Join(root, ".git/modules/sm")}})
	if r := found(t, open, root, `mkdir .git/modules/sm/hooks; echo x > .git/modules/sm/hooks/update; echo x > .git/hooks/update`); !slices.Equal(paths(r), []string{".git/modules/sm/hooks/update"}) {
		t.Fatalf("inside of a held folder found %q", paths(r))
	}
	sh(t, root, `rm .git/hooks/update`)
	// L127: the host replaces a held folder, and the mount goes with the old one.
	r := found(t, s, root, `mv .git/hooks .git/h; mkdir .git/hooks; echo pwn > .git/hooks/update; git config core.pager pwn`)
	if got := paths(r); !slices.Equal(got, []string{".git/config", ".git/hooks/update"}) ||
		r.Findings[0].Action != scan.Ask || r.Findings[1].Action != scan.Move {
		t.Fatalf("found %+v", r.Findings)
	}
}

func TestSaysWhenItIsCutShort(t *testing.T) {
	root := project(t)
	limits := scan.Limits{Folders: 40}
	r := found(t, scan.New(scan.Config{Roots: []string{root}, Limits: limits}), root,
		`for i in $(seq 60); do mkdir d$i; done`)
	if !strings.Contains(r.Partial, "40 folders") {
		t.Fatalf("partial is %q", r.Partial)
	}
	if r := found(t, scan.New(scan.Config{Roots: []string{root}, Limits: scan.Limits{Depth: 5}}), root,
		`mkdir -p 1/2/3/4/5/6/7`); !strings.Contains(r.Partial, "deeper than 5") {
		t.Fatalf("partial is %q", r.Partial)
	}
}

func TestEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := scan.New(scan.Config{Roots: []string{project(t)}}).Before(ctx); err == nil {
		t.Fatal("no error")
	}
}
