package runtime

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
)

// tagVar marks every command in its environment, and so all that it starts: WORKSPACE/OWNER/NUMBER.
// It finds processes that left their group and session.
const tagVar = "CARREL_TAG"

// proc is a process. Its id may be reused; its id together with its start time never is.
type proc struct {
	pid, group, session int
	start               uint64 // in the system's own unit; 0 when unknown
	dead                bool   // a zombie
}

// KillTagged ends every process of a workspace, also those that left their process group (on Linux
// and, for programs that show their environment, macOS): SIGTERM, then SIGKILL after two seconds.
// It returns when none is left, or with an error that names the ones that stayed.
func KillTagged(ctx context.Context, tag string) error {
	if tag == "" {
		return nil
	}
	mine := func(p proc) bool { return strings.HasPrefix(tagOf(p.pid), tag+"/") }
	if err := endAll(ctx, mine, graceTime); err != nil {
		return fmt.Errorf("end processes of %q: %w", tag, err)
	}
	return nil
}

// tagOf gives the tag of a process, or "".
func tagOf(pid int) string {
	for v := range bytes.SplitSeq(environ(pid), []byte{0}) {
		if tag, ok := bytes.CutPrefix(v, []byte(tagVar+"=")); ok {
			return string(tag)
		}
	}
	return ""
}

// ownerOf gives the owner's part of a tag.
func ownerOf(tag string) string {
	parts := strings.Split(tag, "/")
	if len(parts) != 3 {
		return ""
	}
	return parts[1]
}

// newOwner names the process that starts commands, apart from all others.
func newOwner() string { return strings.ToLower(rand.Text()) }

func anyProc(match func(proc) bool) bool { return len(matching(match)) > 0 }

// matching lists the living processes that match, never this one itself.
func matching(match func(proc) bool) []proc {
	var found []proc
	for _, p := range allProcs() {
		if p.pid != os.Getpid() && match(p) {
			found = append(found, p)
		}
	}
	return found
}

// endAll asks the matching processes to end, and kills what is left after grace. It looks again
// until none is left, since a process may start another while it is being ended. The system gives
// no event for the end of a process that is not a child, hence the polling.
func endAll(ctx context.Context, match func(proc) bool, grace time.Duration) error {
	asked := map[proc]bool{}
	kill := time.Now().Add(grace)
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		left := matching(match)
		if len(left) == 0 {
			return nil
		}
		for _, p := range left {
			switch {
			case !time.Now().Before(kill):
				signalProc(p, syscall.SIGKILL)
			case !asked[p]:
				signalProc(p, syscall.SIGTERM)
				asked[p] = true
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d still run, the first is process %d: %w", len(left), left[0].pid, ctx.Err())
		case <-time.After(pause):
		}
	}
}
