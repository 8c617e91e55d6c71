package costs_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carrel/agent/costs"
	"carrel/agent/model"
	"carrel/store"
)

var day = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func book(t *testing.T) (*costs.Book, *store.Root) {
	t.Helper()
	return bookAt(t, t.TempDir())
}

func bookAt(t *testing.T, dir string) (*costs.Book, *store.Root) {
	t.Helper()
	r, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	db, err := r.DB(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return costs.New(db), r
}

func add(t *testing.T, b *costs.Book, rows ...costs.Row) {
	t.Helper()
	for _, r := range rows {
		if r.At.IsZero() {
			r.At = day
		}
		if err := b.Add(context.Background(), r); err != nil {
			t.Fatal(err)
		}
	}
}

func summary(t *testing.T, b *costs.Book, f costs.Filter) costs.Summary {
	t.Helper()
	s, err := b.Summary(context.Background(), f)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// keys shows lines as key=cost, with +n for requests without a price.
func keys(lines ...costs.Line) []string {
	out := make([]string, 0, len(lines))
	for _, l := range lines {
		s := fmt.Sprintf("%s=%d", l.Key, l.Cost)
		if l.Unpriced > 0 {
			s += fmt.Sprintf("+%d", l.Unpriced)
		}
		out = append(out, s)
	}
	return out
}

func want(t *testing.T, got []string, want ...string) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func priced(workspace string, seq uint64, cost int64) costs.Row {
	return costs.Row{Workspace: workspace, Seq: seq, Model: "p:m", Cost: cost, Priced: true}
}

func TestARequestCountsOnce(t *testing.T) {
	b, _ := book(t)
	r := priced("w", 7, 10)
	add(t, b, r, r)
	r.Cost = 12 // what is said last is right
	add(t, b, r)
	r.Kind = "title"
	add(t, b, r, priced("w", 0, 1), priced("w", 0, 1)) // not from the log: each is one of its own
	want(t, keys(summary(t, b, costs.Filter{}).Lines...), "w=26")
	if seq, err := b.LastSeq(context.Background(), "w"); err != nil || seq != 7 {
		t.Errorf("last seq %d %v", seq, err)
	}
}

func TestSubAgentsCountForTheWorkspaceThatStartedThem(t *testing.T) {
	b, _ := book(t)
	child, grandchild := priced("child", 1, 20), priced("grandchild", 1, 300)
	child.Parent, grandchild.Parent = "top", "child"
	grandchild.Priced = false
	add(t, b, priced("top", 1, 1), child, grandchild, priced("other", 1, 4000))
	s := summary(t, b, costs.Filter{By: costs.ByWorkspace})
	want(t, keys(s.Lines...), "other=4000", "top=21+1")
	want(t, keys(s.Total), "=4021+1")
	want(t, keys(summary(t, b, costs.Filter{By: costs.ByModel, Workspace: "child"}).Lines...), "p:m=20+1")
	want(t, keys(summary(t, b, costs.Filter{Workspace: "child"}).Lines...), "child=20+1")
	for id, cost := range map[string]int64{"top": 21, "child": 20, "grandchild": 0, "other": 4000, "nobody": 0} {
		got, err := b.Spent(context.Background(), id)
		if err != nil || got.Cost != cost {
			t.Errorf("%s has spent %+v %v, want %d", id, got, err, cost)
		}
	}
}

// A damaged or forged registry must not make a sum run for ever.
func TestAncestryThatGoesRoundEnds(t *testing.T) {
	b, _ := book(t)
	x, y := priced("x", 1, 1), priced("y", 1, 2)
	x.Parent, y.Parent = "y", "x"
	add(t, b, x, y)
	if s := summary(t, b, costs.Filter{}); s.Total.Cost != 3 {
		t.Errorf("total %+v", s.Total)
	}
	if got, err := b.Spent(context.Background(), "x"); err != nil || got.Cost != 3 {
		t.Errorf("spent %+v %v", got, err)
	}
}

func TestAnUnknownPriceIsCountedAndNotFree(t *testing.T) {
	b, _ := book(t)
	r := costs.Row{Workspace: "w", Seq: 1, Model: "mine:local", Usage: model.Usage{Input: 5, Output: -3}}
	add(t, b, r, priced("w", 2, 0))
	s := summary(t, b, costs.Filter{By: costs.ByModel})
	want(t, keys(s.Lines...), "mine:local=0+1", "p:m=0")
	if u := s.Total.Usage; u.Input != 5 || u.Output != 0 {
		t.Errorf("usage %+v", u)
	}
}

func TestFiltersAndGroups(t *testing.T) {
	b, _ := book(t)
	rows := []costs.Row{priced("a", 1, 1), priced("a", 2, 2), priced("b", 1, 4), priced("c", 1, 8)}
	rows[0].At, rows[0].Project, rows[0].ProjectName = day.AddDate(0, 0, -2), "harbor", "Harbor"
	rows[1].Project, rows[1].ProjectName = "harbor", "Harbor two"
	rows[2].Model = "q:n"
	rows[3].At = day.Add(11*time.Hour + 30*time.Minute)
	add(t, b, rows...)
	byProject := summary(t, b, costs.Filter{By: costs.ByProject})
	want(t, keys(byProject.Lines...), "=12", "harbor=3")
	if n := byProject.Lines[1].Name; n != "Harbor two" {
		t.Errorf("name %q is not the latest", n)
	}
	want(t, keys(summary(t, b, costs.Filter{By: costs.ByModel}).Lines...), "p:m=11", "q:n=4")
	want(t, keys(summary(t, b, costs.Filter{By: costs.ByDay}).Lines...), "2026-03-01=14", "2026-02-27=1")
	kolkata := time.FixedZone("", 5*3600+1800)
	want(t, keys(summary(t, b, costs.Filter{By: costs.ByDay, Zone: kolkata}).Lines...), "2026-03-02=8", "2026-03-01=6", "2026-02-27=1")
	want(t, keys(summary(t, b, costs.Filter{From: day, To: day.Add(time.Hour)}).Lines...), "b=4", "a=2")
	want(t, keys(summary(t, b, costs.Filter{Project: "harbor", Model: "p:m"}).Lines...), "a=3")
	want(t, keys(summary(t, b, costs.Filter{By: costs.ByMessage, Workspace: "a"}).Lines...), "2=2", "1=1")
	if _, err := b.Summary(context.Background(), costs.Filter{By: "1; DROP TABLE usage"}); err == nil {
		t.Error("a grouping that is none was taken")
	}
}

func TestASummaryIsBounded(t *testing.T) {
	b, _ := book(t)
	for i := range 7 {
		add(t, b, priced("w"+strconv.Itoa(i), uint64(i+1), int64(i)))
	}
	for _, by := range []costs.By{costs.ByWorkspace, costs.ByMessage} {
		s := summary(t, b, costs.Filter{By: by, Limit: 3})
		if len(s.Lines) != 3 || s.More != 4 || s.Total.Cost != 21 || s.Total.Requests != 7 {
			t.Errorf("%s: %d lines, %d more, total %+v", by, len(s.Lines), s.More, s.Total)
		}
	}
	if s := summary(t, b, costs.Filter{By: costs.ByMessage, Workspace: "nobody"}); len(s.Lines) != 0 || s.Total.Requests != 0 {
		t.Errorf("got %+v", s)
	}
}

// TestMain lets the test binary be another process that enters usage.
func TestMain(m *testing.M) {
	if dir := os.Getenv("COSTS_TEST_ROOT"); dir != "" {
		os.Exit(enterMany(dir, os.Getenv("COSTS_TEST_WORKSPACE")))
	}
	os.Exit(m.Run())
}

const each = 40

func enterMany(dir, workspace string) int {
	r, err := store.Open(dir)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer func() { _ = r.Close() }()
	db, err := r.DB(context.Background())
	if err != nil {
		fmt.Println(err)
		return 1
	}
	for i := range each {
		if err := costs.New(db).Add(context.Background(), priced(workspace, uint64(i+1), 1)); err != nil {
			fmt.Println(err)
			return 1
		}
	}
	return 0
}

func TestProcessesEnterAtTheSameTime(t *testing.T) {
	b, r := book(t)
	var all sync.WaitGroup
	for _, w := range []string{"one", "two", "three"} {
		all.Go(func() {
			c := exec.Command(os.Args[0])
			c.Env = append(os.Environ(), "COSTS_TEST_ROOT="+r.Dir(), "COSTS_TEST_WORKSPACE="+w)
			if out, err := c.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	for i := range each {
		add(t, b, priced("four", uint64(i+1), 1))
	}
	all.Wait()
	if s := summary(t, b, costs.Filter{}); s.Total.Cost != 4*each || len(s.Lines) != 4 {
		t.Errorf("got %+v", s)
	}
}
