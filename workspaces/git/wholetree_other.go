//go:build !linux

package git

import "sync/atomic"

// wholeTree knows nothing here; git is asked.
func wholeTree(string, string, *atomic.Bool) string { return "" }
