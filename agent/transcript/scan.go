package transcript

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Place is where a record is in its log: the offset and length of its text, in bytes.
type Place struct{ Off, Size int64 }

// partialHead begins a Partial's line within its first bytes, after Seq and Time.
var partialHead = []byte(`"kind":"partial"`)

// headBytes is how far into a line its kind is looked for.
const headBytes = 128

// Scan reads the log in dir from the byte from on, which is 0 or what an earlier Scan gave, and calls
// f for each record as written: those that an edit left too, but no Partial. It needs no lock. It
// stops after the line at which f gives false, at the end, or once it has read max bytes, and gives
// the byte to go on from. A log that does not exist is empty; one that is shorter than from is read
// from its start, and reset says so before the first record.
func Scan(dir string, from, max int64, reset func(), f func(Place, *Record) bool) (next int64, err error) {
	file, err := os.Open(filepath.Join(dir, logName))
	if errors.Is(err, os.ErrNotExist) {
		if from > 0 {
			reset()
		}
		return 0, nil
	}
	if err != nil {
		return from, fmt.Errorf("scan log: %w", err)
	}
	defer func() { _ = file.Close() }() // it was only read
	info, err := file.Stat()
	if err != nil {
		return from, fmt.Errorf("scan log: %w", err)
	}
	if info.Size() < from {
		reset()
		from = 0
	}
	next = from
	end := info.Size()
	for next < end {
		to := min(end, next+max)
		step, more, err := scanLines(file, next, to, f)
		if err != nil {
			return next, fmt.Errorf("scan log in %q: %w", dir, err)
		}
		if step > next || to == end || !more {
			return step, nil
		}
		max *= 2 // one line is longer than what was asked for, or nothing there can be read
	}
	return next, nil
}

// scanLines calls f for the records of the whole lines between two offsets. It gives the end of the
// last line that held a record, since what follows may yet be cut off.
func scanLines(file *os.File, from, to int64, f func(Place, *Record) bool) (next int64, more bool, err error) {
	next, more = from, true
	err = eachLine(file, from, to, func(off, size int64, line []byte, terminated bool) {
		if !more || !terminated {
			return
		}
		if bytes.Contains(line[:min(len(line), headBytes)], partialHead) {
			next = off + size
			return
		}
		recs, _ := decodeLine(line)
		for i := range recs {
			next = off + size
			if recs[i].rec.Kind != Partial {
				more = f(Place{off + int64(recs[i].at), int64(recs[i].size)}, &recs[i].rec) && more
			}
		}
	})
	return next, more, err
}

// ErrMoved says that there is no record of that sequence at a Place (any more).
var ErrMoved = errors.New("the record is not there")

// ReadAt reads the record of sequence seq at a place that Scan gave.
func ReadAt(dir string, at Place, seq uint64) (Record, error) {
	if at.Size <= 0 || at.Size > maxLine || at.Off < 0 {
		return Record{}, ErrMoved
	}
	file, err := os.Open(filepath.Join(dir, logName))
	if errors.Is(err, os.ErrNotExist) {
		return Record{}, ErrMoved
	}
	if err != nil {
		return Record{}, fmt.Errorf("read record %d: %w", seq, err)
	}
	defer func() { _ = file.Close() }() // it was only read
	buf := make([]byte, at.Size)
	if _, err := file.ReadAt(buf, at.Off); err != nil {
		return Record{}, fmt.Errorf("read record %d: %w", seq, errors.Join(ErrMoved, err))
	}
	recs, whole := decodeLine(buf)
	if !whole || len(recs) != 1 || recs[0].rec.Seq != seq {
		return Record{}, fmt.Errorf("read record %d: %w", seq, ErrMoved)
	}
	return recs[0].rec, nil
}
