//go:build !linux

package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"carrel/sandbox/plan"
)

// stands hold nothing here: no plan makes folders that stand in for guards.
type stands struct{}

func (*stands) release() {}

func (*stands) forget() {}

// prepare makes what a plan needs on disk.
func (*stands) prepare(p plan.Plan, _ *ground) (made bool, err error) {
	for _, s := range p.Prepare {
		err := os.Mkdir(s.Path, fs.FileMode(s.Mode))
		if !s.Dir {
			err = os.WriteFile(s.Path, []byte(s.Text), fs.FileMode(s.Mode))
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return false, fmt.Errorf("prepare %q: %w", s.Path, err)
		}
	}
	return false, nil
}
