//go:build desktop && !darwin

package desktop

import (
	"os/exec"
	"path/filepath"
)

// fileManager shows the folder of a file.
func fileManager(path string) *exec.Cmd { return exec.Command("xdg-open", filepath.Dir(path)) }

// viewer opens a file in the program that the person has for its kind.
func viewer(path string) *exec.Cmd { return exec.Command("xdg-open", path) }
