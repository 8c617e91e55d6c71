// Package search finds what was said in any conversation, in a full-text index over all logs.
//
// It promises: the index is made from the logs alone and can be thrown away; what a query names is
// found whatever characters it holds, and none is malformed; text is kept once, in the logs, from
// which snippets are read; several processes may index and search at the same time. What is said
// again after an edit is found as well, and marked as left.
package search

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"carrel/store"
)

// cacheName is the index's name in the data root.
const cacheName = "search"

// version is of schema and of what words and texts are taken from a log: a change of either makes
// the index anew.
const version = 1

// The words of a text come folded and separated by single spaces, so the plainest tokenizer is
// right. The index keeps no text. Ids ascend with time, see idAt, so that the newest come first
// without sorting.
const schema = `
CREATE TABLE sessions (
	id        INTEGER PRIMARY KEY,
	workspace TEXT NOT NULL UNIQUE,
	project   TEXT NOT NULL,
	pos       INTEGER NOT NULL DEFAULT 0 -- the log is read up to this byte
) STRICT;
CREATE TABLE texts (
	id      INTEGER PRIMARY KEY,
	session INTEGER NOT NULL,
	seq     INTEGER NOT NULL, -- of the record
	role    INTEGER NOT NULL,
	off     INTEGER NOT NULL, -- where the record is in the log
	size    INTEGER NOT NULL,
	at      INTEGER NOT NULL,
	left    INTEGER NOT NULL DEFAULT 0,
	UNIQUE (session, seq, role)
) STRICT;
CREATE VIRTUAL TABLE words USING fts5(text, tags, content='', contentless_delete=1, tokenize='ascii');
`

// Session is a workspace's conversation.
type Session struct {
	Workspace string // id; its log is in the root's folder for this session
	Project   string // id, "" for none
}

// Options says what an Index is over.
type Options struct {
	Root *store.Root
	// Sessions lists every conversation that there is, archived ones too. What is indexed and not
	// listed is removed.
	Sessions func(ctx context.Context) ([]Session, error)
	// Pause is called after each batch with the time that it took; nil goes on at once.
	Pause func(ctx context.Context, took time.Duration)
}

// Index is the index of a data root. Its methods may be called from any goroutine. It opens its
// file when it is first needed.
type Index struct {
	o Options

	opening sync.Mutex // held while cache is opened or thrown away
	using   sync.RWMutex
	cache   *store.Cache // nil until needed; guarded by using
	closed  bool

	syncing chan struct{} // has an element while a pass runs
	behind  atomic.Int64
	caught  atomic.Bool // a pass over everything has ended
}

// New gives the index of o.Root.
func New(o Options) *Index { return &Index{o: o, syncing: make(chan struct{}, 1)} }

// ErrClosed is returned after Close.
var ErrClosed = errors.New("search index is closed")

// Close lets go of the file.
func (x *Index) Close() error {
	x.opening.Lock()
	defer x.opening.Unlock()
	x.using.Lock()
	defer x.using.Unlock()
	x.closed = true
	return x.release()
}

// release closes the cache; using is held.
func (x *Index) release() error {
	if x.cache == nil {
		return nil
	}
	err := x.cache.Close()
	x.cache = nil
	return err
}

// Behind is how many bytes of logs are not searchable yet, as far as is known, and whether that is
// known: a pass over all of them has begun.
func (x *Index) Behind() (bytes int64, known bool) { return x.behind.Load(), x.caught.Load() }

// with calls f with the open cache. When the cache turns out to be damaged it is thrown away, and f
// gets a fresh one: what was in it is indexed again by the next Sync.
func (x *Index) with(ctx context.Context, f func(c *store.Cache) error) error {
	for try := 0; ; try++ {
		if err := x.open(ctx); err != nil {
			return err
		}
		err := x.use(f)
		if !store.Damaged(err) || try > 0 {
			return err
		}
		if err := x.drop(); err != nil {
			return fmt.Errorf("the search index is damaged: %w", err)
		}
	}
}

func (x *Index) use(f func(c *store.Cache) error) error {
	x.using.RLock()
	defer x.using.RUnlock()
	if x.cache == nil {
		return ErrClosed
	}
	return f(x.cache)
}

func (x *Index) open(ctx context.Context) error {
	x.opening.Lock()
	defer x.opening.Unlock()
	x.using.RLock()
	open, closed := x.cache != nil, x.closed
	x.using.RUnlock()
	if closed {
		return ErrClosed
	}
	if open {
		return nil
	}
	c, err := x.o.Root.OpenCache(ctx, store.CacheSpec{Name: cacheName, Version: version, Schema: schema})
	if err != nil {
		return err
	}
	x.using.Lock()
	defer x.using.Unlock()
	x.cache = c
	return nil
}

// drop throws the file away.
func (x *Index) drop() error {
	x.opening.Lock()
	defer x.opening.Unlock()
	x.using.Lock()
	defer x.using.Unlock()
	x.caught.Store(false)
	_ = x.release() // it is damaged
	return x.o.Root.DropCache(cacheName)
}
