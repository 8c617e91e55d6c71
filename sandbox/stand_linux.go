package sandbox

import (
	"errors"
	"fmt"
	"path"
	"sync"

	"golang.org/x/sys/unix"

	"carrel/sandbox/plan"
)

// standMark is the attribute of an empty folder that a sandbox made to stand in for a guard that is
// missing. What has it is removed, while empty, when the last box that uses it closes: also one that
// a killed process left.
const standMark = "user.carrel.stand"

// stands are the folders that stand in for guards, of one box. Each is held with a shared lock, so
// that boxes of several processes know of each other.
type stands struct {
	mu         sync.Mutex
	held       map[string]int // path to descriptor; -1 for a guard that is no stand
	key        string         // of the plan that was prepared last
	generation uint64         // of the ground then
}

// prepare makes what a plan needs on disk, and holds what stands in: also what another box has made
// to, which this plan takes for a folder like others. While the ground has not changed it is all there.
// It reports whether anything was missing, for then the next plan is another one.
func (s *stands) prepare(p plan.Plan, g *ground) (made bool, err error) {
	generation := g.Generation()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.key != "" && s.key == p.Key() && s.generation == generation {
		return false, nil
	}
	seen := true
	for _, step := range p.Prepare {
		seen = g.Add(path.Dir(step.Path)) && seen
	}
	if made, err = prepare(p.Prepare); err != nil {
		return made, err
	}
	if s.held == nil {
		s.held = map[string]int{}
	}
	for _, step := range p.Prepare {
		if fd, have := s.held[step.Path]; !step.Stand || have && fd >= 0 {
			continue
		}
		if err := s.hold(step); err != nil {
			return made, err
		}
	}
	for _, guard := range p.Watch {
		if _, have := s.held[guard]; have {
			continue
		}
		if _, err := unix.Lgetxattr(guard, standMark, nil); err != nil {
			s.held[guard] = -1
		} else if err := s.hold(plan.Prepare{Path: guard, Dir: true, Mode: 0o755, Stand: true}); err != nil {
			return made, err
		}
	}
	s.key, s.generation = "", generation
	if seen {
		s.key = p.Key()
	}
	return made, nil
}

// forget makes the next preparation look again.
func (s *stands) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.key = ""
}

func (s *stands) hold(step plan.Prepare) error {
	fd, err := hold(step)
	if err != nil {
		return fmt.Errorf("hold %q: %w", step.Path, err)
	}
	s.held[step.Path] = fd
	return nil
}

// hold locks a folder. Another box may be about to remove it; then it is made again.
func hold(step plan.Prepare) (int, error) {
	how := unix.OpenHow{Flags: unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS}
	for range maxStale {
		fd, err := unix.Openat2(unix.AT_FDCWD, step.Path, &how)
		if err == nil {
			var st unix.Stat_t
			err = errors.Join(unix.Flock(fd, unix.LOCK_SH), unix.Fstat(fd, &st))
			if err == nil && st.Nlink > 0 {
				return fd, nil
			}
			_ = unix.Close(fd)
		}
		if err != nil && !errors.Is(err, unix.ENOENT) {
			return -1, err
		}
		if _, err := prepareOne(step); err != nil {
			return -1, err
		}
	}
	return -1, unix.ESTALE
}

// release removes what only this box used.
func (s *stands) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, fd := range s.held {
		if fd < 0 {
			continue
		}
		if unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) == nil {
			removeStand(name, fd)
		}
		_ = unix.Close(fd)
	}
	s.held = nil
}

// removeStand removes an empty folder of ours; one that has become somebody's stays.
func removeStand(name string, fd int) {
	if n, err := unix.Fgetxattr(fd, standMark, nil); err != nil || n < 0 {
		return
	}
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS}
	at, err := unix.Openat2(unix.AT_FDCWD, path.Dir(name), &how)
	if err != nil {
		return
	}
	defer func() { _ = unix.Close(at) }()
	var ours, there unix.Stat_t
	if unix.Fstat(fd, &ours) != nil || unix.Fstatat(at, path.Base(name), &there, unix.AT_SYMLINK_NOFOLLOW) != nil || ours.Ino != there.Ino {
		return
	}
	_ = unix.Unlinkat(at, path.Base(name), unix.AT_REMOVEDIR) // refused unless it is empty
}

// markStand remembers that the folder is ours; without attributes it just stays.
func markStand(at int, name string) {
	fd, err := unix.Openat(at, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer func() { _ = unix.Close(fd) }()
	_ = unix.Fsetxattr(fd, standMark, []byte("1"), 0)
}
