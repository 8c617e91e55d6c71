package transcript

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// ErrNoBlob is wrapped by Blob when there is none of that hash, or it is damaged.
var ErrNoBlob = errors.New("no such blob")

// PutBlob keeps content beside the log and returns its name, the SHA-256 in hex. It is on disk when
// PutBlob returns; the same content is kept once. The media type is for the record that names the
// blob to keep.
func (l *Log) PutBlob(data []byte, _ string) (string, error) {
	if !l.writes {
		return "", fmt.Errorf("put blob: %w", ErrReadOnly)
	}
	sum := sha256.Sum256(data)
	hash := hex.EncodeToString(sum[:])
	if _, err := l.Blob(hash); err == nil {
		return hash, nil
	}
	dir := filepath.Join(l.dir, "blobs")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("put blob: %w", err)
	}
	f, err := os.CreateTemp(dir, ".new-")
	if err != nil {
		return "", fmt.Errorf("put blob: %w", err)
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, hash))
	}
	if err != nil {
		return "", fmt.Errorf("put blob %q: %w", hash, errors.Join(err, os.Remove(f.Name())))
	}
	if err := syncDir(dir); err != nil {
		return "", fmt.Errorf("put blob %q: %w", hash, err)
	}
	return hash, nil
}

// Blob gives content by its hash. Damaged content is not given.
func (l *Log) Blob(hash string) ([]byte, error) { return ReadBlob(l.dir, hash) }

// ReadBlob is Log.Blob for the log in dir, which need not be open.
func ReadBlob(dir, hash string) ([]byte, error) {
	want, err := hex.DecodeString(hash)
	if err != nil || len(want) != sha256.Size {
		return nil, fmt.Errorf("blob %q: %w", hash, ErrNoBlob)
	}
	data, err := os.ReadFile(filepath.Join(dir, "blobs", hex.EncodeToString(want)))
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("blob %q: %w", hash, ErrNoBlob)
	}
	if err != nil {
		return nil, fmt.Errorf("blob %q: %w", hash, err)
	}
	if sum := sha256.Sum256(data); !bytes.Equal(sum[:], want) {
		return nil, fmt.Errorf("blob %q: content is damaged: %w", hash, ErrNoBlob)
	}
	return data, nil
}
