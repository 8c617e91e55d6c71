package plan

import (
	"os"
	"syscall"
)

func lstat(name string) (Entry, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return Entry{}, err
	}
	e := Entry{Name: info.Name(), Type: info.Mode().Type(), ModTime: info.ModTime()}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		e.Inode = st.Ino
	}
	return e, nil
}
