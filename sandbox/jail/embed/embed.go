// Package embed holds the built helper program, so that carrel is one file. The program is not in
// the repository: make helper builds it. Without it everything compiles, and Program says what to
// do.
package embed

import "errors"

// ErrMissing says that carrel was built without its helper.
var ErrMissing = errors.New("carrel was built without its sandbox helper: run make helper, then build again")
