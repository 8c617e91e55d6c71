package sandbox

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"carrel/sandbox/jail/embed"
)

// installed is where packages put the helper. AppArmor profiles name a path, which must be root's,
// or any program could have the profile's rights.
const installed = "/usr/lib/carrel/carrel-sandbox"

// Program makes the helper ready to run and gives its path: the installed one when it is the one
// that this build embeds, else a copy below root/run, named for its content.
func Program(root string) (string, error) {
	text, err := embed.Program()
	if err != nil {
		return "", &CannotEnforce{Tier: "A", Why: "the sandbox helper is missing", Mend: embed.ErrMissing.Error(), Err: err}
	}
	if have, err := os.ReadFile(installed); err == nil && bytes.Equal(have, text) && rootOwns(installed) {
		return installed, nil
	}
	sum := sha256.Sum256(text)
	dir := filepath.Join(root, "run")
	path := filepath.Join(dir, "carrel-sandbox-"+hex.EncodeToString(sum[:8]))
	if have, err := os.ReadFile(path); err == nil && bytes.Equal(have, text) {
		return path, nil
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("write sandbox helper: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("write sandbox helper: %w", err)
	}
	return path, write(path, text)
}

// write replaces path by a program that nobody can change in place.
func write(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".helper-*")
	if err != nil {
		return fmt.Errorf("write sandbox helper: %w", err)
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Chmod(0o500), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return fmt.Errorf("write sandbox helper: %w", err)
	}
	return nil
}
