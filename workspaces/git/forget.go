package git

import (
	"context"
	"fmt"
)

// ForgetTree drops the registration of the worktree at dir, whose folder is gone or was moved away. It
// fails with ErrNotRegistered, ErrLocked, or ErrInUse while the folder still links to the registration.
func (g *Git) ForgetTree(ctx context.Context, repo, dir string) error {
	common, err := g.commonOf(ctx, repo)
	if err != nil {
		return fmt.Errorf("forget worktree %q: %w", dir, err)
	}
	release, err := g.holdRepo(ctx, common)
	if err != nil {
		return err
	}
	defer release()
	a, err := adminOf(common, dir)
	if err != nil {
		return err
	}
	if a.locked() {
		return fmt.Errorf("forget worktree %q: %w", dir, ErrLocked)
	}
	if a.linkedFrom(dir) {
		return fmt.Errorf("forget worktree %q: %w", dir, ErrInUse)
	}
	return a.drop(common)
}
