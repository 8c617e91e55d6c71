package git

import (
	"bytes"
	"context"
	"strconv"
)

// lineCount is one file of a --numstat.
type lineCount struct {
	path, from     string // from is the old path of a rename, else ""
	added, removed int
	binary         bool
}

// parseNumstat reads "ADDED TAB REMOVED TAB path NUL", or for a rename
// "ADDED TAB REMOVED TAB NUL old NUL new NUL".
func parseNumstat(text []byte) ([]lineCount, error) {
	var list []lineCount
	for len(text) > 0 {
		record, rest, ended := bytes.Cut(text, []byte{0})
		fields := bytes.SplitN(record, []byte{'\t'}, 3)
		if !ended || len(fields) != 3 {
			return nil, errFormat
		}
		c := lineCount{path: string(fields[2])}
		if c.path == "" {
			var names [2][]byte
			for i := range names {
				if names[i], rest, ended = bytes.Cut(rest, []byte{0}); !ended || len(names[i]) == 0 {
					return nil, errFormat
				}
			}
			c.from, c.path = string(names[0]), string(names[1])
		}
		if c.binary = string(fields[0]) == "-"; !c.binary {
			var err1, err2 error
			c.added, err1 = strconv.Atoi(string(fields[0]))
			c.removed, err2 = strconv.Atoi(string(fields[1]))
			if err1 != nil || err2 != nil || c.added < 0 || c.removed < 0 {
				return nil, errFormat
			}
		}
		list = append(list, c)
		text = rest
	}
	return list, nil
}

// relation is how a head stands to a base. It never changes for two given commits.
type relation struct {
	ahead, behind int
	fork          string // the merge base; the base itself when they have none
	lines         tally  // from fork to head
}

// tally is the sum of a numstat and the paths that it names.
type tally struct {
	added, removed int
	paths          []string
	many           bool // too many paths to name: only the first is kept
}

func sum(list []lineCount) tally {
	var t tally
	for _, c := range list {
		t.added += c.added
		t.removed += c.removed
		t.paths = append(t.paths, c.path)
		if c.from != "" {
			t.paths = append(t.paths, c.from)
		}
	}
	if !fits(t.paths) {
		t.paths, t.many = []string{t.paths[0]}, true
	}
	return t
}

func (g *Git) relate(ctx context.Context, dir, head, base string) (relation, error) {
	key := head + " " + base
	g.mu.Lock()
	r, ok := g.relations[key]
	g.mu.Unlock()
	if ok {
		return r, nil
	}
	out, err := g.Read(ctx, dir, "rev-list", "--left-right", "--count", head+"..."+base, "--")
	if err != nil {
		return r, g.explain(dir, err)
	}
	fields := bytes.Fields(out.Stdout)
	if len(fields) != 2 {
		return r, errFormat
	}
	var err1, err2 error
	r.ahead, err1 = strconv.Atoi(string(fields[0]))
	r.behind, err2 = strconv.Atoi(string(fields[1]))
	if err1 != nil || err2 != nil {
		return r, errFormat
	}
	if r.fork, err = g.fork(ctx, dir, head, base); err != nil {
		return r, err
	}
	if r.fork != head {
		list, err := g.numstat(ctx, dir, "diff-tree", "-r", "--numstat", "-z", "-M", r.fork, head)
		if err != nil {
			return r, err
		}
		r.lines = sum(list)
	}
	g.mu.Lock()
	remember(g.relations, key, r)
	g.mu.Unlock()
	return r, nil
}

// fork is the merge base of two commits; the second one when their histories are unrelated.
func (g *Git) fork(ctx context.Context, dir, head, base string) (string, error) {
	fork, err := g.ask(ctx, dir, "merge-base", head, base)
	if fork == "" {
		fork = base
	}
	return fork, err
}

// Files above this size are shown as binary, since git compares a file in memory.
const diffLimit = "16m"

func (g *Git) numstat(ctx context.Context, dir string, args ...string) ([]lineCount, error) {
	out, err := g.readFiles(ctx, call{
		dir: dir, args: append([]string{"--literal-pathspecs"}, plainDiff(args)...),
		config: [][2]string{{"core.bigFileThreshold", diffLimit}},
	})
	if err != nil {
		return nil, g.explain(dir, err)
	}
	return parseNumstat(out.Stdout)
}
