package transcript

import (
	"errors"
	"fmt"
	"io"
	"math"

	"carrel/agent/model"
)

// Before gives up to n records older than seq, oldest first, and whether older ones exist; seq 0
// asks for the newest. Superseded Partial records, records that an Edit left, those before a Clear
// and kinds of a newer version are left out. It reads only these records.
func (l *Log) Before(seq uint64, n int) ([]Record, bool, error) {
	var out []Record
	more := false
	err := l.reading(func() error {
		floor, hi := 0, l.idx.count()
		var err error
		if floor, err = l.floor(); err != nil {
			return err
		}
		if seq > 0 {
			if hi, err = l.idx.search(seq); err != nil {
				return err
			}
		}
		hi = max(hi, floor)
		lo := max(floor, hi-n)
		more = lo > floor
		out, err = l.records(lo, hi)
		return err
	})
	return out, more, err
}

// floor gives the place of the first entry that pages show: that of the newest Clear.
func (l *Log) floor() (int, error) {
	if l.st.Cleared == 0 {
		return 0, nil
	}
	return l.idx.search(l.st.Cleared)
}

// Since gives the records newer than seq, oldest first, with the same left out as in Before. Who
// has read up to seq learns from an Edit, or a User record with From, what to take away.
func (l *Log) Since(seq uint64) ([]Record, error) {
	out, _, err := l.After(seq, math.MaxInt)
	return out, err
}

// After gives up to n records newer than seq, oldest first, and whether newer ones exist. It reads
// only these records, with the same left out as in Before.
func (l *Log) After(seq uint64, n int) ([]Record, bool, error) {
	var out []Record
	more := false
	err := l.reading(func() error {
		lo, err := l.idx.search(max(seq+1, l.st.Cleared))
		if err != nil {
			return err
		}
		hi := lo + min(n, l.idx.count()-lo)
		more = hi < l.idx.count()
		out, err = l.records(lo, hi)
		return err
	})
	return out, more, err
}

// History gives the conversation as messages for a model, from the last Clear, Reset or Compaction
// on and without what an Edit left. It is a function of the log alone. The first call reads the
// log; from then on it is kept up to date with each record (see Forget), and a call costs a copy of
// the list. Every
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

// Forget drops the history that is kept in memory. The next History reads it from the log again.
func (l *Log) Forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hist = nil
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
			*b = historyBuild{h: &history{}, gen: l.gen, last: max(l.st.Start, 1) - 1}
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
	if e.partial() {
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
