package git

import (
	"context"
	"fmt"
	"strings"
)

// A patch longer than this is cut, in bytes.
const maxPatch = 64 << 10

// Change is one file that differs from the base.
type Change struct {
	Path    string
	OldPath string // of a rename or copy, else ""
	// Status is M modified, A added, D deleted, R renamed, C copied, T another type of file, U
	// unmerged, or ? untracked.
	Status         string
	Added, Removed int // lines
	Binary         bool
	Patch          string // unified diff; "" for a binary file
	Cut            bool   // Patch is not the whole
}

// Changes lists how the checkout at dir differs from its merge base with base ("" means HEAD),
// uncommitted and untracked files included, in git's order with the untracked last. At most limit of
// them come back; the number says how many more there are. Patches are at most 64 KiB each. It fails
// with ErrNotRepo or *NoSuchRefError.
func (g *Git) Changes(ctx context.Context, dir, base string, limit int) ([]Change, int, error) {
	from, err := g.changesFrom(ctx, dir, base)
	if err != nil {
		return nil, 0, err
	}
	list, err := g.trackedChanges(ctx, dir, from)
	if err != nil {
		return nil, 0, err
	}
	st, err := g.status(ctx, dir, "all")
	if err != nil {
		return nil, 0, err
	}
	list, untracked := mergeStatus(list, st.entries)
	total := len(list) + len(untracked)
	limit = max(0, min(limit, total))
	tracked := min(limit, len(list))
	if err := g.patches(ctx, dir, from, list[:tracked], tracked == len(list)); err != nil {
		return nil, 0, err
	}
	list = list[:tracked]
	more, err := readUntracked(ctx, dir, untracked[:limit-tracked])
	return append(list, more...), total - limit, err
}

// mergeStatus adds what only git status knows: conflicts, and the untracked files.
func mergeStatus(list []Change, entries []entry) (changes []Change, untracked []string) {
	at := map[string]int{}
	for i, c := range list {
		at[c.Path] = i
	}
	for _, e := range entries {
		i, listed := at[e.path]
		switch {
		case e.kind == '?':
			untracked = append(untracked, e.path)
		case e.kind == 'u' && listed:
			list[i].Status = "U"
		case e.kind == 'u':
			list = append(list, Change{Path: e.path, Status: "U"})
		}
	}
	return list, untracked
}

// changesFrom is the commit or tree to compare with.
func (g *Git) changesFrom(ctx context.Context, dir, base string) (string, error) {
	head, err := g.commit(ctx, dir, "HEAD")
	if err != nil {
		return "", err
	}
	if head == "" {
		return g.emptyTree(ctx, dir)
	}
	if base == "" {
		return head, nil
	}
	tip, err := g.resolveBase(ctx, dir, base)
	if err != nil {
		return "", err
	}
	if tip == "" {
		return "", &NoSuchRefError{Ref: base}
	}
	return g.fork(ctx, dir, head, tip)
}

// diffIndex compares a commit with the work tree. It looks for renames among at most 1,000 files.
func diffIndex(from string, format ...string) []string {
	args := append([]string{"diff-index", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty", "-M", "-l1000", "--no-color"}, format...)
	return append(args, from, "--")
}

// trackedChanges lists files and their line counts, without patches.
func (g *Git) trackedChanges(ctx context.Context, dir, from string) ([]Change, error) {
	out, err := g.readFiles(ctx, call{
		dir: dir, args: diffIndex(from, "--raw", "--numstat", "-z"),
		config: [][2]string{{"core.bigFileThreshold", diffLimit}},
	})
	if err != nil {
		return nil, g.explain(dir, err)
	}
	list, err := parseChanges(out.Stdout)
	if err != nil {
		return nil, fmt.Errorf("read changes of %q: %w", dir, err)
	}
	return list, nil
}

// parseChanges reads --raw records (which begin with a colon), then --numstat records.
func parseChanges(text []byte) ([]Change, error) {
	var list []Change
	at := map[string]int{}
	for len(text) > 0 && text[0] == ':' {
		fields := strings.SplitN(string(text), "\x00", 4)
		info := strings.Fields(fields[0])
		if len(fields) < 3 || len(info) != 5 || fields[1] == "" {
			return nil, errFormat
		}
		c := Change{Status: info[4][:1], Path: fields[1]}
		used := len(fields[0]) + len(fields[1]) + 2
		if c.Status == "R" || c.Status == "C" {
			if len(fields) < 4 || fields[2] == "" {
				return nil, errFormat
			}
			c.OldPath, c.Path = fields[1], fields[2]
			used += len(fields[2]) + 1
		}
		text = text[used:]
		if i, ok := at[c.Path]; ok {
			// An unmerged file comes twice: as unmerged, and as it is in the work tree.
			list[i].Status = "U"
			continue
		}
		at[c.Path] = len(list)
		list = append(list, c)
	}
	counts, err := parseNumstat(text)
	if err != nil {
		return nil, err
	}
	counted := map[string]bool{}
	for _, c := range counts {
		i, ok := at[c.path]
		if !ok {
			return nil, errFormat
		}
		list[i].Added, list[i].Removed, list[i].Binary = c.added, c.removed, c.binary
		counted[c.path] = true
	}
	return dropUntouched(list, counted), nil
}

// dropUntouched leaves out files whose times differ but not their content, which diff-index names
// since nobody refreshed the index: it has no line counts for them, and calls them M.
func dropUntouched(list []Change, counted map[string]bool) []Change {
	kept := list[:0]
	for _, c := range list {
		if c.Status != "M" || counted[c.Path] {
			kept = append(kept, c)
		}
	}
	return kept
}
