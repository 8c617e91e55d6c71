package attach

import (
	"fmt"
	"net"
	"os"
)

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
