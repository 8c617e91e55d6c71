//go:build !linux && !darwin

package runtime

import "syscall"

// Without a process table that tells environments, only a command's own process is known.

func findProc(int) (proc, bool)           { return proc{}, false }
func allProcs() []proc                    { return nil }
func environ(int) []byte                  { return nil }
func signalProc(p proc, _ syscall.Signal) {}
func dirOf(int) string                    { return "" }
