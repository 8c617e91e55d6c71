package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"carrel/app"
)

// planted is a repository in which everything that git or Carrel might run writes a marker.
func planted(t *testing.T) (dir, marker string) {
	t.Helper()
	dir = repository(t)
	marker = filepath.Join(t.TempDir(), "ran")
	script := filepath.Join(t.TempDir(), "script")
	write(t, script, "#!/bin/sh\necho $0 $@ >> '"+marker+"'\ncat\n")
	run := func(path string) {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(script)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	run(script)
	if err := os.Chmod(script, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, hook := range []string{"init", "archive", "delete", "tool_env"} {
		run(filepath.Join(dir, ".carrel", hook))
	}
	write(t, filepath.Join(dir, ".gitattributes"), "*.md filter=evil diff=evil merge=evil\n")
	gitIn(t, dir, "add", ".")
	gitIn(t, dir, "commit", "-qm", "Plant")
	for _, hook := range []string{"post-checkout", "pre-commit", "reference-transaction", "post-index-change", "fsmonitor-watchman"} {
		run(filepath.Join(dir, ".git", "hooks", hook))
	}
	for _, key := range []string{"core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.askPass",
		"core.alternateRefsCommand", "filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "diff.evil.command",
		"diff.evil.textconv", "diff.external", "merge.evil.driver", "gpg.program", "credential.helper", "log.showSignature"} {
		value := script
		if key == "log.showSignature" {
			value = "true"
		}
		f, err := os.OpenFile(filepath.Join(dir, ".git", "config"), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		parts := strings.Split(key, ".")
		section := parts[0]
		if len(parts) == 3 {
			section += ` "` + parts[1] + `"`
		}
		_, err = fmt.Fprintf(f, "[%s]\n\t%s = %s\n", section, parts[len(parts)-1], value)
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir, marker
}

func TestNothingOfARepositoryRunsBeforeItIsTrusted(t *testing.T) { // O-TRUST-01
	h := newHouse(t)
	dir, marker := planted(t)
	ctx := context.Background()
	quiet := func(what string) {
		t.Helper()
		if text, err := os.ReadFile(marker); err == nil {
			t.Fatalf("%s ran something: %s", what, text)
		}
	}
	p, err := h.api.Projects.Add(ctx, app.AddProject{Path: dir})
	if err != nil {
		t.Fatal(err)
	}
	quiet("adding")
	if len(p.Automation) == 0 || p.Trusted {
		t.Errorf("what would run: %v, trusted %v", p.Automation, p.Trusted)
	}
	if _, err := h.api.Projects.Branches(ctx, app.ByID{ID: p.ID}); err != nil {
		t.Error(err)
	}
	w, err := h.api.Workspaces.Create(ctx, app.NewWorkspace{ProjectID: p.ID, Name: "wary"})
	if err != nil {
		t.Fatal(err)
	}
	quiet("creating")
	if w.Init != app.InitSkipped {
		t.Errorf("the init hook is %s", w.Init)
	}
	write(t, filepath.Join(w.Dir, "README.md"), "changed\n")
	if err := h.api.Workspaces.RefreshGit(ctx, app.ByID{ID: w.ID}); err != nil {
		t.Error(err)
	}
	h.wait("git's state", func(e app.Event) bool {
		c, ok := e.(app.WorkspaceChanged)
		return ok && c.Workspace.ID == w.ID && c.Workspace.Git != nil && c.Workspace.Git.Unstaged > 0
	})
	if d, err := h.api.Workspaces.Diff(ctx, app.ByID{ID: w.ID}); err != nil || len(d.Files) != 1 {
		t.Errorf("%+v, %v", d, err)
	}
	quiet("looking")
	if _, err := h.api.Workspaces.Rename(ctx, app.RenameWorkspace{ID: w.ID, Name: "warier"}); err != nil {
		t.Error(err)
	}
	if _, err := h.api.Workspaces.Archive(ctx, app.ByID{ID: w.ID}); err != nil {
		t.Error(err)
	}
	if err := h.api.Workspaces.RetryInit(ctx, app.ByID{ID: w.ID}); code(err) != "not_trusted" {
		t.Errorf("running the hook: %v", err)
	}
	if err := h.api.Workspaces.Delete(ctx, app.DeleteWorkspace{ID: w.ID, Confirm: "warier"}); err != nil {
		t.Error(err)
	}
	quiet("ending")
}

func TestAKeyIsNeverToldAgain(t *testing.T) {
	const secret = "sk-very-secret-0123456789"
	h := newHouse(t)
	ctx := context.Background()
	key, base := " "+secret+"\n", "https://api.example.com/v1"
	if err := h.api.Settings.SetProvider(ctx, app.SetProvider{ID: "anthropic", APIKey: &key, BaseURL: &base}); err != nil {
		t.Fatal(err)
	}
	providers, err := h.api.Settings.Providers(ctx)
	if err != nil {
		t.Fatal(err)
	}
	checks, err := h.api.System.Doctor(ctx)
	if err != nil {
		t.Fatal(err)
	}
	about, err := h.api.System.About(ctx)
	if err != nil {
		t.Fatal(err)
	}
	bad := []app.SetProvider{
		{ID: "anthropic", APIKey: text(secret + "\r\nX-Evil: 1")},
		{ID: "anthropic", APIKey: text(secret + " é")},
		{ID: "anthropic", BaseURL: text("https://user:" + secret + "@example.com")},
		{ID: "anthropic", BaseURL: text("file:///etc/passwd")},
		{ID: "anthropic", BaseURL: text("javascript:alert(1)")},
		{ID: "anthropic", BaseURL: text("https://example.com/?key=" + secret)},
		{ID: "anthropic", BaseURL: text("https://example.com/\r\nHost: evil")},
		{ID: "anthropic", BaseURL: text("example.com")},
		{ID: "demo", APIKey: text(secret)},
		{ID: "nobody", APIKey: text(secret)},
		{ID: "../x", BaseURL: &base, APIKey: text("fine")},
		{ID: "openai", BaseURL: text("nonsense"), APIKey: text("sk-fine")}, // neither is written
	}
	var said []string
	for _, b := range bad {
		err := h.api.Settings.SetProvider(ctx, b)
		if code(err) == "" {
			t.Errorf("provider %s: %v", b.ID, err)
			continue
		}
		said = append(said, err.Error())
	}
	h.stop()
	all, err := json.Marshal([]any{providers, checks, about, said, h.log.String(), h.events})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(all), "very-secret") {
		t.Errorf("the key is told: %s", all)
	}
	kept, err := h.root.Providers()
	if err != nil || kept["anthropic"].APIKey != secret || kept["anthropic"].BaseURL != base || len(kept) != 1 {
		t.Errorf("kept %v, %v", kept, err)
	}
}

func text(s string) *string { return &s }

func TestOddPathsAreRefusedWithAReason(t *testing.T) {
	h := newHouse(t)
	ctx := context.Background()
	dir := t.TempDir()
	file, pipe, link := filepath.Join(dir, "file"), filepath.Join(dir, "pipe"), filepath.Join(dir, "link")
	write(t, file, "x")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"relative", file, pipe, link, dir + "/none", dir + "\x00", "~nobody", strings.Repeat("/x", 5000)} {
		if _, err := h.api.Projects.Browse(ctx, app.Browse{Path: path}); code(err) == "" {
			t.Errorf("browsing %.40q: %v", path, err)
		}
		if _, err := h.api.Projects.Add(ctx, app.AddProject{Path: path}); code(err) == "" {
			t.Errorf("adding %.40q: %v", path, err)
		}
	}
	if _, err := h.api.Projects.Add(ctx, app.AddProject{}); code(err) == "" {
		t.Errorf("adding nothing: %v", err)
	}
	for _, name := range []string{" blanks ", "ünïcode", "b\nreak"} {
		if err := os.MkdirAll(filepath.Join(dir, name, ".git"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	list, err := h.api.Projects.Browse(ctx, app.Browse{Path: dir + "/"})
	if err != nil || len(list.Entries) != 3 || list.Path != dir || list.Parent != filepath.Dir(dir) {
		t.Fatalf("%+v, %v", list, err)
	}
	for _, e := range list.Entries {
		if inner, err := h.api.Projects.Browse(ctx, app.Browse{Path: e.Path}); err != nil || inner.Path != e.Path || !e.IsGit {
			t.Errorf("%+v: %+v, %v", e, inner, err)
		}
	}
}

func TestOnlyAddressesOfTheWebAndOfMailLeave(t *testing.T) {
	h := newHouse(t)
	for address, want := range map[string]string{
		"https://example.org/a?b#c": "no_window", "mailto:ada@example.org?subject=Hi&Body=There": "no_window",
		"file:///etc/passwd": "bad_request", "javascript:alert(1)": "bad_request", "http:": "bad_request", "mailto:": "bad_request",
		"https://ada:secret@example.org/": "bad_request", "mailto:ada@example.org?attach=/etc/passwd": "bad_request",
		"mailto:ada@example.org?body=" + strings.Repeat("x", 9000): "bad_request",
	} {
		if err := h.api.System.OpenURL(t.Context(), app.OpenURL{URL: address}); code(err) != want {
			t.Errorf("%.60s: %v", address, err)
		}
	}
}
