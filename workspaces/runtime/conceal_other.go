//go:build !linux

package runtime

// Conceal does nothing here: macOS shows an environment only to the process's own user and root, and has
// no means to hide it from the former.
func Conceal() error { return nil }
