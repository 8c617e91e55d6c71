//go:build unix

package app

import "syscall"

// apart starts a program in a session of its own, so that it outlives the core.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
