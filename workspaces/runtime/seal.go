package runtime

import "errors"

// Seal keeps the commands that this process starts from what it holds itself. Descriptors above 2 that it
// inherited are not handed on. On Linux nobody but root can trace it or read its environment and memory,
// where the keys of providers are, and it leaves no core dump; /proc/PID/environ and the like then belong
// to root. What it starts is not concerned. Whoever started this process may hold the same environment
// and is not sealed either.
func Seal() error { return errors.Join(keepDescriptors(), conceal()) }
