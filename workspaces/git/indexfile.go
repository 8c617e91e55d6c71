package git

import (
	"encoding/hex"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

// maxIndexFile bounds an index that is read here, in bytes: about a million files.
const maxIndexFile = 128 << 20

// Bits of an index entry's flags.
const (
	flagExtended = 1 << 14
	flagStage    = 3 << 12
)

// emptyBlob is the content of an empty file.
const emptyBlob = "\xe6\x9d\xe2\x9b\xb2\xd1\xd6\x43\x4b\x8b\x29\xae\x77\x5a\xd8\xc2\xe4\x8c\x53\x91"

// indexEntry is a file as the index remembers it.
type indexEntry struct {
	path                string
	ctime, mtime        [2]uint32 // seconds, nanoseconds
	ino, mode, uid, gid uint32
	size                uint32
}

// readIndex reads an index of the usual form: version 2, SHA-1, every entry an ordinary file whose times
// tell whether it changed. It also gives the tree that the index holds, in hex. It is false for any other.
func readIndex(path string) (list []indexEntry, tree string, ok bool) {
	f, err := openFile(path)
	if err != nil {
		return nil, "", false
	}
	defer func() { _ = f.Close() }() // only read
	info, err := f.Stat()
	if err != nil || info.Size() > maxIndexFile {
		return nil, "", false
	}
	var text strings.Builder
	text.Grow(int(info.Size()))
	if n, err := io.CopyN(&text, f, info.Size()); err != nil || n != info.Size() {
		return nil, "", false
	}
	if now, err := f.Stat(); err != nil || !sameTimes(info, now) {
		return nil, "", false
	}
	return parseIndex(text.String(), info.ModTime())
}

func sameTimes(a, b os.FileInfo) bool { return a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) }

const (
	indexHead  = 12
	entryHead  = 62 // up to the path
	hashLength = 20
)

// parseIndex takes the whole text, and shares it.
func parseIndex(text string, written time.Time) (list []indexEntry, tree string, ok bool) {
	if len(text) < indexHead+hashLength || text[:8] != "DIRC\x00\x00\x00\x02" {
		return nil, "", false
	}
	count := number(text[8:])
	rest := text[indexHead : len(text)-hashLength]
	if uint64(count)*entryHead > uint64(len(rest)) {
		return nil, "", false
	}
	list = make([]indexEntry, count)
	for i := range list {
		size := list[i].parse(rest, written)
		if size == 0 || i > 0 && list[i-1].path >= list[i].path {
			return nil, "", false
		}
		rest = rest[size:]
	}
	tree = treeOf(rest, int(count))
	return list, tree, tree != ""
}

// number reads four bytes.
func number(text string) uint32 {
	return uint32(text[0])<<24 | uint32(text[1])<<16 | uint32(text[2])<<8 | uint32(text[3])
}

// parse takes the first entry of text and gives its size, 0 when it is not an ordinary one.
func (e *indexEntry) parse(text string, written time.Time) (size int) {
	if len(text) < entryHead {
		return 0
	}
	*e = indexEntry{ctime: [2]uint32{number(text), number(text[4:])}, mtime: [2]uint32{number(text[8:]), number(text[12:])},
		ino: number(text[20:]), mode: number(text[24:]), uid: number(text[28:]), gid: number(text[32:]), size: number(text[36:])}
	name := strings.IndexByte(text[entryHead:], 0)
	flags := uint16(text[60])<<8 | uint16(text[61])
	size = (entryHead + name + 8) / 8 * 8
	switch {
	case name <= 0 || size > len(text) || flags&(flagExtended|flagStage) != 0,
		e.mode&^0o777 != 0o100000 && e.mode != 0o120000, // a submodule, or a folder of a sparse index
		int64(e.mtime[0]) >= written.Unix(),             // perhaps written again in the same moment
		e.size == 0 && text[40:60] != emptyBlob:         // git's mark of an entry not to trust
		return 0
	}
	e.path = text[entryHead : entryHead+name]
	return size
}

// treeOf finds the tree of a whole index among its extensions, "" when it is not known or an extension
// changes what the index means.
func treeOf(text string, entries int) string {
	for len(text) >= 8 {
		name, size := text[:4], uint64(number(text[4:]))
		if text = text[8:]; size > uint64(len(text)) || name[0] < 'A' || name[0] > 'Z' {
			return ""
		}
		body := text[:size]
		text = text[size:]
		if name != "TREE" {
			continue
		}
		// The root comes first: an empty path, "entries subtrees\n" and the tree.
		line, after, found := strings.Cut(body, "\n")
		files, _, _ := strings.Cut(strings.TrimPrefix(line, "\x00"), " ")
		n, err := strconv.Atoi(files)
		if !found || !strings.HasPrefix(line, "\x00") || err != nil || n != entries || len(after) < hashLength {
			return ""
		}
		return hex.EncodeToString([]byte(after[:hashLength]))
	}
	return ""
}
