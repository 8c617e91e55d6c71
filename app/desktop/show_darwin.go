//go:build desktop

package desktop

import "os/exec"

// fileManager shows a file in its folder.
func fileManager(path string) *exec.Cmd { return exec.Command("open", "-R", path) }

// viewer opens a file in the program that the person has for its kind.
func viewer(path string) *exec.Cmd { return exec.Command("open", path) }
