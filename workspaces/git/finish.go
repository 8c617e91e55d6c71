package git

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
)

// finishTree does what can fail without making the tree useless: submodules, hook.
func (g *Git) finishTree(ctx context.Context, p *treePlan) {
	g.addSubmodules(ctx, p)
	if p.Hooks {
		g.postCheckout(ctx, p)
	}
	if broken, err := g.CheckBare(ctx, p.Dir); err == nil && broken {
		p.warn("The repository says that it is bare although it has a checkout, so git refuses to work there. Mend it with: git config core.bare false")
	}
}

// refresh updates what the index knows about the files' times. Differences are no failure.
func (g *Git) refresh(ctx context.Context, dir string) error {
	_, err := g.runLocal(ctx, dir, "update-index", "-q", "--refresh")
	var failed *Error
	if errors.As(err, &failed) {
		return nil
	}
	return err
}

// postCheckout runs the hook that git worktree add would run. It never fails the creation.
func (g *Git) postCheckout(ctx context.Context, p *treePlan) {
	if !g.atLeast(2, 36) {
		p.warn("The post-checkout hook did not run: git %s is too old for that.", g.Version())
		return
	}
	hooks := filepath.Join(p.common, "hooks")
	if list, err := g.settings(ctx, p.Dir); err == nil {
		for _, s := range list {
			if s.key == "core.hookspath" && s.value != "" {
				hooks = s.value
			}
		}
	}
	if rest, ok := strings.CutPrefix(hooks, "~/"); ok {
		hooks = filepath.Join(g.home(), rest)
	}
	if !filepath.IsAbs(hooks) {
		hooks = filepath.Join(p.Dir, hooks)
	}
	p.Progress("Running the post-checkout hook")
	_, err := g.run(ctx, call{
		dir: p.Dir, config: [][2]string{{"core.hooksPath", hooks}}, filters: p.Filters,
		args:   []string{"hook", "run", "--ignore-missing", "post-checkout", "--", strings.Repeat("0", len(p.start)), p.start, "1"},
		stderr: &progressLines{to: p.Progress},
	})
	var failed *Error
	if errors.As(err, &failed) {
		p.warn("The post-checkout hook failed with code %d: %s", failed.Code, lastLine(failed.Stderr))
	}
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.ToValidUTF8(lines[len(lines)-1], "?")
}

func (g *Git) home() string {
	for _, pair := range g.env {
		if home, ok := strings.CutPrefix(pair, "HOME="); ok {
			return home
		}
	}
	return "/"
}
