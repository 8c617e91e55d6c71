package sandbox

import (
	"sync"

	"golang.org/x/sys/unix"

	"carrel/sandbox/jail"
)

// concealed counts what wants this process hidden. It is one bit of the whole process, so it is kept
// for the whole process.
var concealed struct {
	sync.Mutex
	by  int
	was int // the bit before
}

// conceal hides this process from others of the same user. Tier C needs it: the thread that starts
// its commands has their rules, so Landlock would let them look at it, and so at all memory of the
// process. Meanwhile only root's processes can make tier A's namespaces.
func conceal() error {
	concealed.Lock()
	defer concealed.Unlock()
	if concealed.by == 0 {
		was, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
		if err != nil {
			return err
		}
		if err := jail.Hide(); err != nil {
			return err
		}
		concealed.was = was
	}
	concealed.by++
	return nil
}

// reveal takes one conceal back.
func reveal() {
	concealed.Lock()
	defer concealed.Unlock()
	if concealed.by--; concealed.by == 0 && concealed.was == 1 {
		_ = unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0) // else it stays hidden
	}
}
