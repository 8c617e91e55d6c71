package transcript

import (
	"errors"
	"fmt"
	"io"

	"carrel/agent/model"
)

// Before gives up to n records older than seq, oldest first, and whether older ones exist; seq 0
// asks for the newest. Superseded Partial records and kinds of a newer version are left out. It
// reads only these records.
func (l *Log) Before(seq uint64, n int) ([]Record, bool, error) {
	var out []Record
	more := false
	err := l.reading(func() error {
		hi, err := l.idx.count(), error(nil)
		if seq > 0 {
			if hi, err = l.idx.search(seq); err != nil {
				return err
			}
		}
		lo := max(0, hi-n)
		more = lo > 0
		out, err = l.records(lo, hi)
		return err
	})
	return out, more, err
}

// Since gives the records newer than seq, oldest first, with the same left out as in Before.
func (l *Log) Since(seq uint64) ([]Record, error) {
	var out []Record
	err := l.reading(func() error {
		lo, err := l.idx.search(seq + 1)
		if err != nil {
			return err
		}
		out, err = l.records(lo, l.idx.count())
		return err
	})
	return out, err
}

// After gives up to n records newer than seq, oldest first, and whether newer ones exist. It reads
// only these records, with the same left out as in Before.
func (l *Log) After(seq uint64, n int) ([]Record, bool, error) {
	var out []Record
	more := false
	err := l.reading(func() error {
		lo, err := l.idx.search(seq + 1)
		if err != nil {
			return err
		}
		hi := min(lo+n, l.idx.count())
		more = hi < l.idx.count()
		out, err = l.records(lo, hi)
		return err
	})
	return out, more, err
}

// History gives the conversation as messages for a model. It is a function of the log alone. Every
// call that is not open has exactly one result, in the message after it; a response cut off by a
// crash is there as far as it had arrived, with StopError. The parts are shared: copy before
// changing one.
func (l *Log) History() ([]model.Message, error) {
	var b historyBuild
	for {
		out, done, err := b.next(l)
		if done || err != nil {
			return out, err
		}
	}
}

// historyBatch is how many records are read before others get their turn at the log, so that an
// interrupt never waits for a long history.
const historyBatch = 256

// historyBuild folds the history for the first time, a batch at a time.
type historyBuild struct {
	h    *history
	last uint64 // seq of the last record that is in h
	gen  int    // of the log when h was begun
}

// next folds the next batch in. It gives the messages when that was the last.
func (b *historyBuild) next(l *Log) (out []model.Message, done bool, err error) {
	err = l.reading(func() error {
		if l.hist != nil {
			out, done = l.hist.messages(), true
			return nil
		}
		if b.h == nil || b.gen != l.gen {
			*b = historyBuild{h: &history{}, gen: l.gen}
		}
		lo, err := l.idx.search(b.last + 1)
		if err != nil {
			return err
		}
		hi := min(lo+historyBatch, l.idx.count())
		recs, err := l.records(lo, hi)
		if err != nil {
			return err
		}
		for i := range recs {
			b.h.apply(&recs[i])
			b.last = recs[i].Seq
		}
		if hi == l.idx.count() {
			l.hist = b.h
			out, done = l.hist.messages(), true
		}
		return nil
	})
	return out, done, err
}

// reading runs f under the lock, once more on a rebuilt index when the index was wrong.
func (l *Log) reading(f func() error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.writes {
		if err := l.refresh(); err != nil {
			return fmt.Errorf("read log: %w", err)
		}
	}
	if l.f == nil && l.failed != nil {
		return fmt.Errorf("read log: %w", l.failed)
	}
	err := f()
	if errors.Is(err, errStale) {
		if err = l.rebuild(); err == nil {
			err = f()
		}
	}
	if err != nil {
		return fmt.Errorf("read log: %w", err)
	}
	return nil
}

// records reads the records of the entries from lo up to hi.
func (l *Log) records(lo, hi int) ([]Record, error) {
	es, err := l.idx.entries(lo, hi)
	if err != nil {
		return nil, err
	}
	out := make([]Record, 0, len(es))
	for _, e := range es {
		r, err := l.record(e)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

func (l *Log) record(e entry) (Record, error) {
	if e.partial {
		return l.partial(e)
	}
	if e.size <= 0 || e.size > maxLine {
		return Record{}, errStale
	}
	buf := make([]byte, e.size)
	if _, err := l.f.ReadAt(buf, e.off); err != nil {
		if errors.Is(err, io.EOF) {
			return Record{}, errStale
		}
		return Record{}, err
	}
	recs, whole := decodeLine(buf)
	if !whole || len(recs) != 1 || recs[0].rec.Seq != e.seq {
		return Record{}, errStale
	}
	return recs[0].rec, nil
}

// partial puts a checkpoint together from the lines that its entry spans.
func (l *Log) partial(e entry) (Record, error) {
	var got *Record
	err := eachLine(l.f, e.off, e.off+e.size, func(_, _ int64, line []byte, _ bool) {
		recs, _ := decodeLine(line)
		for _, f := range recs {
			if f.rec.Kind != Partial || got != nil && f.rec.StepSeq != got.StepSeq {
				continue
			}
			if r, ok := growPartial(got, f.rec); ok {
				got = &r
			}
		}
	})
	if err != nil {
		return Record{}, err
	}
	if got == nil || got.Seq != e.seq {
		return Record{}, errStale
	}
	return *got, nil
}
