package workspaces

import "testing"

// What a base means must not change with where the workspace stands.
func TestABaseIsABranchATagOrACommit(t *testing.T) { // O-GIT-24, O-GIT-21
	b := newBench(t)
	repo := b.repo("r")
	first := b.git(repo, "rev-parse", "HEAD")
	b.commit(repo, "second")
	second := b.git(repo, "rev-parse", "HEAD")
	b.git(repo, "tag", "-a", "v1", "-m", "v1")
	b.git(repo, "branch", "feature", first)
	p := b.add(repo)
	for given, want := range map[string]string{
		"HEAD": "main", "@": "main", "HEAD~1": first, "main~1": first, second[:8]: second, "@{0}": second,
		"main": "main", "feature": "feature", "v1": "v1", "refs/heads/main": "refs/heads/main", "refs/tags/v1": "refs/tags/v1",
	} {
		w := b.make(NewWorkspace{ProjectID: p.ID, Base: given})
		b.commit(w.Dir, "work")
		s, err := b.Desks.git.State(t.Context(), w.Dir, w.Base)
		if w.Base != want || err != nil || s.Ahead < 1 {
			t.Errorf("%s: the base is %s, not %s; %d ahead, %v", given, w.Base, want, s.Ahead, err)
		}
	}
	_, err := b.Create(t.Context(), NewWorkspace{ProjectID: p.ID, Branch: "feature", Base: "nowhere"})
	refused(t, err, BaseMissing)
	b.git(repo, "checkout", "-q", "--detach", first)
	if w := b.make(NewWorkspace{ProjectID: p.ID, Base: "HEAD"}); w.Base != first {
		t.Errorf("detached: the base is %s", w.Base)
	}
}

func TestABaseThatIsGoneCanBeReplaced(t *testing.T) { // O-GIT-21
	b := newBench(t)
	repo := b.repo("r")
	b.git(repo, "branch", "topic")
	p := b.add(repo)
	w := b.make(NewWorkspace{ProjectID: p.ID, Base: "topic"})
	b.commit(w.Dir, "work")
	b.git(repo, "branch", "-D", "topic")
	_, err := b.SetBase(t.Context(), w.ID, "topic")
	refused(t, err, BaseMissing)
	for _, base := range []string{"", "-x", "no such"} {
		_, err := b.SetBase(t.Context(), w.ID, base)
		refused(t, err, BaseMissing)
	}
	w, err = b.SetBase(t.Context(), w.ID, "HEAD")
	if err != nil || w.Base != "main" {
		t.Fatalf("the base is %s, %v", w.Base, err)
	}
	if s, err := b.Desks.git.State(t.Context(), w.Dir, w.Base); err != nil || s.Ahead != 1 {
		t.Errorf("%d ahead, %v", s.Ahead, err)
	}
	plain := b.make(NewWorkspace{ProjectID: b.add(realTemp(t)).ID})
	_, err = b.SetBase(t.Context(), plain.ID, "main")
	refused(t, err, NeedsGit)
}
