//go:build !linux

package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"carrel/sandbox/plan"
)

// prepare makes what a plan needs on disk.
func prepare(steps []plan.Prepare) error {
	for _, s := range steps {
		err := os.Mkdir(s.Path, fs.FileMode(s.Mode))
		if !s.Dir {
			err = os.WriteFile(s.Path, []byte(s.Text), fs.FileMode(s.Mode))
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("prepare %q: %w", s.Path, err)
		}
	}
	return nil
}
