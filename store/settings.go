package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/tailscale/hujson"
)

const (
	settingsFile  = "settings.jsonc"
	providersFile = "providers.jsonc"
)

// Only the person may read these: providers.jsonc holds keys.
const jsoncMode fs.FileMode = 0o600

// A file that does not parse may be one that an editor is just writing. It is taken for damaged
// when it has stayed the same this long.
const (
	settleTime = 300 * time.Millisecond
	settleStep = 50 * time.Millisecond
)

// SetSetting sets the value at path in settings.jsonc, or removes it when value is nil. Comments
// and the edits of other processes survive.
func (r *Root) SetSetting(path []string, value any) error {
	if err := r.change(settingsFile, path, value); err != nil {
		return fmt.Errorf("change settings: %w", err)
	}
	return nil
}

// Providers reads providers.jsonc by provider id, with the rules of Settings.
func (r *Root) Providers() (map[string]ProviderConfig, error) {
	m, err := r.read(providersFile)
	if err != nil {
		return nil, fmt.Errorf("read providers: %w", err)
	}
	out := make(map[string]ProviderConfig, len(m))
	for _, id := range slices.Sorted(maps.Keys(m)) {
		var c ProviderConfig
		if r.decode(providersFile, m, id, &c) {
			out[id] = c
		}
	}
	return out, nil
}

// SetProvider sets the value at path in the provider's entry of providers.jsonc, or removes it when
// value is nil; an empty path means the whole entry.
func (r *Root) SetProvider(id string, path []string, value any) error {
	if id == "" {
		return errors.New("change providers: no provider named")
	}
	if err := r.change(providersFile, append([]string{id}, path...), value); err != nil {
		return fmt.Errorf("change provider %q: %w", id, err)
	}
	return nil
}

// decode reads one member into out and reports whether it was there and right.
func (r *Root) decode(file string, m map[string]json.RawMessage, key string, out any) bool {
	raw, ok := m[key]
	if !ok {
		return false
	}
	if err := json.Unmarshal(raw, out); err != nil {
		what := "it has the wrong type"
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) && wrong.Field != "" {
			what = fmt.Sprintf("%s is a %s", wrong.Field, wrong.Value)
		}
		r.report(Problem{
			Code: BadSetting,
			Path: r.Path(file),
			Message: fmt.Sprintf("%s: the value of %q is ignored (%s). Mend it in %s.",
				file, key, what, r.Path(file)),
		})
		return false
	}
	return true
}

// read gives the members of a JSONC file.
func (r *Root) read(name string) (map[string]json.RawMessage, error) {
	v, err := r.parsed(name)
	if err != nil {
		return nil, err
	}
	return members(v)
}

// parsed gives a JSONC file; a damaged one is kept aside.
func (r *Root) parsed(name string) (hujson.Value, error) {
	text, err := r.load(name)
	if err != nil {
		return hujson.Value{}, err
	}
	if v, err := parseJSONC(text); err == nil {
		return v, nil
	}
	lock, err := r.lockEdits()
	if err != nil {
		return hujson.Value{}, err
	}
	defer func() { _ = lock.Close() }()
	return r.loadSound(name)
}

// load reads a file, and takes other users' read permission away: a person's editor may have made the
// file. One that was emptied just now is read again, since editors empty a file before they write it.
func (r *Root) load(name string) ([]byte, error) {
	path := r.Path(name)
	text, err := readSettings(path)
	for tries := 0; err == nil && len(text) == 0 && tries < 2*int(settleTime/settleStep); tries++ {
		info, gone := os.Stat(path)
		if gone != nil || info.Size() == 0 && !justNow(info.ModTime()) {
			break
		}
		if info.Size() == 0 {
			time.Sleep(settleStep)
		}
		text, err = readSettings(path)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o077 != 0 {
		_ = os.Chmod(path, jsoncMode) // the folder is closed to others anyway
	}
	return text, nil
}

func justNow(t time.Time) bool {
	age := time.Since(t)
	return age >= 0 && age < settleTime
}

// maxSettings is far more than a person writes, in bytes.
const maxSettings = 1 << 20

// readSettings reads a file that may be a link to anything: a pipe or a device would hold the reader for
// ever or fill the memory.
func readSettings(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read %q: not a file", path)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxSettings+1))
	if err == nil && len(text) > maxSettings {
		err = fmt.Errorf("read %q: larger than %d KiB", path, maxSettings>>10)
	}
	return text, err
}

// loadSound parses a file, and keeps it aside when it is damaged and stays so. The caller holds the
// lock for edits.
func (r *Root) loadSound(name string) (hujson.Value, error) {
	var last []byte
	for quiet := time.Duration(0); ; {
		text, err := r.load(name)
		if err != nil {
			return hujson.Value{}, err
		}
		v, bad := parseJSONC(text)
		if bad == nil {
			return v, nil
		}
		if !bytes.Equal(text, last) {
			last, quiet = text, 0
		}
		if quiet >= settleTime {
			if _, err := r.KeepAside(r.Path(name), bad.Error()); err != nil {
				return hujson.Value{}, err
			}
			return parseJSONC(nil)
		}
		time.Sleep(settleStep) // there is no event for "the editor is done"
		quiet += settleStep
	}
}

// change edits one value of a JSONC file while no other process of ours does.
func (r *Root) change(name string, path []string, value any) error {
	lock, err := r.lockEdits()
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }()
	target := r.Path(name)
	sweepTemps(target)
	v, err := r.loadSound(name)
	if err != nil {
		return err
	}
	before := v.Pack()
	if name == settingsFile && !exists(target) {
		if err := edit(&v, []string{fallbacksKey}, newFallbacks()); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := edit(&v, path, value); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	after := v.Pack()
	if bytes.Equal(before, after) && exists(target) {
		return nil
	}
	return WriteFile(target, after, jsoncMode)
}

// lockEdits takes the lock for edits of the JSONC files, waiting for other processes.
func (r *Root) lockEdits() (*Lock, error) { return waitLock(r.Path("run", "edit.lock"), true) }
