//go:build !unix

package runtime

import (
	"context"
	"errors"
)

// StartTerminal implements Terminals.
func (l *local) StartTerminal(context.Context, TerminalCommand) (Terminal, error) {
	return nil, errors.New("start a terminal: this system has none")
}
