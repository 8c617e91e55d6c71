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
	r, err := readRegistered(in)
	for leader, tag := range r.groups {
		signalGroup(leader, syscall.SIGKILL, func(p proc) bool { return ours(p, r.owner, tag) })
	}
	if r.owner == "" {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	mine := func(p proc) bool { return ownerOf(tagOf(p.pid)) == r.owner }
	if endErr := endAll(ctx, mine, 0); endErr != nil {
		return fmt.Errorf("reap: %w", endErr)
	}
	if r.orderly {
		return err
	}
	// A command that was being started when the other process died had no tag yet: look again.
	time.Sleep(50 * time.Millisecond)
	if endErr := endAll(ctx, mine, 0); endErr != nil {
		return fmt.Errorf("reap: %w", endErr)
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

// registered is what a Reaper has told its helper.
type registered struct {
	owner   string
	groups  map[proc]string // leader of a group to its tag
	orderly bool            // it was closed and did not die: no command was being started
}

// readRegistered reads what is registered when in ends.
func readRegistered(in io.Reader) (registered, error) {
	r := registered{groups: map[proc]string{}}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var p proc
		var tag string
		line := lines.Text()
		if n, _ := fmt.Sscanf(line, "add %d %d %s", &p.pid, &p.start, &tag); n == 3 && p.pid > 1 {
			r.groups[p] = tag
		}
		if n, _ := fmt.Sscanf(line, "drop %d", &p.pid); n == 1 {
			for q := range r.groups {
				if q.pid == p.pid {
					delete(r.groups, q)
				}
			}
		}
		if n, _ := fmt.Sscanf(line, "owner %s", &tag); n == 1 {
			r.owner = tag
		}
		r.orderly = line == closing
	}
	if err := lines.Err(); err != nil {
		return r, fmt.Errorf("read registrations: %w", err)
	}
	return r, nil
}
