//go:build !linux

package desktop

// hasGPU is only asked for Linux's web view; others decide for themselves.
func hasGPU() bool { return true }
