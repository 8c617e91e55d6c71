package tool

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// replaceString replaces exact text in a file.
type replaceString struct{}

func (replaceString) Spec() Spec {
	return spec("file_edit_replace_string", `"path":{"type":"string"},
"old_string":{"type":"string"},
"new_string":{"type":"string"},
"replace_count":{"type":"number","description":"Default 1, and then old_string must be unique; n replaces the first n places, -1 all"}`,
		"path", "old_string", "new_string")
}

func (replaceString) Run(ctx context.Context, c Call) Result {
	in := read(c.Input)
	path, old, text := in.need("path"), in.need("old_string"), in.need("new_string")
	count, ok := in.number("replace_count")
	if !ok {
		count = 1
	}
	switch {
	case in.err != nil:
	case old == "":
		in.fail(`"old_string" is empty: give the text to replace, or use file_edit_insert`)
	case old == text:
		in.fail("nothing would change: old_string and new_string are the same")
	case count == 0 || count < -1:
		in.fail(`"replace_count" must be 1 or more, or -1 for all places`)
	}
	if in.err != nil {
		return Fail(in.err.Error())
	}
	return edit{
		path: path,
		plan: func(body string) ([]span, error) { return planReplace(path, body, old, text, count) },
		did: func(n int) string {
			if n == 1 {
				return "Replaced 1 place in"
			}
			return "Replaced " + strconv.Itoa(n) + " places in"
		},
	}.run(ctx, c)
}

// planReplace finds the places to replace.
func planReplace(path, body, old, text string, count int) ([]span, error) {
	v := viewLF(body)
	old = strings.TrimPrefix(old, bom)
	// A file without carriage returns is taken at its word first.
	if v.crs != nil || !strings.Contains(v.text, old) && strings.Contains(old, "\r\n") {
		old, text = toLF(old), toLF(text)
	}
	if old == "" {
		return nil, errors.New(`"old_string" is empty`)
	}
	at := findAll(v.text, old)
	switch {
	case len(at) == 0:
		return nil, fmt.Errorf("old_string was not found in %s. %s", path, nearMiss(v.text, old))
	case count == 1 && len(at) > 1:
		return nil, fmt.Errorf("old_string is in %s %d times (at lines %s): add text around it to make it unique, or set replace_count", path, len(at), linesOf(v.text, at))
	case count > len(at):
		return nil, fmt.Errorf("replace_count is %d, but old_string is in %s only %d times (at lines %s)", count, path, len(at), linesOf(v.text, at))
	case count > 0:
		at = at[:count]
	}
	spans := make([]span, len(at))
	for i, start := range at {
		spans[i] = v.replacement(start, start+len(old), text)
	}
	return spans, nil
}

// linesOf names the lines of places, ten at most.
func linesOf(text string, at []int) string {
	var names []string
	for _, p := range at[:min(len(at), 10)] {
		names = append(names, strconv.Itoa(lineAt(text, p)))
	}
	if len(at) > 10 {
		names = append(names, "...")
	}
	return strings.Join(names, ", ")
}
