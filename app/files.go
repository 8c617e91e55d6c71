package app

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

const (
	maxListed    = 200_000 // files of a workspace that are searched
	maxFileName  = 1024    // bytes of a path that is offered
	maxFilesSeen = 50      // files in one answer
	maxFileLists = 8       // workspaces whose list is kept
	listFresh    = 2 * time.Second
	listKept     = 5 * time.Minute
	listTime     = 20 * time.Second
)

// Files finds files of a workspace by some letters of their path.
func (d desks) Files(ctx context.Context, args FindFiles) (FoundFiles, error) {
	w, err := d.app.registry.Workspace(ctx, args.ID)
	if err != nil {
		return FoundFiles{}, userError(err)
	}
	p, err := d.app.registry.Project(ctx, w.ProjectID)
	if err != nil {
		return FoundFiles{}, userError(err)
	}
	if len(args.Query) > maxFileName {
		return FoundFiles{Files: []string{}}, nil
	}
	if h := d.app.healthOf(ctx, w); !well(h) { // else git would walk up to some other repository
		return FoundFiles{}, &Error{Code: h.State, Message: h.Note}
	}
	list, err := d.app.fileLists.of(ctx, w.ID, func(ctx context.Context) ([]string, bool, error) {
		if p.Git {
			return d.app.git.Files(ctx, w.Dir, maxListed)
		}
		return walkFiles(ctx, w.Dir, maxListed)
	})
	if err != nil {
		return FoundFiles{}, userError(err)
	}
	n := args.Limit
	if n <= 0 || n > maxFilesSeen {
		n = maxFilesSeen
	}
	return FoundFiles{Files: bestFiles(ctx, list.files, args.Query, n), More: list.more}, nil
}

// fileList is the files of a workspace at some time.
type fileList struct {
	files []listedFile
	more  bool
	at    time.Time
}

type listedFile struct {
	path, lower string
	base        int // where the name begins
}

// fileLists keeps the lists of the workspaces in which a file was looked for last. An answer comes from the
// list that is there; one that is older than a moment is read again meanwhile.
type fileLists struct {
	stopped chan struct{} // closed when the core closes
	work    sync.WaitGroup

	mu      sync.Mutex
	lists   map[string]*fileList
	reading map[string]*listReading
}

func newFileLists() *fileLists {
	return &fileLists{stopped: make(chan struct{}), lists: map[string]*fileList{}, reading: map[string]*listReading{}}
}

// stop ends the readings and waits for their end; it is called once.
func (l *fileLists) stop() {
	l.mu.Lock()
	close(l.stopped)
	l.mu.Unlock()
	l.work.Wait()
}

type listReading struct {
	done chan struct{} // closed when list and err are set
	list *fileList
	err  error
}

type lister func(ctx context.Context) (paths []string, more bool, err error)

// of is a workspace's list. It waits for the reading of one only while there is none.
func (l *fileLists) of(ctx context.Context, id string, read lister) (*fileList, error) {
	l.mu.Lock()
	list := l.lists[id]
	if list != nil && time.Since(list.at) > listKept {
		list = nil
	}
	r := l.reading[id]
	if r == nil && (list == nil || time.Since(list.at) > listFresh) {
		r = l.start(ctx, id, read)
	}
	l.mu.Unlock()
	if list != nil {
		return list, nil
	}
	select {
	case <-r.done:
		return r.list, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// start reads a list in a goroutine that ends with listTime at the latest. The caller holds mu.
func (l *fileLists) start(ctx context.Context, id string, read lister) *listReading {
	r := &listReading{done: make(chan struct{})}
	select {
	case <-l.stopped:
		r.err = context.Canceled
		close(r.done)
		return r
	default:
	}
	l.reading[id] = r
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), listTime)
	l.work.Go(func() {
		select {
		case <-l.stopped:
			cancel()
		case <-ctx.Done():
		}
	})
	l.work.Go(func() {
		defer cancel()
		paths, more, err := read(ctx)
		if err != nil {
			r.err = err
		} else {
			r.list = &fileList{files: offered(paths), more: more, at: time.Now()}
		}
		l.mu.Lock()
		delete(l.reading, id)
		if r.list != nil {
			l.keep(id, r.list)
		}
		l.mu.Unlock()
		close(r.done)
	})
	return r
}

// keep remembers a list, and forgets the oldest when there are too many. The caller holds mu.
func (l *fileLists) keep(id string, list *fileList) {
	l.lists[id] = list
	if len(l.lists) <= maxFileLists {
		return
	}
	oldest := id
	for other, one := range l.lists {
		if one.at.Before(l.lists[oldest].at) {
			oldest = other
		}
	}
	delete(l.lists, oldest)
}

// offered is what of a listing can be shown and named in a message: text, without signs that would write
// it otherwise than it is.
func offered(paths []string) []listedFile {
	out := make([]listedFile, 0, len(paths))
	for _, path := range paths {
		if len(path) > maxFileName || !utf8.ValidString(path) || strings.ContainsFunc(path, misleads) {
			continue
		}
		out = append(out, listedFile{path: path, lower: strings.ToLower(path), base: strings.LastIndexByte(path, '/') + 1})
	}
	return out
}

// misleads tells control characters, line separators and signs that change the direction of text.
func misleads(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
}

var errEnough = errors.New("enough")

// walkFiles lists the files below a folder that is no repository, without following links. It leaves out
// hidden folders and stops at most files.
func walkFiles(ctx context.Context, dir string, most int) (paths []string, more bool, err error) {
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && path == dir:
			return err
		case err != nil:
			return fs.SkipDir // a folder that can't be read has nothing to offer
		case e.IsDir():
			if path != dir && (strings.HasPrefix(e.Name(), ".") || e.Name() == "node_modules") {
				return fs.SkipDir
			}
			return nil
		case !e.Type().IsRegular() && e.Type()&fs.ModeSymlink == 0:
			return nil // pipes and devices
		case len(paths) == most:
			more = true
			return errEnough
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		paths = append(paths, filepath.ToSlash(rel))
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return paths, more, err
}
