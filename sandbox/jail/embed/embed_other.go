//go:build !linux

package embed

// Program has nothing to give: only Linux needs the helper.
func Program() ([]byte, error) { return nil, ErrMissing }
