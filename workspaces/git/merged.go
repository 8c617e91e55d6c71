package git

import (
	"bytes"
	"context"
	"strings"
)

func (g *Git) merged(ctx context.Context, dir, head, base string) (bool, error) {
	r, err := g.relate(ctx, dir, head, base)
	if err != nil || r.ahead == 0 {
		return err == nil, err
	}
	if r.behind == 0 {
		return false, nil
	}
	if len(r.lines.paths) == 0 {
		// No change in sum, or only modes: nothing to find a twin of.
		same, err := g.ask(ctx, dir, "diff-tree", "-r", "--name-only", r.fork, head)
		return err == nil && same == "", err
	}
	// Rebased: cherry marks each commit whose twin is in base with "-".
	marks, err := g.ask(ctx, dir, "cherry", base, head)
	if err != nil {
		return false, err
	}
	if marks != "" && !strings.Contains("\n"+marks, "\n+") {
		return true, nil
	}
	return g.squashed(ctx, dir, r, head, base)
}

// squashed looks for one commit of base that makes the same change as all of head's together.
func (g *Git) squashed(ctx context.Context, dir string, r relation, head, base string) (bool, error) {
	want, err := g.patchIDs(ctx, dir, "diff-tree", "-p", "--no-renames", r.fork, head)
	if err != nil || len(want) != 1 {
		return false, err
	}
	// A twin touches every path of the change, so one path narrows the search.
	have, err := g.patchIDs(ctx, dir, "log", "-p", "--no-renames", "--no-merges", "--full-diff", "--max-count=1000",
		"--format=commit %H", r.fork+".."+base, "--", r.lines.paths[0])
	if err != nil {
		return false, err
	}
	for id := range want {
		if have[id] {
			return true, nil
		}
	}
	return false, nil
}

// patchIDs gives git's patch ids of what a diff command prints: equal ids, equal changes, wherever
// they are in the file.
func (g *Git) patchIDs(ctx context.Context, dir string, args ...string) (map[string]bool, error) {
	diff, err := g.run(ctx, call{
		dir: dir, args: append([]string{"--literal-pathspecs"}, plainDiff(args)...), read: true,
		config: [][2]string{{"core.bigFileThreshold", diffLimit}},
	})
	if err != nil {
		return nil, g.explain(dir, err)
	}
	out, err := g.run(ctx, call{dir: dir, args: []string{"patch-id", "--stable"}, read: true, stdin: bytes.NewReader(diff.Stdout)})
	if err != nil {
		return nil, g.explain(dir, err)
	}
	ids := map[string]bool{}
	for _, line := range strings.Split(string(out.Stdout), "\n") {
		if id, _, ok := strings.Cut(line, " "); ok {
			ids[id] = true
		}
	}
	return ids, nil
}
