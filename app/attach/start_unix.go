//go:build unix

package attach

import "syscall"

// ownSession keeps the core clear of the terminal's and the desktop session's signals.
func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
