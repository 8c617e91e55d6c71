package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
)

// printJSON writes one document.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// plain makes text safe for a terminal: control characters of untrusted text, and those that turn
// the direction of writing, never reach it.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, s)
}

// line is plain text on one line.
func line(s string) string {
	return strings.Join(strings.FieldsFunc(plain(s), func(r rune) bool { return r == '\n' || r == '\t' }), " ")
}

// short cuts a line to n characters.
func short(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return strings.TrimSpace(string(r[:n-1])) + "…"
	}
	return s
}

// table prints rows in columns. An empty head is left out.
func table(io IO, head []string, rows [][]string) error {
	w := tabwriter.NewWriter(io.Out, 0, 4, 2, ' ', 0)
	if len(head) > 0 {
		rows = append([][]string{head}, rows...)
	}
	for _, r := range rows {
		cells := make([]string, len(r))
		for i := range r {
			cells[i] = line(r[i])
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(strings.Join(cells, "\t"), "\t")); err != nil {
			return err
		}
	}
	return w.Flush()
}

// ago is how long ago something was, for people.
func ago(now, then time.Time) string {
	switch d := now.Sub(then); {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	case d < 60*24*time.Hour:
		return fmt.Sprintf("%d days ago", int(d.Hours()/24))
	}
	return then.Local().Format(time.DateOnly)
}
