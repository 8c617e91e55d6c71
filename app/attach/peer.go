package attach

import (
	"fmt"
	"net"
	"os"

	"carrel/store"
	"carrel/workspaces/runtime"
)

// agentOf gives the workspace of this root for whose commands the process at the other end was started,
// "" when it is none. A command that drops its mark is not found; this keeps agents from driving the
// Carrel that they run in by the way, not by force. What is unknown counts as none.
func agentOf(conn *net.UnixConn, root *store.Root) string {
	raw, err := conn.SyscallConn()
	if err != nil {
		return ""
	}
	pid, failed := 0, error(nil)
	if err := raw.Control(func(fd uintptr) { pid, failed = peerPID(int(fd)) }); err != nil || failed != nil || pid <= 0 {
		return ""
	}
	return root.SessionOf(runtime.ProcessOf(pid))
}

// checkPeer refuses a socket whose other end belongs to another user.
func checkPeer(conn *net.UnixConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var uid int
	var failed error
	if err := raw.Control(func(fd uintptr) { uid, failed = peerUID(int(fd)) }); err != nil {
		return err
	}
	if failed != nil {
		return fmt.Errorf("ask for the peer's user: %w", failed)
	}
	if uid != os.Geteuid() {
		return fmt.Errorf("the peer is user %d, not %d", uid, os.Geteuid())
	}
	return nil
}
