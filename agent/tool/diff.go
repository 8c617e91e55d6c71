package tool

import (
	"fmt"
	"strings"

	udiff "github.com/aymanbagabas/go-udiff"
)

const (
	maxDiff     = 64 << 10
	maxDiffLine = 2 << 10
	context3    = 3 // lines around a change, as git shows them
)

// diff describes a change for a person: a unified diff without a file header, and its counts. The
// changes are known, so that only the lines that they touch are compared.
func diff(body, after string, spans []span) Detail {
	var edits []udiff.Edit
	for i := 0; i < len(spans); {
		start, end := wholeLines(body, spans[i])
		j := i + 1
		for ; j < len(spans) && spans[j].start <= end; j++ {
			_, end = wholeLines(body, span{start: start, end: spans[j].end})
		}
		edits = append(edits, compare(body, start, end, spans[i:j])...)
		i = j
	}
	unified, err := udiff.ToUnifiedDiff("", "", body, edits, context3)
	if err != nil {
		return Detail{Diff: fmt.Sprintf("(no diff: %v)", err)}
	}
	var d Detail
	for _, h := range unified.Hunks {
		for _, l := range h.Lines {
			switch l.Kind {
			case udiff.Insert:
				d.Added++
			case udiff.Delete:
				d.Removed++
			case udiff.Equal:
			}
		}
	}
	d.Diff = cutDiff(unified.String())
	return d
}

// wholeLines widens a span to the lines that it touches.
func wholeLines(body string, s span) (start, end int) {
	start = strings.LastIndexByte(body[:s.start], '\n') + 1
	end = s.end
	if i := strings.IndexByte(body[end:], '\n'); i >= 0 {
		return start, end + i + 1
	}
	return start, len(body)
}

// compare gives the edits, line by line, of a stretch of whole lines.
func compare(body string, start, end int, spans []span) []udiff.Edit {
	old := body[start:end]
	local := make([]span, len(spans))
	for i, s := range spans {
		local[i] = span{start: s.start - start, end: s.end - start, text: s.text}
	}
	edits := udiff.Lines(old, apply(old, local))
	for i := range edits {
		edits[i].Start += start
		edits[i].End += start
	}
	return edits
}

// cutDiff drops the file header, carriage returns at line ends and what is over the cap.
func cutDiff(s string) string {
	_, s, _ = strings.Cut(s, "\n+++ ")
	_, s, _ = strings.Cut(s, "\n")
	s = clean(toLF(s))
	var b strings.Builder
	lines := splitLines(s)
	for i, line := range lines {
		if len(line) > maxDiffLine {
			line = cutEnd(line, maxDiffLine) + "[...]\n"
		}
		if b.Len()+len(line) > maxDiff-64 {
			fmt.Fprintf(&b, "\\ %d more lines of the diff are not shown\n", len(lines)-i)
			break
		}
		b.WriteString(line)
	}
	return b.String()
}
