//go:build !unix

package workspaces

import (
	"errors"
	"fmt"
)

// tryLock is not there on this system, and says so rather than pretend.
func tryLock(path string) (unlock func(), err error) {
	return nil, fmt.Errorf("lock %q: %w", path, errors.ErrUnsupported)
}
