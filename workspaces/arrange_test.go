package workspaces

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// shown is the order of a workspace's siblings, by name.
func (b *bench) shown(id string) string {
	b.t.Helper()
	all, err := b.registry.Workspaces(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	var names []string
	for _, w := range Siblings(all, id) {
		names = append(names, w.Name)
	}
	return strings.Join(names, " ")
}

func TestWorkspacesStayWhereThePersonPutsThem(t *testing.T) {
	b := newBench(t)
	p := b.add(b.repo("r"))
	made := map[string]string{}
	for _, name := range []string{"one", "two", "three"} {
		made[name] = b.make(NewWorkspace{ProjectID: p.ID, Name: name}).ID
	}
	other := b.make(NewWorkspace{ProjectID: b.add(b.repo("s")).ID, Name: "other"})
	ctx := t.Context()
	// Several may have been made within one millisecond, so the order to begin with is given by hand.
	for _, name := range []string{"three", "two", "one"} {
		if _, err := b.registry.Place(ctx, made[name], ""); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct{ move, before, want string }{
		{"one", "three", "one three two"},
		{"one", "", "three two one"},
		{"two", "three", "two three one"},
		{"two", "two", ""}, // before itself
		{"two", "other", ""},
	} {
		before := made[step.before]
		if step.before == "other" {
			before = other.ID
		}
		moved, err := b.registry.Place(ctx, made[step.move], before)
		if step.want == "" {
			if !errors.Is(err, ErrNotFound) || moved != nil {
				t.Fatalf("%s before %s: %v %v", step.move, step.before, moved, err)
			}
			continue
		}
		if got := b.shown(made["one"]); err != nil || got != step.want {
			t.Fatalf("%s before %q: %q %v, want %q", step.move, step.before, got, err, step.want)
		}
	}
	if moved, err := b.registry.Place(ctx, made["three"], made["one"]); err != nil || moved != nil {
		t.Fatalf("a move to its own place changed %v %v", moved, err)
	}
	if got := b.shown(b.make(NewWorkspace{ProjectID: p.ID, Name: "new"}).ID); got != "new two three one" {
		t.Fatalf("a new one comes first: %q", got)
	}
}

func TestPinnedWorkspacesAreArrangedAmongThemselves(t *testing.T) {
	b := newBench(t)
	p, q := b.add(b.repo("r")), b.add(b.repo("s"))
	one, two := b.make(NewWorkspace{ProjectID: p.ID, Name: "one"}), b.make(NewWorkspace{ProjectID: p.ID, Name: "two"})
	far := b.make(NewWorkspace{ProjectID: q.ID, Name: "far"})
	ctx := t.Context()
	for _, id := range []string{one.ID, far.ID} {
		if err := b.registry.Pin(ctx, id, true); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.registry.Place(ctx, one.ID, far.ID); err != nil {
		t.Fatal(err)
	}
	if got := b.shown(far.ID) + "|" + b.shown(two.ID); got != "one far|two" {
		t.Fatal(got)
	}
	if err := b.registry.Pin(ctx, one.ID, true); err != nil { // again: it stays where it is
		t.Fatal(err)
	}
	if got := b.shown(far.ID); got != "one far" {
		t.Fatal(got)
	}
	if err := b.registry.Pin(ctx, one.ID, false); err != nil {
		t.Fatal(err)
	}
	if got := b.shown(far.ID); got != "far" || len(strings.Fields(b.shown(two.ID))) != 2 {
		t.Fatal(got, b.shown(two.ID))
	}
	if err := b.registry.Pin(ctx, "gone", true); !errors.Is(err, ErrNotFound) {
		t.Fatal(err)
	}
}

func TestAWorkspaceBelongsToOneOfItsProject(t *testing.T) {
	b := newBench(t)
	p, q := b.add(b.repo("r")), b.add(b.repo("s"))
	up := b.make(NewWorkspace{ProjectID: p.ID, Name: "up"})
	sub := b.make(NewWorkspace{ProjectID: p.ID, Name: "sub", ParentID: up.ID, Base: "up"})
	if sub.ParentID != up.ID || sub.Base != "up" || b.shown(sub.ID) != "sub" || b.shown(up.ID) != "up" {
		t.Fatalf("%+v among %q", sub, b.shown(sub.ID))
	}
	for _, parent := range []string{"gone", b.make(NewWorkspace{ProjectID: q.ID, Name: "far"}).ID} {
		if _, err := b.Create(t.Context(), NewWorkspace{ProjectID: p.ID, ParentID: parent}); !errors.Is(err, ErrNotFound) {
			t.Fatalf("under %q: %v", parent, err)
		}
	}
	if _, err := b.Archive(t.Context(), up.ID); err != nil { // its children stand by themselves
		t.Fatal(err)
	}
	if w := b.make(NewWorkspace{ProjectID: p.ID, Name: "alone"}); len(strings.Fields(b.shown(w.ID))) != 2 || b.shown(up.ID) != "" {
		t.Fatal(b.shown(w.ID), b.shown(up.ID))
	}
}

func TestProjectsStayWhereThePersonPutsThem(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	id := map[string]string{}
	for _, name := range []string{"a", "b", "c"} {
		id[name] = b.add(b.repo(name)).ID
	}
	if _, err := b.registry.PlaceProject(ctx, id["c"], id["a"]); err != nil {
		t.Fatal(err)
	}
	b.add(b.repo("aa"))
	all, err := b.registry.Projects(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range all {
		names = append(names, p.Name)
	}
	if !slices.Equal(names, []string{"c", "a", "b", "aa"}) {
		t.Fatal(names)
	}
	if _, err := b.registry.PlaceProject(ctx, id["c"], "gone"); !errors.Is(err, ErrNotFound) {
		t.Fatal(err)
	}
}
