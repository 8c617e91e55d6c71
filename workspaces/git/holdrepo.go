package git

import (
	"context"
	"time"
)

// otherPoll is how often a repository that another process changes is tried again. An addition takes
// milliseconds.
const otherPoll = 5 * time.Millisecond

// holdRepo takes the lock of a repository's list of worktrees, against this process and others of
// ours: git reads the other registrations while it adds one, and fails on one that is half written.
func (g *Git) holdRepo(ctx context.Context, common string) (release func(), err error) {
	mine, err := g.hold(ctx, common)
	if err != nil {
		return nil, err
	}
	for {
		unlock, busy := tryLockDir(common)
		if !busy {
			return func() { unlock(); mine() }, nil
		}
		timer := time.NewTimer(otherPoll)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			mine()
			return nil, ctx.Err()
		}
	}
}
