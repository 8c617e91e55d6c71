package git

import (
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// bigRepo has 20,000 files of 10 to 80 lines in 2,000 folders.
func bigRepo(b *testing.B) *repo {
	b.Helper()
	t := &testing.T{}
	root, err := filepath.EvalSymlinks(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	r := &repo{t: t, root: root, dir: filepath.Join(root, "repo")}
	r.put("home/.gitconfig", "[user]\n\tname = A\n\temail = a@example.com\n[init]\n\tdefaultBranch = main\n")
	if r.g, err = New(Options{Env: testEnv(root)}); err != nil {
		b.Fatal(err)
	}
	random := rand.New(rand.NewSource(1))
	for d := range 2000 {
		for f := range 10 {
			var text strings.Builder
			for range 10 + random.Intn(70) {
				fmt.Fprintf(&text, "line %d\n", random.Int63())
			}
			r.put(fmt.Sprintf("repo/d%d/e%d/f%d.txt", d%40, d, f), text.String())
		}
	}
	r.git(root, "init", "-q", "repo")
	r.git(r.dir, "add", "-A")
	r.git(r.dir, "commit", "-q", "-m", "x")
	return r
}

// times collects durations and gives their median.
type times []time.Duration

func (l *times) run(b *testing.B, f func() error) {
	b.Helper()
	began := time.Now()
	if err := f(); err != nil {
		b.Fatal(err)
	}
	*l = append(*l, time.Since(began))
}

func (l times) median() float64 {
	slices.Sort(l)
	return float64(l[len(l)/2]) / 1e6
}

// BenchmarkCreation compares with git worktree add, turn by turn: 1.15 and 0.15 are the goals.
func BenchmarkCreation(b *testing.B) {
	r := bigRepo(b)
	ctx := b.Context()
	var plain, first, warm, prepare times
	for i := range b.N {
		name := fmt.Sprint("n", i)
		plain.run(b, func() error {
			_, err := r.try(r.dir, "worktree", "add", "-q", "-b", "p"+name, r.path("p"+name))
			return err
		})
		first.run(b, func() error {
			_, err := r.g.AddTree(ctx, NewTree{Repo: r.dir, Dir: r.path("f" + name), Branch: "f" + name, Create: true})
			return err
		})
		prepare.run(b, func() error { return r.g.PrepareSpare(ctx, r.dir, r.path("spare")) })
		warm.run(b, func() error {
			made, err := r.g.AddTree(ctx, NewTree{Repo: r.dir, Dir: r.path("w" + name), Branch: "w" + name, Create: true, Spare: r.path("spare")})
			if err == nil && !made.FromSpare {
				b.Fatal("the spare was not used")
			}
			return err
		})
		for _, prefix := range []string{"p", "f", "w"} {
			_ = os.RemoveAll(r.path(prefix + name)) // the next round starts alike
		}
		r.git(r.dir, "worktree", "prune")
	}
	b.ReportMetric(plain.median(), "ms/worktree-add")
	b.ReportMetric(first.median()/plain.median(), "x/first")
	b.ReportMetric(warm.median()/plain.median(), "x/spare")
	b.ReportMetric(prepare.median(), "ms/prepare")
}

// fiftyTrees makes w0 to w49. Three are whole, the others have few files, to spare the disk.
func fiftyTrees(b *testing.B, r *repo) {
	b.Helper()
	for i := range 50 {
		name := fmt.Sprint("w", i)
		if i < 3 {
			if _, err := r.g.AddTree(b.Context(), NewTree{Repo: r.dir, Dir: r.path(name), Branch: name, Create: true}); err != nil {
				b.Fatal(err)
			}
			continue
		}
		r.git(r.dir, "worktree", "add", "-q", "--no-checkout", "-b", name, r.path(name))
		r.git(r.path(name), "sparse-checkout", "set", "--no-cone", "/d1/")
		r.git(r.path(name), "read-tree", "-m", "-u", "HEAD")
	}
}

// BenchmarkState compares with git status in the same checkout, and counts what the watcher does for
// 50 checkouts after a change in one: 2 is the goal.
func BenchmarkState(b *testing.B) {
	r := bigRepo(b)
	ctx := b.Context()
	dir := r.path("w0")
	fiftyTrees(b, r)
	time.Sleep(time.Second) // until the indexes are older than now, as they are in use
	r.git(dir, "status")
	r.put("w0/d0/e0/f0.txt", "changed\n")
	reports := make(chan State, 100)
	p := usualPace()
	p.rest = 0 // the pause between two reads is no work
	w := startWatcher(r.g, func(key string, s State, err error) {
		if err != nil {
			b.Error(err)
		}
		reports <- s
	}, p, nil)
	defer w.Close()
	for i := range 50 {
		w.Add(fmt.Sprint("w", i), r.path(fmt.Sprint("w", i)), "main")
	}
	for range 50 {
		<-reports
	}
	var plain, state, refresh times
	reads := 0
	for i := range b.N {
		plain.run(b, func() error {
			_, err := r.try(dir, "--no-optional-locks", "status", "--porcelain=v2", "-z")
			return err
		})
		state.run(b, func() error { _, err := r.g.State(ctx, dir, "main"); return err })
		read := counting(w)
		began := time.Now()
		r.put("w0/d0/e0/f0.txt", strings.Repeat("changed again\n", i+2))
		w.Poke("w0")
		<-reports
		refresh = append(refresh, time.Since(began))
		reads += read()
	}
	b.ReportMetric(plain.median(), "ms/status")
	b.ReportMetric(state.median()/plain.median(), "x/state")
	b.ReportMetric(refresh.median()/plain.median(), "x/refresh-50")
	b.ReportMetric(float64(reads)/float64(b.N), "reads/change")
}

// BenchmarkIdle measures what watching 50 checkouts costs when nothing happens: under 1 % of a core.
func BenchmarkIdle(b *testing.B) {
	r := bigRepo(b)
	first := make(chan struct{}, 100)
	w := NewWatcher(r.g, func(string, State, error) { first <- struct{}{} })
	defer w.Close()
	fiftyTrees(b, r)
	for i := range 50 {
		w.Add(fmt.Sprint("w", i), r.path(fmt.Sprint("w", i)), "main")
	}
	for range 50 {
		<-first
	}
	time.Sleep(20 * time.Second) // until the slow round goes
	before := cpu(b)
	time.Sleep(60 * time.Second)
	b.ReportMetric(100*(cpu(b)-before).Seconds()/60, "%core")
}

// cpu is what this process and its ended children have used.
func cpu(b *testing.B) (total time.Duration) {
	b.Helper()
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err != nil {
			b.Fatal(err)
		}
		total += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return total
}
