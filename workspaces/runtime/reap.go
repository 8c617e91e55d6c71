package runtime

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os/signal"
	"syscall"
	"time"
)

// RunReaper is the body of the helper process that a Reaper starts. It reads registrations from in
// until that ends, which is when the other process has closed it or died, then kills with SIGKILL
// every registered group and every process with the owner's tag. It ignores the signals that end a
// session, for it must come last.
func RunReaper(in io.Reader) error {
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	owner, groups, err := registrations(in)
	for leader, tag := range groups {
		signalGroup(leader, syscall.SIGKILL, func(p proc) bool { return ours(p, owner, tag) })
	}
	if owner == "" {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	mine := func(p proc) bool { return ownerOf(tagOf(p.pid)) == owner }
	// A command that was being started when the other process died has no tag yet: look twice.
	for range 2 {
		if err := endAll(ctx, mine, 0); err != nil {
			return fmt.Errorf("reap: %w", err)
		}
		time.Sleep(50 * time.Millisecond)
	}
	return err
}

// ours reports whether a process in a group without its leader belongs to the command. Where the
// system does not show environments, the session tells.
func ours(p proc, owner, tag string) bool {
	if found := tagOf(p.pid); found != "" {
		return found == tag || ownerOf(found) == owner
	}
	return len(environ(p.pid)) == 0 && p.session == p.group
}

// registrations reads what is registered when in ends.
func registrations(in io.Reader) (owner string, groups map[proc]string, err error) {
	groups = map[proc]string{}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var p proc
		var tag string
		line := lines.Text()
		if n, _ := fmt.Sscanf(line, "add %d %d %s", &p.pid, &p.start, &tag); n == 3 && p.pid > 1 {
			groups[p] = tag
		}
		if n, _ := fmt.Sscanf(line, "drop %d", &p.pid); n == 1 {
			for q := range groups {
				if q.pid == p.pid {
					delete(groups, q)
				}
			}
		}
		if n, _ := fmt.Sscanf(line, "owner %s", &tag); n == 1 {
			owner = tag
		}
	}
	if err := lines.Err(); err != nil {
		return owner, groups, fmt.Errorf("read registrations: %w", err)
	}
	return owner, groups, nil
}
