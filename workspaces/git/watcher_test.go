package git

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
	"go.uber.org/goleak"
)

// report is one call of onChange.
type report struct {
	key string
	s   State
	err error
}

// eager works like usualPace, but the slow round never comes by itself.
func eager() pace {
	p := usualPace()
	p.settle, p.age, p.rest = 20*time.Millisecond, time.Hour, 0
	return p
}

type watching struct {
	*Watcher
	t       *testing.T
	reports chan report
}

func watch(t *testing.T, g *Git, p pace, addPath func(*fsnotify.Watcher, string) error) *watching {
	t.Helper()
	w := &watching{t: t, reports: make(chan report, 1000)}
	w.Watcher = startWatcher(g, func(key string, s State, err error) { w.reports <- report{key, s, err} }, p, addPath)
	t.Cleanup(w.Close)
	return w
}

// until waits for a report that fits, and fails when another key than the expected one is reported.
func (w *watching) until(key string, fits func(State, error) bool) State {
	w.t.Helper()
	timeout := time.After(60 * time.Second)
	for {
		select {
		case r := <-w.reports:
			if r.key != key {
				w.t.Errorf("%s was reported while %s was expected: %+v", r.key, key, r)
			}
			if fits(r.s, r.err) {
				return r.s
			}
		case <-timeout:
			w.t.Fatalf("%s was not reported", key)
		}
	}
}

// settled waits until every key was reported once.
func (w *watching) settled(n int) {
	w.t.Helper()
	seen := map[string]bool{}
	timeout := time.After(120 * time.Second)
	for len(seen) < n {
		select {
		case r := <-w.reports:
			seen[r.key] = true
		case <-timeout:
			w.t.Fatalf("only %d of %d were reported", len(seen), n)
		}
	}
}

func TestWatcherReportsWhatChangesAndNothingElse(t *testing.T) {
	defer goleak.VerifyNone(t)
	r := newCommit(t)
	w := watch(t, r.g, eager(), nil)
	defer w.Close()
	for _, name := range []string{"w1", "w2"} {
		w.Add(name, r.add(name), "main")
	}
	w.settled(2)
	r.put("w1/new.txt", "x")
	w.until("w1", func(s State, err error) bool { return s.Untracked == 1 })
	r.git(r.path("w1"), "add", "-A")
	w.until("w1", func(s State, err error) bool { return s.Staged == 1 && s.Added == 1 })
	r.git(r.path("w1"), "commit", "-q", "-m", "x")
	w.until("w1", func(s State, err error) bool { return s.Ahead == 1 && !s.Dirty() && s.Subject == "x" })
	r.put("w2/deep/er/file", "x")
	w.until("w2", func(s State, err error) bool { return s.Untracked == 1 })
	r.put("w2/deep/er/a.txt", "x")
	r.git(r.path("w2"), "switch", "-q", "-c", "topic/w2")
	w.until("w2", func(s State, err error) bool { return s.Branch == "topic/w2" })
	r.git(r.path("w1"), "switch", "-q", "--detach")
	w.until("w1", func(s State, err error) bool { return s.Detached })
}

func TestWatcherPokeFindsDeepChange(t *testing.T) {
	r := newCommit(t)
	r.commit("repo", "deep/er/b.txt", "b\n")
	w := watch(t, r.g, eager(), nil)
	w.Add("w1", r.add("w1"), "main")
	w.settled(1)
	r.put("w1/deep/er/b.txt", "changed\n")
	w.Poke("w1")
	w.until("w1", func(s State, err error) bool { return s.Unstaged == 1 })
}

func TestWatcherRereadsOnlyThoseWhoseBaseMoved(t *testing.T) {
	r := newCommit(t)
	r.git(r.dir, "branch", "dev")
	w := watch(t, r.g, eager(), nil)
	for i := range 6 {
		name := fmt.Sprint("w", i)
		w.Add(name, r.add(name), map[bool]string{true: "dev", false: "main"}[i == 3])
	}
	w.settled(6)
	main := r.git(r.dir, "rev-parse", "main")
	next := r.git(r.dir, "commit-tree", "-p", main, "-m", "next", main+"^{tree}")
	reads := counting(w.Watcher)
	r.git(r.dir, "update-ref", "refs/heads/dev", next)
	w.until("w3", func(s State, err error) bool { return s.Behind == 1 })
	if n := reads(); n != 1 {
		t.Errorf("%d states were read", n)
	}
	// Packed refs say the same as before, so nothing is read; then a packed base moves.
	r.git(r.dir, "pack-refs", "--all")
	r.git(r.dir, "update-ref", "refs/heads/dev", main)
	w.until("w3", func(s State, err error) bool { return s.Behind == 0 })
	r.git(r.dir, "branch", "-D", "-q", "dev")
	w.until("w3", func(s State, err error) bool { return err != nil })
	if n := reads(); n != 3 {
		t.Errorf("%d states were read", n)
	}
}

// counting gives how many states were read since it was called.
func counting(w *Watcher) func() int {
	total := func() (n int) {
		w.command(func() { n = w.reads })
		return n
	}
	before := total()
	return func() int { return total() - before }
}

func TestWatcherReportsFolderThatGoesAndComesBack(t *testing.T) {
	r := newCommit(t)
	p := eager()
	p.age, p.gap, p.unwatched = 100*time.Millisecond, 10*time.Millisecond, 1
	w := watch(t, r.g, p, nil)
	w1 := r.add("w1")
	w.Add("w1", w1, "main")
	w.settled(1)
	if err := os.Rename(w1, r.path("away")); err != nil {
		t.Fatal(err)
	}
	w.until("w1", func(s State, err error) bool { return err != nil })
	if err := os.Rename(r.path("away"), w1); err != nil {
		t.Fatal(err)
	}
	w.until("w1", func(s State, err error) bool { return err == nil })
	r.put("w1/new", "x")
	w.until("w1", func(s State, err error) bool { return s.Untracked == 1 })
}

func TestWatcherReadsAgainAfterItWatchesAnew(t *testing.T) {
	r := newCommit(t)
	w1 := r.add("w1")
	var comesBack atomic.Bool
	w := watch(t, r.g, eager(), func(fs *fsnotify.Watcher, path string) error {
		if _, err := os.Stat(w1); path == w1 && err == nil && comesBack.Swap(false) {
			r.put("w1/new", "x") // after it was read, before it is watched
		}
		return fs.Add(path)
	})
	w.Add("w1", w1, "main")
	w.settled(1)
	if err := os.Rename(w1, r.path("away")); err != nil {
		t.Fatal(err)
	}
	w.until("w1", func(s State, err error) bool { return err != nil })
	comesBack.Store(true)
	if err := os.Rename(r.path("away"), w1); err != nil {
		t.Fatal(err)
	}
	w.Poke("w1")
	w.until("w1", func(s State, err error) bool { return s.Untracked == 1 })
}

func TestWatcherFollowsThePlaceNotTheFolder(t *testing.T) {
	r := newCommit(t)
	w := watch(t, r.g, eager(), nil)
	w.Add("w1", r.add("shelf/w1"), "main")
	w.Add("w2", r.path("shelf/w1"), "main")
	w.settled(2)
	if err := os.Rename(r.path("shelf"), r.path("away")); err != nil { // no watch tells of it
		t.Fatal(err)
	}
	if err := os.CopyFS(r.path("shelf"), os.DirFS(r.path("away"))); err != nil {
		t.Fatal(err)
	}
	reads := counting(w.Watcher)
	for _, key := range []string{"w1", "w2"} {
		w.Poke(key) // reads what it read before: nothing to report
	}
	for deadline := time.Now().Add(60 * time.Second); reads() < 4; time.Sleep(time.Millisecond) { // and once more after it is watched
		if time.Now().After(deadline) {
			t.Fatal("the folder that took its place is not watched")
		}
	}
	r.put("shelf/w1/new", "x")
	w.settled(2)
}

func TestWatcherUsesFewWatches(t *testing.T) { // O-DESK-08
	r := newCommit(t)
	w1 := r.add("w1")
	r.put("w1/.gitignore", "node_modules\n")
	for i := range 500 {
		r.put(fmt.Sprintf("w1/node_modules/p%d/lib/x.js", i), "")
	}
	before := inotifyWatches(t)
	w := watch(t, r.g, eager(), nil)
	w.Add("w1", w1, "main")
	w.settled(1)
	if n := inotifyWatches(t) - before; n < 4 || n > 20 {
		t.Errorf("%d watches", n)
	}
	w.Remove("w1")
	if n := inotifyWatches(t) - before; n != 0 {
		t.Errorf("%d watches are left", n)
	}
}

// inotifyWatches counts this process's watches.
func inotifyWatches(t *testing.T) (n int) {
	t.Helper()
	files, err := filepath.Glob("/proc/self/fdinfo/*")
	if err != nil || len(files) == 0 {
		t.Skip("this system does not list watches")
	}
	for _, f := range files {
		text, _ := os.ReadFile(f) // some are gone by now
		n += strings.Count(string(text), "inotify wd:")
	}
	return n
}

func TestWatcherPollsWhenWatchesRunOut(t *testing.T) { // O-DESK-08
	for _, lack := range []error{syscall.ENOSPC, syscall.EMFILE} {
		r := newCommit(t)
		var mu sync.Mutex
		var notices []string
		g, err := New(Options{Env: testEnv(r.root), Notice: func(text string) {
			mu.Lock()
			defer mu.Unlock()
			notices = append(notices, text)
		}})
		if err != nil {
			t.Fatal(err)
		}
		p := eager()
		p.age, p.gap, p.unwatched = 50*time.Millisecond, 10*time.Millisecond, 1
		w := watch(t, g, p, func(*fsnotify.Watcher, string) error { return fmt.Errorf("watch: %w", lack) })
		w.Add("w1", r.add("w1"), "main")
		w.Add("w2", r.add("w2"), "main")
		w.settled(2)
		r.put("w1/new", "x")
		w.until("w1", func(s State, err error) bool { return s.Untracked == 1 })
		r.put("w2/new", "x")
		w.until("w2", func(s State, err error) bool { return s.Untracked == 1 })
		w.Close()
		mu.Lock()
		if len(notices) != 1 {
			t.Errorf("%v: notices %q", lack, notices)
		}
		mu.Unlock()
	}
}

func TestWatcherSlowRoundStaysWithinItsBudget(t *testing.T) {
	k := &watched{cost: 170 * time.Millisecond, read: time.Now()}
	w := &Watcher{pace: usualPace()}
	w.paceIdle(k)
	if share := float64(k.cost) / float64(w.poll.Sub(k.read)); share > 0.01 {
		t.Errorf("a state of %v may take %.1f%% of a core", k.cost, share*100)
	}
	k.cost = 5 * time.Millisecond
	w.paceIdle(k)
	if share := float64(k.cost) / float64(w.poll.Sub(k.read)); share > 0.01 {
		t.Errorf("a state of %v may take %.1f%% of a core", k.cost, share*100)
	}
}

func TestWatcherCloseEndsRunningReads(t *testing.T) {
	defer goleak.VerifyNone(t)
	r := newCommit(t)
	w := NewWatcher(r.g, func(string, State, error) {})
	for i := range 5 {
		name := fmt.Sprint("w", i)
		w.Add(name, r.add(name), "main")
	}
	w.Close()
	w.Add("late", r.dir, "")
	w.Poke("w1")
	w.Remove("w1")
	w.Close()
}

func TestWatcherReadsOnceForAPokeAndItsEvent(t *testing.T) {
	now, p := time.Now(), usualPace()
	k := &watched{took: time.Hour, read: now} // by itself it would rest
	k.poke(now, p)
	due := k.due
	if wait := due.Sub(now); wait > 10*time.Millisecond {
		t.Errorf("a poke waits %v", wait)
	}
	k.touch(now.Add(time.Millisecond), p)
	k.poke(now.Add(2*time.Millisecond), p)
	if !k.due.Equal(due) {
		t.Errorf("the same change puts the read off by %v", k.due.Sub(due))
	}
	k.due, k.poked = time.Time{}, false // the read has begun
	k.touch(now.Add(3*time.Millisecond), p)
	if k.due.IsZero() {
		t.Error("a change after the read began was lost")
	}
}
