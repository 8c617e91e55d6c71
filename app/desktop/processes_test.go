package desktop

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"carrel/store"
)

// killAll ends every process that was started on the root.
func killAll(t *testing.T, root *store.Root) {
	t.Helper()
	eventually(t, "the end of what runs on the root", func() bool {
		pids := processes(t, root)
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		return len(pids) == 0
	})
}

// processes lists the processes that have the root in their environment, the test's own left out.
func processes(t *testing.T, root *store.Root) []int {
	t.Helper()
	var pids []int
	if environs, err := filepath.Glob("/proc/[0-9]*/environ"); err == nil && len(environs) > 0 {
		for _, name := range environs {
			text, _ := os.ReadFile(name) // another user's, or gone
			pid, _ := strconv.Atoi(strings.Split(name, "/")[2])
			if pid != os.Getpid() && strings.Contains(string(text), "CARREL_ROOT="+root.Dir()) {
				pids = append(pids, pid)
			}
		}
		return pids
	}
	out, _ := exec.Command("pgrep", "-f", root.Dir()).Output() // macOS
	for _, field := range strings.Fields(string(out)) {
		if pid, err := strconv.Atoi(field); err == nil && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids
}

func gone(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
