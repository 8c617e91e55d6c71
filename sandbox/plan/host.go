package plan

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// Host is the machine's own tree.
func Host() Tree { return host{} }

type host struct{}

func (host) Lstat(name string) (Entry, error) { return lstat(name) }

func (host) ReadDir(name string) ([]Entry, error) {
	f, err := openQuiet(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	found, err := f.ReadDir(MaxEntries + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(found) > MaxEntries {
		return nil, fmt.Errorf("list %q: %w", name, ErrTooMany)
	}
	list := make([]Entry, len(found))
	for i, e := range found {
		list[i] = Entry{Name: e.Name(), Type: e.Type()}
	}
	slices.SortFunc(list, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

func (host) Readlink(name string) (string, error) { return os.Readlink(name) }

func (host) CanMake(dir string) bool { return canMake(dir) }

func (host) ReadFile(name string, limit int) ([]byte, error) {
	f, err := openQuiet(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read %q: it is no regular file: %w", name, errors.Join(err, fs.ErrInvalid))
	}
	text, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err != nil {
		return nil, err
	}
	if len(text) > limit {
		return nil, fmt.Errorf("read %q: %w", name, ErrTooMany)
	}
	return text, nil
}
