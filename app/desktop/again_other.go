//go:build !linux

package desktop

import "errors"

// startAgain is for the web view of Linux; others draw without being told how.
func startAgain() error { return errors.New("start the window by hand") }
