// Command gen writes the TypeScript client of the services: the types that hosts see, the events as
// one discriminated union and a typed function for each call. It reads package app as source, so
// that it works while other packages do not compile, and refuses what TypeScript could not express.
//
// Run it from anywhere inside the repository: go run ./app/wire/gen
package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// output is where the client goes, from the repository's top.
const output = "frontend/src/host/api.gen.ts"

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	top, err := findTop()
	if err != nil {
		return err
	}
	text, err := generate(filepath.Join(top, "app"))
	if err != nil {
		return err
	}
	name := filepath.Join(top, output)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, []byte(text), 0o644)
}

// generate returns the client for the package in dir.
func generate(dir string) (string, error) {
	c, err := load(dir)
	if err != nil {
		return "", fmt.Errorf("read package %q: %w", dir, err)
	}
	return c.emit()
}

// findTop returns the folder that holds go.mod.
func findTop() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		_, err := os.Stat(filepath.Join(dir, "go.mod"))
		if err == nil {
			return dir, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("find the repository: no go.mod above the working directory")
		}
		dir = parent
	}
}
