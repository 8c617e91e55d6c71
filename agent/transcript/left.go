package transcript

import (
	"errors"
	"fmt"
)

// ErrNotEdit is wrapped by Left when the record of that seq left none.
var ErrNotEdit = errors.New("no edit of that number")

// Left gives up to n of the records that an Edit, or a User record with From, left: those newer
// than after, oldest first, and whether there are more. They are as they were shown just before
// it; what an edit among them had left needs a call of its own. It reads the part of the log that
// was left, and nothing else.
func (l *Log) Left(edit, after uint64, n int) ([]Record, bool, error) {
	var out []Record
	more := false
	err := l.reading(func() error {
		out, more = nil, false
		gone, err := l.leftBy(edit)
		if err != nil {
			return err
		}
		lo, err := gone.search(after + 1)
		if err != nil {
			return err
		}
		for ; lo < gone.count() && len(out) < n; lo++ {
			r, err := l.record(gone.tail[lo])
			if err != nil {
				return err
			}
			out = append(out, r)
		}
		more = lo < gone.count()
		return nil
	})
	return out, more, err
}

// leftBy gives an index of what the record of that seq left.
func (l *Log) leftBy(edit uint64) (*index, error) {
	missing := fmt.Errorf("edit %d: %w", edit, ErrNotEdit)
	// The record lies between two that are not left, or is the second of them.
	i, err := l.idx.search(edit)
	if err != nil {
		return nil, err
	}
	if i == l.idx.count() {
		return nil, missing
	}
	around, err := l.idx.entries(max(i-1, 0), i+1)
	if err != nil {
		return nil, err
	}
	last := around[len(around)-1]
	from := int64(0)
	if len(around) == 2 {
		from = around[0].off + around[0].size
	}
	var was stretch
	found := false
	err = eachLine(l.f, from, last.off+last.size, func(off, _ int64, line []byte, _ bool) {
		recs, _ := decodeLine(line)
		for _, f := range recs {
			if found || f.rec.Seq <= was.last {
				continue
			}
			if f.rec.Seq == edit && leaves(&f.rec) {
				found = true
				was.idx.tail = was.idx.tail[was.place(f.rec.From):]
				continue
			}
			was.add(f.rec, off+int64(f.at), int64(f.size))
		}
	})
	if err == nil && !found {
		err = missing
	}
	return &was.idx, err
}

// stretch indexes a stretch of the log in memory as it was read at some time.
type stretch struct {
	idx     index
	partial *Record
	last    uint64
}

// place is the place of the first entry from seq on.
func (w *stretch) place(seq uint64) int {
	n, err := w.idx.search(seq)
	if err != nil {
		return 0 // it has no file
	}
	return n
}

func (w *stretch) add(r Record, off, size int64) {
	w.last = r.Seq
	c := classOf(&r)
	if c == classUnknown {
		return
	}
	before := w.partial
	if c == classPartial {
		whole, ok := growPartial(before, r)
		if !ok {
			return
		}
		w.partial = &whole
	} else if closes(&r) {
		w.partial = nil
	}
	if leaves(&r) {
		w.idx.cut(w.place(r.From))
		if w.partial != nil && w.partial.Seq >= r.From {
			w.partial = nil
		}
	}
	replaces := (c == classPartial || c == classAssistant) && before != nil && before.StepSeq == r.StepSeq
	w.idx.add(entry{off: off, size: size, seq: r.Seq, class: c}, replaces)
}
