package embed

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
)

//go:embed all:files
var files embed.FS

// Program gives the helper's bytes.
func Program() ([]byte, error) {
	b, err := files.ReadFile("files/carrel-sandbox")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrMissing
	} else if err != nil {
		return nil, fmt.Errorf("read embedded helper: %w", err)
	}
	return b, nil
}
