package workspaces

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"carrel/workspaces/runtime"
)

// mark is a script that leaves a marker file and prints its environment.
func (b *bench) mark(script, marker string) {
	b.script(script, "touch '"+marker+"'\nenv\n")
}

func TestNothingRunsBeforeTheProjectIsTrusted(t *testing.T) { // O-TRUST-01
	b := newBench(t)
	repo, marks := b.repo("r"), realTemp(t)
	for _, folder := range []string{".carrel", ".xum", ".mux"} {
		for _, name := range hookNames {
			b.mark(filepath.Join(repo, folder, name), filepath.Join(marks, folder+name))
		}
	}
	b.mark(filepath.Join(repo, ".git/hooks/post-checkout"), filepath.Join(marks, "post-checkout"))
	b.commit(repo, "hooks")
	p := b.add(repo)
	want := []string{".carrel/init", ".carrel/archive", ".carrel/delete"}
	if got := b.Automation(repo); strings.Join(got, " ") != strings.Join(want, " ") {
		t.Fatalf("automation = %q", got)
	}
	w := b.make(NewWorkspace{ProjectID: p.ID, Name: "w1"})
	if w.Init != InitSkipped || !strings.Contains(b.notes(), "carrel trust") {
		t.Fatalf("init = %s, notes %s", w.Init, b.notes())
	}
	refused(t, b.RetryInit(t.Context(), w.ID), HookNotTrusted)
	if _, err := b.Archive(t.Context(), w.ID); err != nil {
		t.Fatal(err)
	}
	if err := b.Delete(t.Context(), w.ID, "w1", false); err != nil {
		t.Fatal(err)
	}
	b.make(NewWorkspace{ProjectID: p.ID, Runtime: runtime.Local})
	if entries, _ := os.ReadDir(marks); len(entries) != 0 {
		t.Fatalf("without trust these ran: %v", entries)
	}
	b.trust(p)
	w = b.make(NewWorkspace{ProjectID: p.ID, Name: "w2"})
	b.await("the init hook", initEnded(w.ID))
	if !exists(filepath.Join(marks, ".carrelinit")) || exists(filepath.Join(marks, ".xuminit")) {
		t.Fatal("with trust the init hook did not run, or the older one too")
	}
	if _, err := b.SetTrust(t.Context(), p.ID, false); err != nil {
		t.Fatal(err)
	}
	if w = b.make(NewWorkspace{ProjectID: p.ID, Name: "w3"}); w.Init != InitSkipped {
		t.Fatalf("init = %s after trust was revoked", w.Init)
	}
}

func TestAutomationCanBeSwitchedOff(t *testing.T) { // O-TRUST-01
	b := newBench(t)
	b.Desks.env = append(b.Desks.env, "XUM_DISABLE_PROJECT_AUTOMATION=1")
	repo := b.repo("r")
	b.script(filepath.Join(repo, ".carrel/init"), "")
	p := b.add(repo)
	b.trust(p)
	if w := b.make(NewWorkspace{ProjectID: p.ID}); w.Init != InitSkipped {
		t.Fatalf("init = %s", w.Init)
	}
}

func TestInitHookThatFailsKeepsTheWorkspaceItsLogAndARetry(t *testing.T) { // O-GIT-19
	b := newBench(t)
	repo := b.repo("r")
	b.script(filepath.Join(repo, ".mux/init"), "echo in $PWD; printf 'gr\\303'; printf '\\274n\\n'; env\ntest -f ok || exit 3\n")
	p := b.add(repo)
	b.trust(p)
	w := b.make(NewWorkspace{ProjectID: p.ID, Name: "w1"})
	other := b.make(NewWorkspace{ProjectID: p.ID, Name: "w2"})
	b.await("a piece of output", func(e Event) bool { return strings.Contains(e.InitOutput, "grün") })
	if e := b.await("its end", initEnded(w.ID)); e.Workspace.Init != InitFailed {
		t.Fatalf("init = %s", e.Workspace.Init)
	}
	log, err := b.InitLog(w.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"in " + w.Dir, "grün", "CARREL_PROJECT_PATH=" + repo, "MUX_RUNTIME=worktree", "XUM_WORKSPACE_NAME=w1",
		"CARREL_WORKSPACE_ID=" + w.ID, "CARREL_PORT_BASE=", "ended with code 3"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %q:\n%s", want, log)
		}
	}
	if w.Ports == other.Ports || w.Ports < firstPort {
		t.Errorf("ports %d and %d", w.Ports, other.Ports)
	}
	b.write(filepath.Join(w.Dir, "ok"), "")
	if err := b.RetryInit(t.Context(), w.ID); err != nil {
		t.Fatal(err)
	}
	b.await("its second end", func(e Event) bool { return initEnded(w.ID)(e) && e.Workspace.Init == InitDone })
}

func TestInitHookNeverBlocksAndIsEndedOnQuit(t *testing.T) { // O-HOOK-01
	b := newBench(t)
	repo := b.repo("r")
	b.script(filepath.Join(repo, ".carrel/init"), "sleep 300 & echo $! > child; echo started; wait\n")
	p := b.add(repo)
	b.trust(p)
	begun := time.Now()
	w := b.make(NewWorkspace{ProjectID: p.ID, Name: "w1"})
	if took := time.Since(begun); took > 60*time.Second {
		t.Fatalf("creation waited %v", took)
	}
	b.await("its output", func(e Event) bool { return strings.Contains(e.InitOutput, "started") })
	refused(t, b.RetryInit(t.Context(), w.ID), Busy)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	now, err := b.registry.Workspace(t.Context(), w.ID)
	if err != nil || now.Init != InitFailed {
		t.Fatalf("init = %s, %v", now.Init, err)
	}
	gone(t, b.read(filepath.Join(w.Dir, "child")))
}

// gone wants a process to have ended, or to be a zombie that its parent has not collected.
func gone(t *testing.T, pid string) {
	t.Helper()
	stat, err := os.ReadFile("/proc/" + strings.TrimSpace(pid) + "/stat")
	if err == nil && !strings.Contains(string(stat), ") Z ") {
		t.Fatalf("process %s still runs: %s", pid, stat)
	}
}

func TestSlowArchiveAndDeleteHooksAreEndedWithTheirChildren(t *testing.T) { // O-HOOK-01
	b := newBench(t)
	b.Desks.hookLimit = 300 * time.Millisecond
	repo, out := b.repo("r"), realTemp(t)
	for _, name := range []string{"archive", "delete"} {
		b.script(filepath.Join(repo, ".carrel", name), "(trap '' TERM; echo $$ > '"+out+"/"+name+"'; sleep 300) &\nsleep 300\n")
	}
	b.commit(repo, "hooks")
	p := b.add(repo)
	b.trust(p)
	w := b.make(NewWorkspace{ProjectID: p.ID, Name: "w1"})
	begun := time.Now()
	if a, err := b.Archive(t.Context(), w.ID); err != nil || a.ArchivedAt == nil {
		t.Fatalf("archive: %+v %v", a, err)
	}
	if err := b.Delete(t.Context(), w.ID, "", false); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begun); took > 60*time.Second {
		t.Fatalf("both took %v", took)
	}
	for _, name := range []string{"archive", "delete"} {
		if pid, err := os.ReadFile(filepath.Join(out, name)); err == nil { // a busy machine may end it sooner
			gone(t, string(pid))
		}
		if !strings.Contains(b.notes(), ".carrel/"+name+" was ended") {
			t.Errorf("nobody was told of %s: %s", name, b.notes())
		}
	}
	if exists(w.Dir) {
		t.Fatal("the hook kept the workspace")
	}
}

func TestHookFailureDoesNotBlockAndOlderScriptsCount(t *testing.T) {
	b := newBench(t)
	repo, out := b.repo("r"), realTemp(t)
	b.write(filepath.Join(repo, ".carrel/archive"), "not executable")
	b.script(filepath.Join(repo, ".xum/archive"), "touch '"+out+"/archive'; exit 7\n")
	b.commit(repo, "hooks")
	p := b.add(repo)
	b.trust(p)
	w := b.make(NewWorkspace{ProjectID: p.ID})
	for range 2 { // the second time it is archived already
		if _, err := b.Archive(t.Context(), w.ID); err != nil {
			t.Fatal(err)
		}
	}
	if !exists(filepath.Join(out, "archive")) || strings.Count(b.notes(), "ended with code 7") != 1 {
		t.Fatalf("notes: %s", b.notes())
	}
	if log := b.read(b.root.Path("sessions", w.ID, "archive.log")); !strings.Contains(log, "code 7") {
		t.Fatalf("log = %q", log)
	}
	if w, err := b.Unarchive(t.Context(), w.ID); err != nil || w.ArchivedAt != nil {
		t.Fatalf("unarchive: %+v %v", w, err)
	}
}

func TestLogsAreCapped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	told := 0
	log := openLog(path, func(text string) { told += len(text) })
	for range 40 {
		if _, err := log.Write([]byte(strings.Repeat("x", 64<<10))); err != nil {
			t.Fatal(err)
		}
	}
	log.note("the end")
	log.close()
	text, err := readLog(path)
	if err != nil || len(text) > maxLog+200 || told > maxLog+200 || !strings.HasSuffix(text, "KiB are kept\ncarrel: the end\n") {
		t.Fatalf("%d bytes kept, %d told, %v", len(text), told, err)
	}
}

func TestARepositorysOwnFilterRunsOnlyWhenTrusted(t *testing.T) { // O-TRUST-01
	b := newBench(t)
	repo := b.repo("harbor")
	b.write(repo+"/.gitattributes", "*.up filter=up\n")
	b.write(repo+"/a.up", "quiet\n")
	b.commit(repo, "filtered")
	b.git(repo, "config", "filter.up.smudge", "tr a-z A-Z")
	p := b.add(repo)
	first := b.make(NewWorkspace{ProjectID: p.ID, Name: "before"})
	if got := b.read(first.Dir + "/a.up"); got != "quiet\n" {
		t.Errorf("before it is trusted: %q, want what is stored", got)
	}
	b.trust(p)
	second := b.make(NewWorkspace{ProjectID: p.ID, Name: "after"})
	if got := b.read(second.Dir + "/a.up"); got != "QUIET\n" {
		t.Errorf("once trusted: %q, want the filter's text", got)
	}
}
