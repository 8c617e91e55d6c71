//go:build !desktop

package desktop

import (
	"context"
	"errors"
)

// noScreen stands for the window in builds without one, which exist for the tests.
type noScreen struct{}

func newScreen() screen { return noScreen{} }

func (noScreen) pickFolder(context.Context) (string, error) { return "", errors.ErrUnsupported }
func (noScreen) raise()                                     {}
func (noScreen) openURL(string)                             {}
func (noScreen) showFile(string) error                      { return errors.ErrUnsupported }
func (noScreen) openFile(string) error                      { return errors.ErrUnsupported }
func (noScreen) home()                                      {}
func (noScreen) quit()                                      {}

func (w *window) show(context.Context) error {
	return errors.New("this build has no window: build it with the tag desktop")
}
