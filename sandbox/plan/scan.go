package plan

import (
	"path"
	"slices"
	"time"

	"carrel/sandbox/policy"
)

// Bounds of the search for nested repositories and settings.
const (
	maxFolders = 50_000
	maxLevels  = 40
)

// hit is something found below the top of a tree.
type hit struct {
	path string
	repo bool // a working tree with a .git in it, or a bare repository
	dir  bool
}

// scanner searches trees, and looks again only where a folder's time has changed.
type scanner struct {
	names   map[string]bool // guarded in every folder; the value says that it is a folder
	folders map[string]folder
	results map[string]result
}

// folder is what a folder held when it was listed.
type folder struct {
	entry Entry
	at    time.Time
	subs  []string
	hits  []hit
}

// result is the last search of a tree.
type result struct {
	at    time.Time
	hits  []hit
	whole bool
}

// deepNames are the guards of a policy that hold in every folder.
func deepNames(guards []policy.Guard) map[string]bool {
	names := map[string]bool{}
	for _, g := range guards {
		if g.Deep {
			names[g.Name] = g.Dir
		}
	}
	return names
}

func newScanner(names map[string]bool) *scanner {
	return &scanner{names: names, folders: map[string]folder{}, results: map[string]result{}}
}

// search walks a tree below its top. A result younger than fresh is taken as it is. whole is false
// when a bound ended the search.
func (s *scanner) search(t Tree, root string, skip func(string) bool, now time.Time, fresh time.Duration) (hits []hit, whole bool) {
	if r, ok := s.results[root]; ok && now.Sub(r.at) < fresh && now.Sub(r.at) >= 0 {
		return r.hits, r.whole
	}
	type step struct {
		dir   string
		level int
	}
	queue := []step{{root, 0}}
	whole = true
	live := 0
	for ; live < len(queue); live++ {
		if live >= maxFolders {
			whole = false
			break
		}
		at := queue[live]
		f, ok := s.visit(t, at.dir, now)
		if !ok {
			continue
		}
		if at.level > 0 {
			hits = append(hits, f.hits...)
		}
		for _, sub := range f.subs {
			next := path.Join(at.dir, sub)
			if skip(next) {
				continue
			}
			if at.level+1 > maxLevels {
				whole = false
				continue
			}
			queue = append(queue, step{next, at.level + 1})
		}
	}
	if len(s.folders) > 2*maxFolders {
		s.folders = map[string]folder{} // of trees that are gone
	}
	s.results[root] = result{at: now, hits: hits, whole: whole}
	return hits, whole
}

// visit lists a folder, or takes what is known while its time is the same.
func (s *scanner) visit(t Tree, dir string, now time.Time) (folder, bool) {
	e, err := t.Lstat(dir)
	if err != nil || !e.IsDir() {
		delete(s.folders, dir)
		return folder{}, false
	}
	if known, ok := s.folders[dir]; ok && same(e, known.entry, known.at) {
		return known, true
	}
	entries, err := t.ReadDir(dir)
	if err != nil {
		return folder{}, false
	}
	f := folder{entry: e, at: now}
	bare := 0
	for _, e := range entries {
		name := path.Join(dir, e.Name)
		asDir, guarded := s.names[e.Name]
		switch {
		case e.Name == ".git":
			f.hits = append(f.hits, hit{path: dir, repo: true})
		case guarded && (e.IsDir() == asDir || !e.Type.IsRegular() && !e.IsDir()):
			f.hits = append(f.hits, hit{path: name, dir: asDir})
		case e.IsDir() && !dull(e.Name):
			f.subs = append(f.subs, e.Name)
		}
		if slices.Contains([]string{"HEAD", "objects", "refs"}, e.Name) {
			bare++
		}
	}
	if bare == 3 {
		f.hits = append(f.hits, hit{path: dir, repo: true})
	}
	s.folders[dir] = f
	return f, true
}

// dull names folders that hold downloads in their thousands and no repository of the person.
func dull(name string) bool {
	return slices.Contains([]string{"node_modules", "__pycache__", ".pnpm-store", ".venv", "site-packages"}, name)
}
