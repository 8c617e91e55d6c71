package main

import (
	"bytes"
	"go/ast"
	"os"
	"strconv"
	"strings"
	"testing"
)

// A reader holds one idea at a time: a file that is longer has several.
const (
	maxFile     = 400 // lines
	maxFunction = 60  // lines, from func to its closing brace
)

// longFiles and longFunctions are the exceptions, each with its reason. A function is named
// file:Name. An exception that is not needed any more fails too.
var (
	longFiles     = map[string]string{}
	longFunctions = map[string]string{}
)

func itoa(n int) string { return strconv.Itoa(n) }

func TestGoFilesAndFunctionsAreShort(t *testing.T) {
	files, functions := allowed(longFiles), allowed(longFunctions)
	for _, s := range goSources(t) {
		if s.machine {
			continue
		}
		if s.lines > maxFile && !files.use(s.name) {
			t.Errorf("%s has %d lines, more than %d: split it by idea", s.name, s.lines, maxFile)
		}
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			lines := s.fset.Position(f.End()).Line - s.fset.Position(f.Pos()).Line + 1
			if lines > maxFunction && !functions.use(s.name+":"+f.Name.Name) {
				t.Errorf("%s: %s has %d lines, more than %d", s.fset.Position(f.Pos()), f.Name.Name, lines, maxFunction)
			}
		}
	}
	for _, name := range append(files.unused(), functions.unused()...) {
		if !strings.HasPrefix(name, "frontend/") {
			t.Errorf("%s is short enough: drop its exception", name)
		}
	}
}

func TestPageFilesAreShort(t *testing.T) {
	files := allowed(longFiles)
	for _, name := range matching(t, ".svelte", ".ts", ".css", ".js", ".mjs") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		lines := bytes.Count(text, []byte("\n"))
		if strings.HasSuffix(name, ".gen.ts") || lines <= maxFile || files.use(name) {
			continue
		}
		t.Errorf("%s has %d lines, more than %d: split it by idea", name, lines, maxFile)
	}
	for _, name := range files.unused() {
		if strings.HasPrefix(name, "frontend/") {
			t.Errorf("%s is short enough: drop its exception", name)
		}
	}
}

// exceptions tracks which exceptions a test needed.
type exceptions struct {
	reason map[string]string
	used   map[string]bool
}

func allowed(reason map[string]string) exceptions {
	return exceptions{reason: reason, used: map[string]bool{}}
}

func (e exceptions) use(name string) bool {
	e.used[name] = true
	return e.reason[name] != ""
}

func (e exceptions) unused() []string {
	var names []string
	for name := range e.reason {
		if !e.used[name] {
			names = append(names, name)
		}
	}
	return names
}
