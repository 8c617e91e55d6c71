package tool

import (
	"context"
	"fmt"
	"strings"
)

// replaceLines replaces whole lines of a file.
type replaceLines struct{}

func (replaceLines) Spec() Spec {
	return spec("file_edit_replace_lines", `"path":{"type":"string"},
"start_line":{"type":"number","description":"First line, from 1"},
"end_line":{"type":"number","description":"Last line, included"},
"new_lines":{"type":"array","items":{"type":"string"},"description":"Without line ends; [] deletes the range"},
"expected_lines":{"type":"array","items":{"type":"string"}}`,
		"path", "start_line", "end_line", "new_lines")
}

func (replaceLines) Run(ctx context.Context, c Call) Result {
	in := read(c.Input)
	r := lineRange{path: in.need("path")}
	var okFirst, okLast, okNew bool
	r.first, okFirst = in.number("start_line")
	r.last, okLast = in.number("end_line")
	r.lines, okNew = in.texts("new_lines")
	r.expected, r.checked = in.texts("expected_lines")
	switch {
	case in.err != nil:
	case !okFirst || !okLast:
		in.fail(`"start_line" and "end_line" are needed; they must be numbers`)
	case !okNew:
		in.fail(`"new_lines" is missing; it must be an array of strings, [] to delete the lines`)
	case r.first < 1 || r.last < r.first:
		in.fail("lines %d to %d are no range: start_line must be 1 or more, end_line not before it", r.first, r.last)
	}
	if in.err != nil {
		return Fail(in.err.Error())
	}
	return edit{
		path: r.path,
		plan: r.plan,
		once: !r.checked,
		did:  func(int) string { return fmt.Sprintf("Replaced lines %d-%d of", r.first, r.last) },
	}.run(ctx, c)
}

// lineRange is what a call asks for.
type lineRange struct {
	path        string
	first, last int // from 1, both included
	lines       []string
	expected    []string
	checked     bool
}

// plan gives the change, no larger than the lines that differ.
func (r lineRange) plan(body string) ([]span, error) {
	have := splitLines(body)
	if r.last > len(have) {
		return nil, fmt.Errorf("%s has %d lines, so lines %d to %d can't be replaced. To add at the end use file_edit_insert", r.path, len(have), r.first, r.last)
	}
	old := have[r.first-1 : r.last]
	if err := r.check(old); err != nil {
		return nil, err
	}
	text := r.ended(old, have[:r.first-1])
	start := 0
	for _, line := range have[:r.first-1] {
		start += len(line)
	}
	for len(old) > 0 && len(text) > 0 && old[0] == text[0] {
		start += len(old[0])
		old, text = old[1:], text[1:]
	}
	for len(old) > 0 && len(text) > 0 && old[len(old)-1] == text[len(text)-1] {
		old, text = old[:len(old)-1], text[:len(text)-1]
	}
	return []span{{start: start, end: start + len(strings.Join(old, "")), text: strings.Join(text, "")}}, nil
}

// check compares the lines with those that the model expects.
func (r lineRange) check(old []string) error {
	if !r.checked {
		return nil
	}
	if len(r.expected) != len(old) {
		return fmt.Errorf("expected_lines has %d lines, but the range %d to %d has %d", len(r.expected), r.first, r.last, len(old))
	}
	for i, line := range old {
		if want := content(r.expected[i]); content(line) != want {
			return fmt.Errorf("line %d of %s is not as expected; nothing was changed. Lines %d to %d are now:\n%s",
				r.first+i, r.path, r.first, r.last, renumbered(old, r.first))
		}
	}
	return nil
}

// renumbered shows lines from a number on, at most 40.
func renumbered(lines []string, first int) string {
	all := append(make([]string, first-1), lines[:min(len(lines), 40)]...)
	return numbered(all, first, len(all))
}

// ended gives the new lines with their ends: those of the lines that they replace, then the last
// of these. At the end of a file without a final line end there is none either.
func (r lineRange) ended(old, before []string) []string {
	var lines []string
	for _, l := range r.lines {
		lines = append(lines, strings.Split(content(toLF(l)), "\n")...)
	}
	style := "\n"
	for _, known := range [][]string{before, old} {
		for i := len(known) - 1; i >= 0; i-- {
			if end := lineEnd(known[i]); end != "" {
				style = end
				break
			}
		}
	}
	for i := range lines {
		end := style
		if i < len(old) && lineEnd(old[i]) != "" {
			end = lineEnd(old[i])
		}
		if i == len(lines)-1 && lineEnd(old[len(old)-1]) == "" {
			end = ""
		}
		lines[i] += end
	}
	return lines
}

// lineEnd gives the end of a line: "\n", "\r\n" or, for a last line without one, "".
func lineEnd(line string) string { return line[len(content(line)):] }
