package transcript

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
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
	class     class
}

func (e entry) partial() bool { return e.class == classPartial }

// class says in a byte of an entry what its record is, so that a search needs only the index. The
// numbers are in files: they never change their meaning without a new savedVersion.
type class byte

const (
	classUnknown class = iota // of a newer version; such a record has no entry
	classUser
	classTurnStart
	classTurnEnd
	classStepStart
	classPartial
	classAssistant
	classToolStart
	classToolEnd
	classNote
	classTodos
	classSetup
	classEdit
	classMark  // a Boundary that hides nothing
	classStart // a Boundary after which a model's history starts
	classClear // one that hides what is before it from pages as well
	classRetry
	classQuestion
	classAnswer
)

// classOf gives a record's class.
func classOf(r *Record) class {
	switch r.Kind {
	case User:
		return classUser
	case TurnStart:
		return classTurnStart
	case TurnEnd:
		return classTurnEnd
	case StepStart:
		return classStepStart
	case Partial:
		return classPartial
	case Assistant:
		return classAssistant
	case ToolStart:
		return classToolStart
	case ToolEnd:
		return classToolEnd
	case Note:
		return classNote
	case Todos:
		return classTodos
	case Setup:
		return classSetup
	case Edit:
		return classEdit
	case Retry:
		return classRetry
	case Question:
		return classQuestion
	case Answer:
		return classAnswer
	case Boundary:
		switch {
		case r.Border == Clear:
			return classClear
		case r.Border.starts():
			return classStart
		}
		return classMark
	}
	return classUnknown
}

func (e entry) encode(b []byte) {
	binary.LittleEndian.PutUint64(b, uint64(e.off))
	binary.LittleEndian.PutUint64(b[8:], e.seq)
	binary.LittleEndian.PutUint64(b[16:], uint64(e.size))
	binary.LittleEndian.PutUint32(b[24:], uint32(e.class))
	binary.LittleEndian.PutUint32(b[28:], crc32.ChecksumIEEE(b[:28]))
}

func decodeEntry(b []byte) (entry, error) {
	if crc32.ChecksumIEEE(b[:28]) != binary.LittleEndian.Uint32(b[28:]) {
		return entry{}, errStale
	}
	return entry{
		off:   int64(binary.LittleEndian.Uint64(b)),
		seq:   binary.LittleEndian.Uint64(b[8:]),
		size:  int64(binary.LittleEndian.Uint64(b[16:])),
		class: class(b[24]),
	}, nil
}

// index is the list of entries: the first base ones in the file, the rest in memory until the turn
// ends. Entries ascend by seq. Records that an Edit left have none, so that they cost nothing.
type index struct {
	f    *os.File // nil while nothing was saved
	base int
	tail []entry
	// cutBack says that the file holds entries from base on that no longer count. A file that was
	// saved is never changed before its end (the fold beside it, and readers, trust it): save
	// writes a new one then.
	cutBack bool
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
			if !x.tail[i].partial() {
				continue
			}
			if old := x.tail[i]; e.partial() {
				e.size = e.off + e.size - old.off
				e.off = old.off
			}
			x.tail = append(x.tail[:i], x.tail[i+1:]...)
			break
		}
	}
	x.tail = append(x.tail, e)
}

// cut forgets the entries from n on.
func (x *index) cut(n int) {
	if n >= x.base {
		x.tail = x.tail[:min(n-x.base, len(x.tail))]
		return
	}
	x.base, x.tail, x.cutBack = n, nil, true
}

// last gives, for each class, the place of its last entry before hi, or -1.
func (x *index) last(hi int, classes ...class) ([]int, error) {
	out := make([]int, len(classes))
	for i := range out {
		out[i] = -1
	}
	const batch = 4096
	for missing := len(classes); missing > 0 && hi > 0; {
		lo := max(0, hi-batch)
		es, err := x.entries(lo, hi)
		if err != nil {
			return nil, err
		}
		for i := len(es) - 1; i >= 0; i-- {
			for k, c := range classes {
				if out[k] < 0 && es[i].class == c {
					out[k] = lo + i
					missing--
				}
			}
		}
		hi = lo
	}
	return out, nil
}

// save writes the entries that are only in memory into the file at path.
func (x *index) save(path string) error {
	if x.cutBack || x.f == nil {
		if err := x.renew(path); err != nil {
			return fmt.Errorf("write index: %w", err)
		}
	}
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

// renew puts a new file with the first base entries in the place of the old one.
func (x *index) renew(path string) error {
	temp := path + ".new"
	f, err := os.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if x.base > 0 {
		_, err = io.Copy(f, io.NewSectionReader(x.f, 0, int64(x.base)*entrySize))
	}
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	if x.f != nil {
		_ = x.f.Close()
	}
	x.f, x.cutBack = f, false
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
