//go:build !linux && !darwin

package attach

import "errors"

func peerUID(int) (int, error) { return 0, errors.ErrUnsupported }

func peerPID(int) (int, error) { return 0, errors.ErrUnsupported }
