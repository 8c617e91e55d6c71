package transcript

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"sort"
)

// errStale says that the index does not fit the log; the log is read again then.
var errStale = errors.New("index does not fit the log")

// entrySize is the size of an entry in the index file, in bytes.
const entrySize = 32

// entry says where a record is in the log. A superseded Partial has none; that of the newest
// Partial of a step spans the step's checkpoints from the first to the last.
type entry struct {
	off, size int64
	seq       uint64
	partial   bool
}

func (e entry) encode(b []byte) {
	binary.LittleEndian.PutUint64(b, uint64(e.off))
	binary.LittleEndian.PutUint64(b[8:], e.seq)
	binary.LittleEndian.PutUint64(b[16:], uint64(e.size))
	binary.LittleEndian.PutUint32(b[24:], 0)
	if e.partial {
		b[24] = 1
	}
	binary.LittleEndian.PutUint32(b[28:], crc32.ChecksumIEEE(b[:28]))
}

func decodeEntry(b []byte) (entry, error) {
	if crc32.ChecksumIEEE(b[:28]) != binary.LittleEndian.Uint32(b[28:]) {
		return entry{}, errStale
	}
	return entry{
		off:     int64(binary.LittleEndian.Uint64(b)),
		seq:     binary.LittleEndian.Uint64(b[8:]),
		size:    int64(binary.LittleEndian.Uint64(b[16:])),
		partial: b[24] == 1,
	}, nil
}

// index is the list of entries: the first base ones in the file, the rest in memory until the turn
// ends. Entries ascend by seq.
type index struct {
	f    *os.File // nil while nothing was saved
	base int
	tail []entry
}

func (x *index) count() int { return x.base + len(x.tail) }

// entries gives the entries from lo up to, not including, hi.
func (x *index) entries(lo, hi int) ([]entry, error) {
	out := make([]entry, 0, hi-lo)
	if n := min(hi, x.base) - lo; n > 0 {
		buf := make([]byte, n*entrySize)
		if _, err := x.f.ReadAt(buf, int64(lo)*entrySize); err != nil {
			return nil, fmt.Errorf("read index: %w", errors.Join(errStale, err))
		}
		for i := range n {
			e, err := decodeEntry(buf[i*entrySize:])
			if err != nil {
				return nil, err
			}
			out = append(out, e)
		}
	}
	return append(out, x.tail[max(lo, x.base)-x.base:max(hi, x.base)-x.base]...), nil
}

// search gives the number of entries whose seq is less than seq.
func (x *index) search(seq uint64) (int, error) {
	var failed error
	n := sort.Search(x.count(), func(i int) bool {
		e, err := x.entries(i, i+1)
		if err != nil {
			failed = err
			return true
		}
		return e[0].seq >= seq
	})
	return n, failed
}

// add enters a record, superseding the step's Partial before it.
func (x *index) add(e entry, supersedes bool) {
	if supersedes {
		for i := len(x.tail) - 1; i >= 0; i-- {
			if !x.tail[i].partial {
				continue
			}
			if old := x.tail[i]; e.partial {
				e.size = e.off + e.size - old.off
				e.off = old.off
			}
			x.tail = append(x.tail[:i], x.tail[i+1:]...)
			break
		}
	}
	x.tail = append(x.tail, e)
}

// save writes the entries that are only in memory.
func (x *index) save() error {
	buf := make([]byte, len(x.tail)*entrySize)
	for i, e := range x.tail {
		e.encode(buf[i*entrySize:])
	}
	if _, err := x.f.WriteAt(buf, int64(x.base)*entrySize); err != nil {
		return fmt.Errorf("write index: %w", err)
	}
	x.base, x.tail = x.count(), nil
	return nil
}

// sum is a checksum over the last saved entries.
func (x *index) sum() (uint32, error) {
	return sumRange(x.f, max(0, x.base-sumBytes/entrySize)*entrySize, x.base*entrySize)
}

func (x *index) close() {
	if x.f != nil {
		_ = x.f.Close()
	}
	*x = index{}
}
