//go:build !linux

package runtime

// conceal does nothing: macOS shows an environment to the process's own user and root, and has no means to
// hide it from the former.
func conceal() error { return nil }
