//go:build !linux

package search

// lowerPriority does nothing here: only Linux has priorities for single threads.
func lowerPriority() {}
