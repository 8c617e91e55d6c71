package workspaces

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"carrel/workspaces/runtime"
)

func TestAddingAgainUnderAnySpellingGivesTheSameProject(t *testing.T) { // O-GIT-14
	b := newBench(t)
	repo := b.repo("größe mit leer")
	b.write(filepath.Join(repo, "sub/x.txt"), "x")
	b.commit(repo, "sub")
	link := filepath.Join(realTemp(t), "link")
	if err := os.Symlink(filepath.Dir(repo), link); err != nil {
		t.Fatal(err)
	}
	inside := filepath.Join(repo, "trees", "w")
	b.git(repo, "worktree", "add", "-q", "-b", "w", inside)
	p := b.add(filepath.Join(link, "größe mit leer"))
	if p.Path != repo || !p.Git || p.Trusted || p.Name != "größe mit leer" {
		t.Fatalf("project = %+v", p)
	}
	for _, path := range []string{repo, repo + "/", repo + "/../" + filepath.Base(repo), filepath.Join(repo, "sub"), inside, repo + "/.git"} {
		if again := b.add(path); again.ID != p.ID {
			t.Errorf("adding %s made another project %+v", path, again)
		}
	}
	if all, _ := b.registry.Projects(t.Context()); len(all) != 1 {
		t.Fatalf("projects = %+v", all)
	}
}

func TestWorkspacesAreFoundThoughTheDataRootIsBehindALink(t *testing.T) { // O-GIT-14
	real, env := realTemp(t), testEnv(t)
	link := filepath.Join(realTemp(t), "link")
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	b := openBench(t, filepath.Join(link, "root"), env)
	w := b.make(NewWorkspace{ProjectID: b.add(b.repo("r")).ID, Name: "w1"})
	if h := b.Check(t.Context(), w); h.State != HealthReady {
		t.Fatalf("health = %+v", h)
	}
	if !strings.HasPrefix(w.Dir, real) {
		t.Fatalf("dir = %s", w.Dir)
	}
}

func TestSpellingsOfOneFolderAreTheSamePlace(t *testing.T) { // O-GIT-15
	dir := realTemp(t)
	link := filepath.Join(realTemp(t), "l")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	if !samePlace(dir, link) || samePlace(dir, dir+"x") || samePlace(dir+"x", link) {
		t.Fatal("folders are compared by something else than what they are")
	}
}

func TestAddProjectRefusesWhatIsNoFolder(t *testing.T) {
	b := newBench(t)
	dir := realTemp(t)
	b.write(filepath.Join(dir, "file"), "x")
	_, err := b.AddProject(t.Context(), filepath.Join(dir, "nothing"), "")
	refused(t, err, PathMissing)
	_, err = b.AddProject(t.Context(), filepath.Join(dir, "file"), "")
	refused(t, err, NotFolder)
	_, err = b.AddProject(t.Context(), "", "")
	refused(t, err, PathMissing)
}

func TestFoldersWithoutGitAndBareRepositoriesAreProjects(t *testing.T) {
	b := newBench(t)
	dir := realTemp(t)
	p := b.add(dir)
	if p.Git || p.CommonDir != "" {
		t.Fatalf("plain project = %+v", p)
	}
	if w := b.make(NewWorkspace{ProjectID: p.ID}); w.Runtime != runtime.Local || w.Dir != dir {
		t.Fatalf("workspace = %+v", w)
	}
	_, err := b.Create(t.Context(), NewWorkspace{ProjectID: p.ID, Runtime: runtime.Worktree})
	refused(t, err, NeedsGit)

	bare := filepath.Join(realTemp(t), "thing.git")
	b.git(dir, "clone", "-q", "--bare", b.repo("src"), bare)
	p = b.add(bare)
	if p.Path != bare || p.Name != "thing" || !p.Git {
		t.Fatalf("bare project = %+v", p)
	}
	_, err = b.Create(t.Context(), NewWorkspace{ProjectID: p.ID, Runtime: runtime.Local})
	refused(t, err, BareRepository)
	w := b.make(NewWorkspace{ProjectID: p.ID, Name: "w1"})
	if b.read(filepath.Join(w.Dir, "a.txt")) != "a\n" {
		t.Fatal("the worktree of a bare repository has no files")
	}
	if again := b.add(w.Dir); again.ID != p.ID {
		t.Fatalf("a worktree of a bare repository is the project %+v", again)
	}
}

func TestAFolderBelowAForeignRepositoryIsItsOwnProject(t *testing.T) {
	b := newBench(t)
	home := b.repo("home")
	notes := filepath.Join(home, "notes")
	b.write(filepath.Join(notes, "n.txt"), "n")
	if p := b.add(notes); p.Path != notes || p.Git {
		t.Fatalf("project = %+v", p)
	}
}

func TestAFolderThatOnlyClaimsToBeAWorktreeGetsNoTrust(t *testing.T) { // O-TRUST-01
	b := newBench(t)
	repo := b.repo("r")
	b.trust(b.add(repo))
	w := filepath.Join(realTemp(t), "w")
	b.git(repo, "worktree", "add", "-q", "-b", "w", w)
	if ok, p, err := b.TrustedFor(t.Context(), w); err != nil || !ok || p.Path != repo {
		t.Fatalf("a linked worktree: %v %+v %v", ok, p, err)
	}
	fake := filepath.Join(realTemp(t), "fake")
	b.write(filepath.Join(fake, ".git"), b.read(filepath.Join(w, ".git")))
	ok, _, err := b.TrustedFor(t.Context(), fake)
	if refused(t, err, WorktreeMoved); ok {
		t.Fatal("trusted")
	}
	b.write(filepath.Join(fake, ".git"), "gitdir: "+repo+"/.git\n")
	if ok, p, err := b.TrustedFor(t.Context(), fake); ok {
		t.Fatalf("trusted: %+v %v", p, err)
	}
	if all, _ := b.registry.Projects(t.Context()); len(all) != 1 {
		t.Fatalf("asking registered something: %+v", all)
	}
}

func TestRemoveProjectKeepsFilesAndRefusesWhileWorktreesExist(t *testing.T) {
	b := newBench(t)
	repo := b.repo("r")
	p := b.add(repo)
	w := b.make(NewWorkspace{ProjectID: p.ID, Name: "w1"})
	l := b.make(NewWorkspace{ProjectID: p.ID, Name: "here", Runtime: runtime.Local})
	refused(t, b.RemoveProject(t.Context(), p.ID), HasWorkspaces)
	if _, err := b.registry.Workspace(t.Context(), l.ID); err != nil {
		t.Fatalf("the refusal removed something: %v", err)
	}
	if err := b.Delete(t.Context(), w.ID, "", false); err != nil {
		t.Fatal(err)
	}
	if err := b.RemoveProject(t.Context(), p.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := b.registry.Project(t.Context(), p.ID); !errors.Is(err, ErrNotFound) {
		t.Fatalf("project is still there: %v", err)
	}
	if b.read(filepath.Join(repo, "a.txt")) != "a\n" {
		t.Fatal("a file of the project is gone")
	}
	if trees := b.git(repo, "worktree", "list", "--porcelain"); strings.Contains(trees, "spare") {
		t.Fatalf("its spare is still registered:\n%s", trees)
	}
}

func TestRelocateMendsTheWorktrees(t *testing.T) {
	b := newBench(t)
	repo := b.repo("r")
	p := b.add(repo)
	w := b.make(NewWorkspace{ProjectID: p.ID, Name: "w1"})
	moved := filepath.Join(realTemp(t), "moved")
	if err := os.Rename(repo, moved); err != nil {
		t.Fatal(err)
	}
	if h := b.Check(t.Context(), w); h.State != HealthBroken {
		t.Fatalf("health = %+v", h)
	}
	_, err := b.RelocateProject(t.Context(), p.ID, b.repo("other"))
	refused(t, err, OtherRepository)
	_, err = b.RelocateProject(t.Context(), p.ID, realTemp(t))
	refused(t, err, OtherRepository)
	p, err = b.RelocateProject(t.Context(), p.ID, moved)
	if err != nil || p.Path != moved {
		t.Fatalf("relocate: %+v %v", p, err)
	}
	if h := b.Check(t.Context(), w); h.State != HealthReady {
		t.Fatalf("health = %+v", h)
	}
	if out := b.git(w.Dir, "status", "--porcelain"); out != "" {
		t.Fatalf("status = %q", out)
	}
}

func TestAFolderThatBringsItsOwnAdminFolderGetsNoTrust(t *testing.T) { // O-TRUST-01
	b := newBench(t)
	repo := b.repo("r")
	p := b.add(repo)
	b.trust(p)
	evil := realTemp(t)
	// A worktree whose admin folder lies in itself and names the trusted repository.
	b.write(filepath.Join(evil, "w", ".git"), "gitdir: adm\n")
	adm := filepath.Join(evil, "w", "adm")
	b.write(filepath.Join(adm, "HEAD"), "ref: refs/heads/main\n")
	b.write(filepath.Join(adm, "commondir"), repo+"/.git\n")
	b.write(filepath.Join(adm, "gitdir"), filepath.Join(evil, "w", ".git")+"\n")
	ok, _, err := b.TrustedFor(t.Context(), filepath.Join(evil, "w"))
	if refused(t, err, WorktreeMoved); ok {
		t.Error("a worktree of its own making is trusted")
	}
	if checkLink(filepath.Join(evil, "w"), p.CommonDir) == nil {
		t.Error("commands run in a worktree of its own making")
	}
	// The admin folder itself.
	if ok, _, _ := b.TrustedFor(t.Context(), adm); ok {
		t.Error("an admin folder of its own making is trusted")
	}
	if q, err := b.AddProject(t.Context(), adm, ""); err == nil && q.ID == p.ID {
		t.Error("an admin folder of its own making is the trusted project")
	}
}

func TestARepositoryThatClaimsAFolderAboveItIsNotThatProject(t *testing.T) { // O-TRUST-01
	b := newBench(t)
	repo := b.repo("r")
	p := b.add(repo)
	b.trust(p)
	below := filepath.Join(repo, "vendor")
	b.write(filepath.Join(below, "vendor", "x"), "x")
	b.git(below, "init", "-q")
	b.git(below, "add", ".")
	b.git(below, "commit", "-qm", "x")
	b.git(below, "config", "core.worktree", repo)
	if ok, _, _ := b.TrustedFor(t.Context(), below); ok {
		t.Error("it has the trust of the project above it")
	}
	if q, err := b.AddProject(t.Context(), below, ""); err == nil && q.ID == p.ID {
		t.Error("it is the project above it")
	}
	if now, err := b.registry.Project(t.Context(), p.ID); err != nil || now.CommonDir != p.CommonDir {
		t.Errorf("it took the project over: %+v %v", now, err)
	}
}

func TestAPipeWhereGitKeepsAPointerHangsNothing(t *testing.T) {
	b := newBench(t)
	p := b.add(b.repo("r"))
	dir := realTemp(t)
	b.write(filepath.Join(dir, ".git"), "gitdir: adm\n")
	if err := os.Mkdir(filepath.Join(dir, "adm"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "adm", "commondir"), 0o600); err != nil {
		t.Fatal(err)
	}
	if checkLink(dir, p.CommonDir) == nil {
		t.Error("it is taken for a worktree")
	}
}
