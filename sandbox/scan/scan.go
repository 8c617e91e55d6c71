// Package scan looks, after a command, for what it left that could later run on the host: hooks and
// configuration of git directories, files that send git elsewhere, settings of agents and editors
// that carry commands, files that a shell reads on its own.
//
// Mounts guard such names where they exist. What they can't guard is a name that is missing: it can
// be made in any folder that stays writable. So Before notes what is there, After compares, and
// Quarantine moves what is new into a private folder and puts the former content back.
//
// It promises: nothing is followed or run. Every step goes from an open folder to a name in it, so
// that a tree which changes meanwhile can mislead a look at itself but never reach outside of its
// root; every look is bounded (Limits), and says when it was cut short. It does not judge what people
// run by name, such as a Makefile or the scripts of package.json.
package scan

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Limits bound a look at one root. The zero value of a field means its default.
type Limits struct {
	Folders int // that are looked into, 250,000
	Entries int // of one folder, 200,000
	Items   int // files that are watched, 20,000
	Depth   int // of folders, 128
}

func (l Limits) orDefault() Limits {
	set := func(n *int, to int) {
		if *n <= 0 {
			*n = to
		}
	}
	set(&l.Folders, 250_000)
	set(&l.Entries, 200_000)
	set(&l.Items, 20_000)
	set(&l.Depth, 128)
	return l
}

// Config says where to look.
type Config struct {
	// Roots are the folders that commands may write: the project, more write roots, and a git
	// directory that lies elsewhere. Absolute; the first that holds another holds it for both.
	Roots []string
	// Held are files and folders that commands can't write, for a mount keeps them: what changed there
	// came from the host and is nobody's business, unless the folder itself was replaced.
	Held []string
	// Open are places inside of held ones that commands can write all the same. The place that lies
	// closest above a file counts.
	Open   []string
	Limits Limits
}

// Scanner keeps what it saw, so that a folder that did not change is not read again. It may be used
// by several goroutines; their looks take turns.
type Scanner struct {
	config Config

	mu   sync.Mutex
	seen map[string]*tree // by root
}

// New gives a scanner that has seen nothing yet.
func New(c Config) *Scanner {
	c.Limits = c.Limits.orDefault()
	return &Scanner{config: c, seen: map[string]*tree{}}
}

// Snapshot is what was there at one moment.
type Snapshot struct {
	trees []*tree
	held  map[string]ident
	open  map[string]bool
}

// Partial says why a look did not see everything; "" when it did.
func (s *Snapshot) Partial() string {
	for _, t := range s.trees {
		if t.partial != "" {
			return fmt.Sprintf("%s: %s", t.root, t.partial)
		}
	}
	return ""
}

// Before notes what is there. It fails with the context's error, or when a root can't be opened.
func (s *Scanner) Before(ctx context.Context) (*Snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	snap := &Snapshot{held: map[string]ident{}, open: map[string]bool{}}
	for _, path := range s.config.Open {
		snap.open[filepath.Clean(path)] = true
	}
	for _, root := range s.config.Roots {
		t, err := look(ctx, root, s.config.Limits, s.seen[root])
		if errors.Is(err, fs.ErrNotExist) {
			t, err = &tree{root: root, folders: map[string]*folder{}, items: map[string]*item{}}, nil
		}
		if err != nil {
			return nil, err
		}
		s.seen[root] = t
		snap.trees = append(snap.trees, t)
	}
	for _, path := range s.config.Held {
		if info, err := os.Lstat(path); err == nil {
			snap.held[filepath.Clean(path)] = identOf(info)
		}
	}
	return snap, nil
}

// Report is what After found.
type Report struct {
	Findings []Finding
	Partial  string // why the look did not see everything; "" when it did
}

// After compares what is there now with a snapshot.
func (s *Scanner) After(ctx context.Context, before *Snapshot) (Report, error) {
	now, err := s.Before(ctx)
	if err != nil {
		return Report{}, err
	}
	r := Report{Partial: now.Partial()}
	for i, t := range now.trees {
		if i >= len(before.trees) {
			break
		}
		r.Findings = append(r.Findings, compare(before.trees[i], t, before)...)
	}
	return r, nil
}

// tree is what one root held.
type tree struct {
	root    string
	folders map[string]*folder // by path below root, "." is the root
	items   map[string]*item   // what is watched, by path below root
	partial string
}

// folder is a folder as it was listed.
type folder struct {
	id    ident
	racy  bool     // it changed so shortly before it was read that a change might have been missed
	marks []string // names in it that deserve a look each time
	subs  []string // its folders
	isGit bool     // it looks like a git directory
}

// ident tells whether a file is the one that it was. The change time can't be set by a program, so a
// folder that has its former one has its former names.
type ident struct {
	dev, ino uint64
	changed  int64 // nanoseconds; 0 where the system does not tell
}

func (id ident) same(other ident) bool { return id == other && id.changed != 0 }

// racyWindow is how long after its change a file may change again unnoticed: file systems stamp with
// the clock's tick.
const racyWindow = 100 * time.Millisecond

func racy(id ident, now time.Time) bool {
	return id.changed == 0 || now.UnixNano()-id.changed < racyWindow.Nanoseconds()
}
