package transcript

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// ErrReadOnly is returned by Append on a Log from OpenReader.
var ErrReadOnly = errors.New("log was opened for reading")

// ErrUnsynced is wrapped by Append and Sync after a failed Sync: what is on disk is unknown until
// the log is opened again.
var ErrUnsynced = errors.New("log must be opened again after a failed sync")

// maxSeqGap is how many records a damaged stretch can have held; a greater jump is damage itself.
const maxSeqGap = 1 << 20

// Log is the log of one conversation. Its methods may be called from any goroutine.
type Log struct {
	dir    string
	writes bool

	mu   sync.Mutex
	f    *os.File // nil in a reader while there is no log yet
	size int64    // end of the last line that holds a record; the next goes here
	// torn says that bytes of a failed write may follow size.
	torn bool
	// bare says that the last line lacks its newline.
	bare    bool
	failed  error
	st      State
	pending int // damaged lines after size, seen by a reader
	idx     index
	hist    *history // nil until asked for
	gen     int      // counts how often the state was read anew
	framed  *lastFrame
}

// Open opens the log in dir, making both where missing, for the one process that holds the
// session's lock. A torn tail is moved into a file beside it (State.Torn), and the index is rebuilt
// when it does not fit.
func Open(dir string) (*Log, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	path := filepath.Join(dir, logName)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	l := &Log{dir: dir, writes: true, f: f}
	if err := l.open(); err != nil {
		_ = l.Close()
		return nil, fmt.Errorf("open log %q: %w", path, err)
	}
	return l, nil
}

func (l *Log) open() error {
	if err := l.load(); err != nil {
		return err
	}
	if err := l.cutTorn(); err != nil {
		return err
	}
	if l.size == 0 {
		if err := syncDir(l.dir); err != nil {
			return err
		}
	}
	_ = l.save() // disposable
	return nil
}

// OpenReader opens the log in dir for reading while another process may write it. Every call sees
// the whole lines of that moment. A log that does not exist yet reads as empty.
func OpenReader(dir string) (*Log, error) {
	l := &Log{dir: dir}
	if err := l.refresh(); err != nil {
		_ = l.Close()
		return nil, fmt.Errorf("open log in %q: %w", dir, err)
	}
	return l, nil
}

// Close closes the files. What was appended stays; it does not sync.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f == nil {
		return nil
	}
	if l.writes && l.failed == nil {
		_ = l.save() // disposable
	}
	l.idx.close()
	err := l.f.Close()
	l.f = nil
	if l.failed == nil {
		l.failed = os.ErrClosed
	}
	return err
}

// Append writes a record as one line with one write and returns it as it will be read back, with
// its Seq and Time. After a failed write (such as a full disk) nothing of the record remains, and
// the next Append starts on a fresh line.
func (l *Log) Append(r Record) (Record, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.canWrite(); err != nil {
		return Record{}, fmt.Errorf("append %q: %w", r.Kind, err)
	}
	r.Seq = l.st.LastSeq + 1
	r.Time = time.Now().UTC()
	if r.Kind == Partial {
		r = shrinkPartial(l.st.LastPartial, r)
	}
	line, err := encodeLine(&r)
	if err != nil {
		return Record{}, err
	}
	back, whole := decodeLine(line)
	if !whole || len(back) != 1 {
		return Record{}, fmt.Errorf("append %q: the record can't be read back", r.Kind)
	}
	if err := l.write(line); err != nil {
		return Record{}, fmt.Errorf("append %q: %w", r.Kind, err)
	}
	at := l.size
	l.size += int64(len(line))
	out, err := l.add(back[0].rec, at, int64(back[0].size))
	if err != nil { // the record is in the log, though what it leaves could not be told
		out = back[0].rec
		if err := l.rebuild(); err != nil {
			l.failed = err
			return Record{}, fmt.Errorf("append %q: %w", r.Kind, err)
		}
	}
	if r.Kind == TurnEnd {
		_ = l.save() // disposable
	}
	return out, nil
}

func (l *Log) canWrite() error {
	if !l.writes {
		return ErrReadOnly
	}
	return l.failed
}

// write puts a line at the end of the last good one.
func (l *Log) write(line []byte) error {
	if l.torn {
		if err := l.f.Truncate(l.size); err != nil {
			return err
		}
		l.torn = false
	}
	if l.bare {
		if _, err := l.f.WriteAt([]byte{'\n'}, l.size); err != nil {
			return err
		}
		l.bare = false
		l.size++
	}
	if _, err := l.f.WriteAt(line, l.size); err != nil {
		l.torn = l.f.Truncate(l.size) != nil
		return err
	}
	return nil
}

// Sync returns when everything appended is on disk. After an error the log refuses to write until
// it is opened again.
func (l *Log) Sync() error {
	l.mu.Lock()
	f, err := l.f, l.canWrite()
	l.mu.Unlock()
	if err != nil {
		return fmt.Errorf("sync log: %w", err)
	}
	if err := f.Sync(); err != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.failed = errors.Join(ErrUnsynced, err)
		return fmt.Errorf("sync log: %w", l.failed)
	}
	return nil
}

// State gives the fold over the log.
func (l *Log) State() State {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.writes {
		_ = l.refresh() // what was read before is still true
	}
	s := l.st.clone()
	s.Damaged += l.pending
	return s
}

// add folds a record, as read from its line, into everything that is kept of the log. It returns
// the record as readers see it. An error comes only from reading the log or the index.
func (l *Log) add(r Record, off, size int64) (Record, error) {
	c := classOf(&r)
	if c == classUnknown {
		l.st.LastSeq = r.Seq
		return r, nil
	}
	before := l.st.LastPartial
	if r.Kind == Partial {
		whole, ok := growPartial(before, r)
		if !ok {
			l.st.LastSeq = r.Seq
			return r, nil
		}
		r = whole
	}
	if leaves(&r) {
		if err := l.leave(r.From); err != nil {
			return r, err
		}
	}
	replaces := (r.Kind == Partial || r.Kind == Assistant) && before != nil && before.StepSeq == r.StepSeq
	l.idx.add(entry{off: off, size: size, seq: r.Seq, class: c}, replaces)
	l.st.apply(&r)
	if l.hist != nil {
		l.hist.apply(&r)
	}
	return r, nil
}
