package store

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Lock is a lock that this process holds. The system drops it when the process ends, however it
// ends. The lock's file stays: removing it would let two processes hold "the" lock.
type Lock struct {
	file *os.File
	mine bool // exclusive: the file carries our process id
}

// LockedError says that another process holds a lock.
type LockedError struct {
	PID  int    // 0 when unknown
	Path string // the lock's file
}

// Error names the holder.
func (e *LockedError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("another process holds %s", e.Path)
	}
	return fmt.Sprintf("process %d holds %s", e.PID, e.Path)
}

// errBusy is what tryFlock says when somebody else has the lock.
var errBusy = errors.New("locked")

// editWait bounds how long an edit waits for other processes. An edit takes milliseconds; only a
// stopped process holds the lock longer.
const editWait = 30 * time.Second

// heirWait bounds how long a lock is waited for whose holder is dead. It is microseconds on an idle
// machine.
const heirWait = 2 * time.Second

// Lock takes the lock of the whole root, which the core holds while it runs. It does not wait: a
// *LockedError names the holder.
func (r *Root) Lock() (*Lock, error) {
	l, err := takeLock(r.Path("run", "core.lock"))
	if err != nil {
		return nil, fmt.Errorf("lock data root: %w", err)
	}
	return l, nil
}

// LockWindow takes the lock of the root's one desktop window. It does not wait: a *LockedError names
// the holder.
func (r *Root) LockWindow() (*Lock, error) {
	l, err := takeLock(r.Path("run", "window.lock"))
	if err != nil {
		return nil, fmt.Errorf("lock the window: %w", err)
	}
	return l, nil
}

// LockSession takes the lock of one session, whose holder alone may write there. It does not wait:
// a *LockedError names the holder.
func (r *Root) LockSession(id string) (*Lock, error) {
	dir, err := r.SessionDir(id)
	if err != nil {
		return nil, err
	}
	l, err := takeLock(dir + "/lock")
	if err != nil {
		return nil, fmt.Errorf("lock session %q: %w", id, err)
	}
	return l, nil
}

// SessionHolder is the process that holds a session's lock, 0 when none does. It only reads what the
// holder wrote, so that nobody who takes the lock meanwhile finds it taken by us; of a holder that
// was killed the id stays until the next one.
func (r *Root) SessionHolder(id string) int {
	if !validID.MatchString(id) {
		return 0
	}
	f, err := os.Open(r.Path("sessions", id, "lock"))
	if err != nil {
		return 0
	}
	defer func() { _ = f.Close() }()
	return readPID(f)
}

// takeLock takes the exclusive lock at path and writes our process id into its file. It only waits for
// what a dead holder leaves behind: a process that it was about to start has its files until it runs
// its program.
func takeLock(path string) (*Lock, error) {
	for began := time.Now(); ; {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		if err := tryFlock(f, true); err != nil {
			holder := readPID(f)
			_ = f.Close()
			if errors.Is(err, errBusy) && isDead(holder) && time.Since(began) < heirWait {
				time.Sleep(5 * time.Millisecond) // nothing tells
				continue
			}
			if errors.Is(err, errBusy) {
				return nil, &LockedError{PID: holder, Path: path}
			}
			return nil, err
		}
		if !sameFile(f, path) { // the folder was moved or removed while we took it
			_ = f.Close()
			continue
		}
		l := &Lock{file: f, mine: true}
		if err := l.sign(); err != nil {
			_ = l.Close()
			return nil, err
		}
		return l, nil
	}
}

// waitLock takes the lock at path, exclusive or shared, and waits up to editWait for it.
func waitLock(path string, exclusive bool) (*Lock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := tryFlock(f, exclusive); err == nil {
		return &Lock{file: f}, nil
	} else if !errors.Is(err, errBusy) {
		_ = f.Close()
		return nil, err
	}
	// The system's own queue is fair where polling is not, so a goroutine waits in it. When we give
	// up, the goroutine stays until its turn comes and then lets go.
	got := make(chan error)
	gaveUp := make(chan struct{})
	go func() {
		err := flock(f, exclusive)
		select {
		case got <- err:
		case <-gaveUp:
			_ = f.Close()
		}
	}()
	timer := time.NewTimer(editWait)
	defer timer.Stop()
	select {
	case err := <-got:
		if err != nil {
			_ = f.Close()
			return nil, err
		}
		return &Lock{file: f}, nil
	case <-timer.C:
		close(gaveUp)
		return nil, &LockedError{Path: path}
	}
}

// sign writes our process id into the lock's file, for whoever finds it locked.
func (l *Lock) sign() error {
	if err := l.file.Truncate(0); err != nil {
		return err
	}
	_, err := l.file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

// Close lets go of the lock.
func (l *Lock) Close() error {
	if l == nil || l.file == nil {
		return nil
	}
	if l.mine {
		_ = l.file.Truncate(0) // only a courtesy to readers
	}
	unlock(l.file) // a process that is being started may have the file for a moment longer
	err := l.file.Close()
	l.file = nil
	return err
}

// readPID reads the process id that a holder wrote, or 0.
func readPID(f *os.File) int {
	buf := make([]byte, 32)
	n, _ := f.ReadAt(buf, 0)
	pid, err := strconv.Atoi(strings.TrimSpace(string(buf[:n])))
	if err != nil {
		return 0
	}
	return pid
}

// sameFile reports whether path still names the open file f.
func sameFile(f *os.File, path string) bool {
	a, err := f.Stat()
	if err != nil {
		return false
	}
	b, err := os.Stat(path)
	return err == nil && os.SameFile(a, b)
}
