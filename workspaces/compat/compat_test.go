package compat

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func write(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"), mode); err != nil {
		t.Fatal(err)
	}
}

func TestOlderNamesCountOnlyWhereTheNewerIsAbsent(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, ".mux/init"), 0o755)
	if path, _, ok := Find(root, "init"); !ok || path != filepath.Join(root, ".mux/init") {
		t.Fatalf("Find = %q, %v", path, ok)
	}
	write(t, filepath.Join(root, ".xum/init"), 0o644)
	if path, _, _ := Find(root, "init"); path != filepath.Join(root, ".xum/init") {
		t.Fatalf("Find = %q, want the newer name", path)
	}
	if path, ok := FindExecutable(root, "init"); !ok || path != filepath.Join(root, ".mux/init") {
		t.Fatalf("FindExecutable = %q, %v, want the one that can run", path, ok)
	}
}

func TestIgnoreFileFallsBack(t *testing.T) {
	root := t.TempDir()
	if _, ok := FindIgnoreFile(root); ok {
		t.Fatal("found an ignore file in an empty folder")
	}
	write(t, filepath.Join(root, ".muxignore"), 0o644)
	write(t, filepath.Join(root, ".xumignore"), 0o644)
	if path, _ := FindIgnoreFile(root); filepath.Base(path) != ".xumignore" {
		t.Fatalf("FindIgnoreFile = %q", path)
	}
}

func TestVariablesKeepTheirOlderNames(t *testing.T) {
	got := Alias([]string{"CARREL_RUNTIME=local", "PATH=/bin"})
	want := []string{"CARREL_RUNTIME=local", "XUM_RUNTIME=local", "MUX_RUNTIME=local", "PATH=/bin"}
	if !slices.Equal(got, want) {
		t.Fatalf("Alias = %q", got)
	}
	if v := Lookup([]string{"MUX_A=1", "XUM_A=2"}, "A"); v != "2" {
		t.Fatalf("Lookup = %q", v)
	}
}
