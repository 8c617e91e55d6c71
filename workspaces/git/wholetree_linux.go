package git

import (
	"encoding/binary"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// walkers is how many folders are looked at at once: enough for a slow disk.
const walkers = 8

// indexFolder is a folder of the checkout, and what the index has directly in it.
type indexFolder struct {
	path  string // "." for the top
	files []*indexEntry
	subs  int // folders; each of them is one of the list too
}

// wholeTree gives the tree that the index at path holds when dir holds exactly that, file by file, and
// nothing else; "" otherwise, also when stop is set meanwhile.
func wholeTree(dir, index string, stop *atomic.Bool) string {
	list, tree, ok := readIndex(index)
	if !ok {
		return ""
	}
	folders, ok := foldersOf(list)
	if !ok {
		return ""
	}
	top, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return ""
	}
	defer func() { _ = unix.Close(top) }()
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(walkers, len(folders)) {
		all.Go(func() {
			buf := make([]byte, 32<<10)
			for !stop.Load() {
				i := int(next.Add(1)) - 1
				if i >= len(folders) {
					return
				}
				if !folders[i].holdsExactly(top, buf) {
					stop.Store(true)
				}
			}
		})
	}
	all.Wait()
	if stop.Load() {
		return ""
	}
	return tree
}

// foldersOf groups the entries of an index, which are in the order of their paths. It is false for a path
// that leads elsewhere.
func foldersOf(list []indexEntry) ([]*indexFolder, bool) {
	top := &indexFolder{path: "."}
	all := []*indexFolder{top}
	byPath := map[string]*indexFolder{"": top}
	sound := true
	var open func(path string) *indexFolder
	open = func(path string) *indexFolder {
		if f := byPath[path]; f != nil {
			return f
		}
		parent, name := cutLast(path)
		f := &indexFolder{path: path}
		byPath[path] = f
		all = append(all, f)
		open(parent).subs++
		sound = sound && plainName(name)
		return f
	}
	last, in := "", top
	for i := range list {
		parent, name := cutLast(list[i].path)
		if parent != last {
			last, in = parent, open(parent)
		}
		in.files = append(in.files, &list[i])
		sound = sound && plainName(name)
	}
	return all, sound
}

func plainName(name string) bool { return name != "" && name != "." && name != ".." && name != ".git" }

func cutLast(path string) (parent, name string) {
	i := strings.LastIndexByte(path, '/')
	return path[:max(i, 0)], path[i+1:]
}

// holdsExactly looks at one folder below top.
func (f *indexFolder) holdsExactly(top int, buf []byte) bool {
	// It opens as a folder, and its parents are none but folders.
	fd, err := unix.Openat2(top, f.path, &unix.OpenHow{Flags: unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS})
	if err != nil {
		return false // also where the system is too old for that
	}
	defer func() { _ = unix.Close(fd) }()
	want := len(f.files) + f.subs
	if f.path == "." {
		want++ // .git
	}
	if n, ok := countNames(fd, buf); !ok || n != want {
		return false
	}
	var st unix.Stat_t
	for _, e := range f.files {
		_, name := cutLast(e.path)
		if unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil || !e.is(&st) {
			return false
		}
	}
	return f.path != "." || unix.Fstatat(fd, ".git", &st, unix.AT_SYMLINK_NOFOLLOW) == nil
}

// is reports whether a file is as the index remembers it.
func (e *indexEntry) is(st *unix.Stat_t) bool {
	mode := uint32(0o120000)
	if st.Mode&unix.S_IFMT == unix.S_IFREG {
		mode = 0o100644
		if st.Mode&0o100 != 0 {
			mode = 0o100755
		}
	} else if st.Mode&unix.S_IFMT != unix.S_IFLNK {
		return false
	}
	return e.mode == mode && e.size == uint32(st.Size) && e.ino == uint32(st.Ino) && e.uid == st.Uid && e.gid == st.Gid &&
		e.mtime == [2]uint32{uint32(st.Mtim.Sec), uint32(st.Mtim.Nsec)} &&
		e.ctime == [2]uint32{uint32(st.Ctim.Sec), uint32(st.Ctim.Nsec)}
}

// countNames counts what is in a folder.
func countNames(fd int, buf []byte) (n int, ok bool) {
	// A record is an inode, an offset, its length in two bytes, a type, and the name up to a zero.
	const lengthAt, nameAt = 16, 19
	for {
		size, err := unix.ReadDirent(fd, buf)
		if err != nil {
			return 0, false
		}
		if size <= 0 {
			return n, true
		}
		for rest := buf[:size]; len(rest) > 0; {
			if len(rest) < nameAt+1 {
				return 0, false
			}
			length := int(binary.NativeEndian.Uint16(rest[lengthAt:]))
			if length <= nameAt || length > len(rest) {
				return 0, false
			}
			name, _, _ := strings.Cut(string(rest[nameAt:min(length, nameAt+3)]), "\x00")
			if name != "." && name != ".." {
				n++
			}
			rest = rest[length:]
		}
	}
}
