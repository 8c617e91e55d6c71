package runtime

import "golang.org/x/sys/unix"

func conceal() error { return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }
