//go:build !linux && !darwin

package scan

import "errors"

var errNoMove = errors.New("quarantine works on Linux and macOS only")

func moveAway(_, _, _, _ string) (string, error) { return "", errNoMove }

func putBack(_, _ string, _ *item) error { return errNoMove }

func moveBack(Kept, string) error { return errNoMove }
