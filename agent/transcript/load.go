package transcript

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// load reads the state: what was saved beside the log where it fits, and the log from there on.
func (l *Log) load() error {
	l.idx.close()
	l.st, l.hist, l.pending = State{Torn: l.st.Torn}, nil, 0
	l.gen++
	size, err := l.loadSaved()
	if err != nil { // missing, old or damaged: the log itself tells
		l.st, size = State{Torn: l.st.Torn}, 0
	}
	l.size = size
	if err = l.scan(); errors.Is(err, errStale) {
		return l.rebuild()
	}
	return err
}

// rebuild reads the whole log again, after the index turned out wrong.
func (l *Log) rebuild() error {
	l.idx.close()
	l.st, l.hist, l.pending, l.size = State{Torn: l.st.Torn}, nil, 0, 0
	l.gen++
	if err := l.scan(); err != nil {
		return err
	}
	if l.writes {
		_ = l.save() // disposable
	}
	return nil
}

// scan folds in the lines after size. Afterwards size is the end of the last line that held a
// record.
func (l *Log) scan() error {
	info, err := l.f.Stat()
	if err != nil {
		return err
	}
	end := l.size
	l.pending = 0
	var failed error
	err = eachLine(l.f, l.size, info.Size(), func(off, size int64, line []byte, terminated bool) {
		if !terminated && !l.writes {
			return // still being written
		}
		recs, whole := decodeLine(line)
		if line == nil {
			whole = false
		}
		if !terminated && !whole {
			return // torn
		}
		good := false
		for _, f := range recs {
			if last := l.st.LastSeq; f.rec.Seq <= last || last > 0 && f.rec.Seq-last > maxSeqGap {
				whole = false
				continue
			}
			good = true
			if _, err := l.add(f.rec, off+int64(f.at), int64(f.size)); err != nil && failed == nil {
				failed = err
			}
		}
		if !whole {
			l.pending++
		}
		if good {
			l.st.Damaged += l.pending
			l.pending = 0
			end = off + size
			l.bare = !terminated
		}
	})
	l.size = end
	return errors.Join(err, failed)
}

// refresh brings a reader up to date.
func (l *Log) refresh() error {
	if l.f == nil {
		if errors.Is(l.failed, os.ErrClosed) {
			return l.failed
		}
		f, err := os.Open(filepath.Join(l.dir, logName))
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		l.f = f
		return l.load()
	}
	info, err := l.f.Stat()
	if err != nil {
		return err
	}
	if info.Size() < l.size {
		return l.load()
	}
	if err = l.scan(); errors.Is(err, errStale) {
		return l.rebuild()
	}
	return err
}

// cutTorn moves what follows the last record into a file of its own, so that the next record
// starts on a fresh line. Empty lines stay.
func (l *Log) cutTorn() error {
	info, err := l.f.Stat()
	if err != nil {
		return err
	}
	rest := io.NewSectionReader(l.f, l.size, info.Size()-l.size)
	l.pending = 0
	if rest.Size() == 0 {
		return nil
	}
	if rest.Size() <= maxLine {
		b, err := io.ReadAll(rest)
		if err != nil {
			return err
		}
		if len(bytes.Trim(b, "\n")) == 0 {
			l.size = info.Size()
			return nil
		}
		rest = io.NewSectionReader(l.f, l.size, info.Size()-l.size)
	}
	aside := filepath.Join(l.dir, "transcript.torn-"+time.Now().UTC().Format("20060102T150405.000000000"))
	if err := writeNew(aside, rest); err != nil {
		return fmt.Errorf("keep torn tail: %w", err)
	}
	if err := l.f.Truncate(l.size); err != nil {
		return fmt.Errorf("cut torn tail: %w", err)
	}
	l.st.Torn = aside
	return nil
}

// writeNew writes a new file and syncs it and its folder.
func writeNew(path string, from io.Reader) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return syncDir(filepath.Dir(path))
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
