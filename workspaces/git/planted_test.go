package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// plant gives a repository's own configuration every key that makes git run a program, and the
// attributes that call for them. Each program leaves its name in root/ran.
func plant(r *repo) (mark func(name string) string) {
	if err := os.MkdirAll(r.path("ran"), 0o755); err != nil {
		r.t.Fatal(err)
	}
	return func(name string) string {
		path := r.path("bin", name)
		r.put("bin/"+name, "#!/bin/sh\ntouch '"+r.path("ran", name)+"'\ncat\n")
		if err := os.Chmod(path, 0o755); err != nil {
			r.t.Fatal(err)
		}
		return path
	}
}

func plantedConfig(mark func(string) string) string {
	return `
[core]
	fsmonitor = ` + mark("fsmonitor") + `
	hooksPath = ` + filepath.Dir(mark("post-index-change")) + `
	sshCommand = ` + mark("ssh") + `
	askPass = ` + mark("askpass") + `
	pager = ` + mark("pager") + `
	editor = ` + mark("editor") + `
	gitProxy = ` + mark("gitproxy") + `
	alternateRefsCommand = ` + mark("alternates") + `
[diff]
	external = ` + mark("diffexternal") + `
[diff "z"]
	textconv = ` + mark("textconv") + `
	command = ` + mark("diffcommand") + `
[filter "z"]
	clean = ` + mark("clean") + `
	smudge = ` + mark("smudge") + `
	required = true
[filter "p"]
	process = ` + mark("process") + `
	required = true
[filter "odd=name"]
	clean = ` + mark("oddclean") + `
	smudge = ` + mark("oddsmudge") + `
[merge "z"]
	driver = ` + mark("mergedriver") + `
[gpg]
	program = ` + mark("gpg") + `
[log]
	showSignature = true
[commit]
	gpgSign = true
[credential]
	helper = ` + mark("credential") + `
[pager]
	status = ` + mark("statuspager") + `
[protocol "ext"]
	allow = always
[remote "evil"]
	url = ext::` + mark("ext") + `
	promisor = true
	fetch = +refs/heads/*:refs/remotes/evil/*
	uploadpack = ` + mark("uploadpack") + `
[extensions]
	partialClone = evil
[submodule "lib"]
	update = !` + mark("update") + `
	url = ext::` + mark("subext") + `
[alias]
	status = !` + mark("alias") + `
`
}

func TestPlantedConfigurationNeverRuns(t *testing.T) { // O-SBX-04
	r := newCommit(t)
	r.put("repo/b.z", "b\n")
	r.put("repo/c.p", "c\n")
	r.put("repo/d.odd", "d\n")
	r.commit("repo", ".gitattributes", "*.z filter=z diff=z merge=z\n*.p filter=p\n*.odd filter=odd=name\n")
	first := r.git(r.dir, "rev-parse", "HEAD")
	w1 := r.add("w1")
	r.commit("w1", "e.z", "e\n")
	mark := plant(r)
	config := r.path("repo/.git/config")
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	hook := mark("hook")
	for _, name := range []string{"post-checkout", "reference-transaction", "post-index-change", "pre-commit"} {
		if err := os.Symlink(hook, r.path("repo/.git/hooks", name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(config, []byte(string(text)+plantedConfig(mark)), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"w1/b.z", "w1/c.p", "w1/d.odd", "w1/new.z"} {
		r.put(path, "changed\n")
	}
	exercise(t, r, w1, first)
	ran, err := os.ReadDir(r.path("ran"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range ran {
		t.Errorf("%s ran", e.Name())
	}
}

// exercise calls everything that Carrel does by itself.
func exercise(t *testing.T, r *repo, w1, base string) {
	ctx := t.Context()
	must := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	s, err := r.g.State(ctx, w1, base)
	must("state", err)
	if s.Unstaged != 3 || s.Untracked != 1 || s.Ahead != 1 || s.Added != 5 {
		t.Errorf("state %+v", s)
	}
	changes, more, err := r.g.Changes(ctx, w1, base, 100)
	must("changes", err)
	if len(changes) != 5 || more != 0 {
		t.Errorf("changes %+v", changes)
	}
	risk, err := r.g.AtRisk(ctx, w1)
	must("at risk", err)
	if risk.Counts != [3]int{3, 1, 1} || risk.Unknown != "" {
		t.Errorf("risk %+v", risk)
	}
	_, err = r.g.Identify(ctx, w1)
	must("identify", err)
	_, err = r.g.Head(ctx, w1)
	must("head", err)
	_, err = r.g.Branches(ctx, w1)
	must("branches", err)
	_, err = r.g.Merged(ctx, w1, "main")
	must("merged", err)
	for _, args := range [][]string{
		{"log", "-p", "-3"}, {"show"}, {"diff"}, {"diff", "HEAD"}, {"blame", "b.z"}, {"status"},
		{"stash", "list"}, {"for-each-ref"}, {"ls-files", "-m"},
	} {
		_, err := r.g.Read(ctx, w1, args...)
		must(strings.Join(args, " "), err)
	}
	// An object that only the planted promisor could bring.
	if _, err := r.g.Read(ctx, w1, "cat-file", "-p", strings.Repeat("12", 20)); err == nil {
		t.Error("found an object that is not there")
	}
	made, err := r.g.AddTree(ctx, NewTree{Repo: r.dir, Dir: r.path("w2"), Branch: "w2", Base: base, Create: true})
	must("add", err)
	if len(made.Warnings) != 2 { // git can't list the files of the third filter, whose name is odd
		t.Errorf("warnings %q", made.Warnings)
	}
	must("spare", r.g.PrepareSpare(ctx, r.dir, r.path("spare")))
	_, err = r.g.AddTree(ctx, NewTree{Repo: r.dir, Dir: r.path("w3"), Branch: "w3", Create: true, Base: base, Spare: r.path("spare")})
	must("claim", err)
	must("rename", r.g.RenameBranch(ctx, r.dir, "w3", "w4"))
	must("move", r.g.MoveTree(ctx, r.dir, r.path("w3"), r.path("w4")))
}

func TestPlantedGitFileOfAnotherRepositoryRunsNothing(t *testing.T) { // O-SBX-04
	r := newCommit(t)
	w1 := r.add("w1")
	mark := plant(r)
	r.git(r.root, "init", "-q", "evil")
	r.put("evil/.gitattributes", "* filter=z diff=z\n")
	r.commit("evil", "a.txt", "evil\n")
	r.put("evil/.git/extra", plantedConfig(mark))
	r.put("evil/.git/config", r.read("evil/.git/config")+"[include]\n\tpath = extra\n")
	r.put("w1/.git", "gitdir: "+r.path("evil/.git")+"\n")
	_, _ = r.g.State(t.Context(), w1, "main")
	_, _, _ = r.g.Changes(t.Context(), w1, "", 10)
	// And a folder that git takes for a bare repository.
	if err := os.Remove(r.path("w1/.git")); err != nil {
		t.Fatal(err)
	}
	r.git(r.root, "clone", "-q", "--bare", "evil", "bare")
	for _, name := range []string{"HEAD", "objects", "refs", "packed-refs"} {
		if err := os.Rename(r.path("bare", name), r.path("w1", name)); err != nil {
			t.Fatal(err)
		}
	}
	r.put("w1/config", strings.Replace(r.read("bare/config"), "bare = true", "bare = false\n\tworktree = "+w1, 1)+plantedConfig(mark))
	_, _ = r.g.State(t.Context(), w1, "main")
	_, _, _ = r.g.Changes(t.Context(), w1, "", 10)
	_, _ = r.g.AtRisk(t.Context(), w1)
	if ran, _ := os.ReadDir(r.path("ran")); len(ran) > 0 {
		t.Errorf("ran: %v", ran)
	}
}

func TestPlantedWorktreeConfigurationNeverRuns(t *testing.T) { // O-SBX-04
	r := newCommit(t)
	w1 := r.add("w1")
	mark := plant(r)
	r.git(r.dir, "config", "extensions.worktreeConfig", "true")
	r.put("repo/.git/worktrees/w1/config.worktree", plantedConfig(mark))
	r.put("repo/.git/info/attributes", "* filter=z diff=z merge=z\n")
	r.put("w1/a.txt", "changed\n")
	// A folder of no repository, so that git walks up to the planted one.
	r.put("w1/sub/.git/config", "")
	for _, dir := range []string{w1, r.path("w1/sub")} {
		if _, err := r.g.State(t.Context(), dir, "main"); err != nil {
			t.Error(err)
		}
		if _, _, err := r.g.Changes(t.Context(), dir, "", 10); err != nil {
			t.Error(err)
		}
	}
	if ran, _ := os.ReadDir(r.path("ran")); len(ran) > 0 {
		t.Errorf("ran: %v", ran)
	}
}

func TestPlantedSubmoduleConfigurationNeverRuns(t *testing.T) { // O-SBX-04
	r := newCommit(t)
	withSubmodule(r)
	w1 := r.add("w1")
	mark := plant(r)
	gitDir, err := gitDirAt(filepath.Join(w1, "lib"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(gitDir, "config"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(gitDir, "config"), []byte(string(text)+plantedConfig(mark)), 0o644); err != nil {
		t.Fatal(err)
	}
	r.put("w1/lib/.gitattributes", "* filter=z diff=z\n")
	r.put("w1/lib/a.txt", "changed\n")
	s, err := r.g.State(t.Context(), w1, "main")
	if err != nil || s.Unstaged != 1 {
		t.Errorf("state %+v, %v", s, err)
	}
	risk, err := r.g.AtRisk(t.Context(), w1)
	if err != nil || risk.Counts != [3]int{1, 1, 0} || risk.Unknown != "" {
		t.Errorf("risk %+v, %v", risk, err)
	}
	if _, _, err := r.g.Changes(t.Context(), w1, "", 10); err != nil {
		t.Error(err)
	}
	if ran, _ := os.ReadDir(r.path("ran")); len(ran) > 0 {
		t.Errorf("ran: %v", ran)
	}
}
