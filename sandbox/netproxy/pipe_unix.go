//go:build unix && !linux

package netproxy

import "errors"

// pipes has none: this system can't splice between sockets.
type pipes struct{}

type pipe struct{}

func (*pipes) init()         {}
func (*pipes) drain()        {}
func (*pipes) get() *pipe    { return nil }
func (*pipes) put(*pipe)     {}
func (*pipes) discard(*pipe) {}

func (*pipe) fill(int) (int, error)      { return 0, errors.ErrUnsupported }
func (*pipe) pour(int, int) (int, error) { return 0, errors.ErrUnsupported }
