package scan

import (
	"io/fs"
	"syscall"
)

const openFlags = syscall.O_NONBLOCK | syscall.O_NOFOLLOW

func identOf(info fs.FileInfo) ident {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ident{}
	}
	return ident{dev: uint64(st.Dev), ino: st.Ino, changed: st.Ctim.Nano()}
}
