// Package compat holds the names under which people who come from mux and Xum already keep their
// project files and read their variables. Carrel reads .carrel first, then .xum, then .mux, and
// hands every variable of its own to commands under all three prefixes.
//
// It is a leaf: it reads names and looks at the disk, nothing else.
package compat

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Prefix starts every environment variable of Carrel.
const Prefix = "CARREL_"

// Folders are the project folders that are searched, the first that has the file wins.
func Folders() []string { return []string{".carrel", ".xum", ".mux"} }

// IgnoreFiles are the names of the file that lists ignored files to copy, the first found wins.
func IgnoreFiles() []string { return []string{".carrelignore", ".xumignore", ".muxignore"} }

// Find returns the path of a project file such as "init" or "agents" below root, from the first
// folder that has it. ok is false where none has.
func Find(root, name string) (path string, info fs.FileInfo, ok bool) {
	for _, folder := range Folders() {
		path := filepath.Join(root, folder, name)
		if info, err := os.Stat(path); err == nil {
			return path, info, true
		}
	}
	return "", nil, false
}

// FindExecutable is Find for scripts whose older name also counts when the newer one cannot be
// executed.
func FindExecutable(root, name string) (path string, ok bool) {
	for _, folder := range Folders() {
		path := filepath.Join(root, folder, name)
		if info, err := os.Stat(path); err == nil && Executable(info) {
			return path, true
		}
	}
	return "", false
}

// Executable says whether a file is a program that somebody may execute.
func Executable(info fs.FileInfo) bool {
	return info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}

// FindIgnoreFile returns the path of the ignore file in root; ok is false where there is none.
func FindIgnoreFile(root string) (path string, ok bool) {
	for _, name := range IgnoreFiles() {
		path := filepath.Join(root, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, true
		}
	}
	return "", false
}

// Alias adds the XUM_ and MUX_ names of every CARREL_ variable in vars, a list of KEY=value.
func Alias(vars []string) []string {
	all := make([]string, 0, 3*len(vars))
	for _, v := range vars {
		all = append(all, v)
		if rest, ok := strings.CutPrefix(v, Prefix); ok {
			all = append(all, "XUM_"+rest, "MUX_"+rest)
		}
	}
	return all
}

// Lookup reads the variable CARREL_name, else XUM_name, else MUX_name from a list of KEY=value.
func Lookup(env []string, name string) string {
	for _, prefix := range []string{Prefix, "XUM_", "MUX_"} {
		key := prefix + name + "="
		for i := len(env) - 1; i >= 0; i-- {
			if value, ok := strings.CutPrefix(env[i], key); ok {
				return value
			}
		}
	}
	return ""
}
