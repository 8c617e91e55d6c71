package scan

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Kept is something in quarantine.
type Kept struct {
	ID     string    `json:"id"`
	Root   string    `json:"root"`
	Path   string    `json:"path"` // below Root
	Kind   Kind      `json:"kind"`
	Reason string    `json:"reason"`
	Time   time.Time `json:"time"`
	// Aside is its name now, in the folder where it was: set when it could not leave that folder, for
	// the quarantine lies on another disk. There it does nothing under that name.
	Aside string `json:"aside,omitempty"`
	// PutBack says that the file which it had replaced is back in its place.
	PutBack bool `json:"put_back"`
}

const (
	recordName = "kept.json"
	objectName = "object"
	maxRecord  = 64 << 10
)

// Quarantine moves what was found into dir, a private folder that commands can't write and which is
// made when it is missing, and puts back what it had replaced. The way there goes from folder to
// folder; a link on it is an error. It fails with fs.ErrNotExist when nothing is there any more.
func Quarantine(f Finding, dir string) (Kept, error) {
	k := Kept{ID: newID(), Root: f.Root, Path: f.Path, Kind: f.Kind, Reason: f.Reason, Time: time.Now().UTC()}
	own := filepath.Join(dir, k.ID)
	if err := os.MkdirAll(own, 0o700); err != nil {
		return Kept{}, fmt.Errorf("quarantine %s: %w", short(f.Path), err)
	}
	aside, err := moveAway(f.Root, f.Path, own, k.ID)
	if err != nil {
		_ = os.RemoveAll(own)
		return Kept{}, fmt.Errorf("quarantine %s: %w", short(f.Path), err)
	}
	k.Aside = aside
	var putting error
	if f.before != nil && f.before.content != nil {
		putting = putBack(f.Root, f.Path, f.before)
		k.PutBack = putting == nil
	}
	if err := writeRecord(own, k); err != nil {
		return k, fmt.Errorf("note what is in quarantine %q: %w", k.ID, err)
	}
	if putting != nil {
		return k, fmt.Errorf("put back the former %s: %w", short(f.Path), putting)
	}
	return k, nil
}

// Restore moves something out of the quarantine dir to where it was; a file that is there now is
// replaced, a folder is an error.
func Restore(dir, id string) (Kept, error) {
	if !validID(id) {
		return Kept{}, fmt.Errorf("restore %q: %w", id, fs.ErrNotExist)
	}
	own := filepath.Join(dir, id)
	k, err := readRecord(own)
	if err != nil {
		return Kept{}, fmt.Errorf("restore %q: %w", id, err)
	}
	if err := moveBack(k, own); err != nil {
		return k, fmt.Errorf("restore %s: %w", short(k.Path), err)
	}
	if err := os.RemoveAll(own); err != nil {
		return k, fmt.Errorf("clear the quarantine of %q: %w", id, err)
	}
	return k, nil
}

// List gives what is in quarantine, newest first.
func List(dir string) ([]Kept, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the quarantine: %w", err)
	}
	var list []Kept
	for _, e := range entries {
		if k, err := readRecord(filepath.Join(dir, e.Name())); err == nil && k.ID == e.Name() {
			list = append(list, k)
		}
	}
	slices.SortFunc(list, func(a, b Kept) int { return b.Time.Compare(a.Time) })
	return list, nil
}

func newID() string { return strings.ToLower(rand.Text()[:13]) }

func validID(id string) bool {
	return id != "" && strings.Trim(id, "abcdefghijklmnopqrstuvwxyz234567") == ""
}

func writeRecord(own string, k Kept) error {
	text, err := json.Marshal(k)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(own, recordName), append(text, '\n'), 0o600)
}

func readRecord(own string) (Kept, error) {
	info, err := os.Stat(filepath.Join(own, recordName))
	if err != nil {
		return Kept{}, err
	}
	if info.Size() > maxRecord {
		return Kept{}, fmt.Errorf("a record of %d bytes", info.Size())
	}
	text, err := os.ReadFile(filepath.Join(own, recordName))
	if err != nil {
		return Kept{}, err
	}
	var k Kept
	if err := json.Unmarshal(text, &k); err != nil {
		return Kept{}, err
	}
	return k, nil
}
