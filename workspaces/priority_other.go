//go:build !linux

package workspaces

// lowerPriority does nothing here: only Linux has priorities for single threads.
func lowerPriority() {}
