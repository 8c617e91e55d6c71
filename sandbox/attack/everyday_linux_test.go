package attack

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// The tasks that a sandbox must not be in the way of, as the same user on the same machines.
func TestEverydayWorkGoesOn(t *testing.T) {
	needRoot(t)
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	list := entries(t, "testdata/everyday.md")
	for _, v := range runAll(t, list, []string{"A"}, "RIG_GOCACHE="+strings.TrimSpace(string(cache))) {
		t.Run(v.entry.ID+"-"+v.entry.Name, func(t *testing.T) {
			v.checkControl(t)
			v.checkTier(t, "A", v.tiers["A"], false)
		})
	}
}

// lend shows a folder of root's at another place as the user's own, so that the standard library is
// not compiled once more: the user writes into it, too.
func lend(from, to string) error {
	if err := errors.Join(os.Mkdir(to, 0o755), os.Chown(to, uid, uid)); err != nil {
		return err
	}
	users, err := mapped()
	if err != nil {
		return err
	}
	defer func() { _ = users.Close() }()
	tree, err := unix.OpenTree(unix.AT_FDCWD, from, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	if err != nil {
		return fmt.Errorf("open %s: %w", from, err)
	}
	defer func() { _ = unix.Close(tree) }()
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_IDMAP, Userns_fd: uint64(users.Fd())}
	if err := unix.MountSetattr(tree, "", unix.AT_EMPTY_PATH, &attr); err != nil {
		return fmt.Errorf("map the owners of %s: %w", from, err)
	}
	return unix.MoveMount(tree, "", unix.AT_FDCWD, to, unix.MOVE_MOUNT_F_EMPTY_PATH)
}

// mapped is a user namespace in which root on disk is the user.
func mapped() (*os.File, error) {
	cmd := exec.Command("sleep", "60")
	one := []syscall.SysProcIDMap{{ContainerID: 0, HostID: uid, Size: 1}}
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER, UidMappings: one, GidMappings: one}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	f, err := os.Open(fmt.Sprintf("/proc/%d/ns/user", cmd.Process.Pid))
	killed := cmd.Process.Kill()
	_ = cmd.Wait()
	return f, errors.Join(err, killed)
}
