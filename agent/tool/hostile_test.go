package tool_test

import (
	"os"
	"strings"
	"testing"
	"time"
)

// soon fails a test whose step takes longer than any honest one; without bounds these take hours.
func soon(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(60 * time.Second):
		t.Fatalf("%s does not end", what)
	}
}

func TestTextsMadeToBeSlowGetAnAnswer(t *testing.T) {
	d := newDesk(t)
	d.write("same", strings.Repeat("x\n", 1<<20))
	d.write("words", strings.Repeat("a ", 1<<20))
	soon(t, "comparing lines that are all alike", func() {
		d.fails("file_edit_replace_string", in{"path": "same", "old_string": strings.Repeat("x\n", 1<<19) + "y", "new_string": ""}, "not found")
	})
	soon(t, "comparing words that are all alike", func() {
		d.fails("file_edit_replace_string", in{"path": "words", "old_string": strings.Repeat("a  ", 1900) + "b", "new_string": ""}, "not found")
	})
	d.write("big", strings.Repeat("a line\n", 1<<20))
	soon(t, "searching a large file", func() {
		d.fails("file_edit_replace_string", in{"path": "big", "old_string": strings.Repeat("A line\n", 1<<20), "new_string": ""}, "Read the file again")
	})
}

func TestWordsWithOtherSpacesAreFoundWhereTheyAre(t *testing.T) {
	d := newDesk(t)
	d.write("f", "one\n\xff  \u00e9\ttwo\n\n\nthree  four\nfive\n")
	d.fails("file_edit_replace_string", in{"path": "f", "old_string": "two three\nfour", "new_string": ""}, "at lines 2 to 5")
}

func TestASparseFileEndsTheReading(t *testing.T) {
	d := newDesk(t)
	for name, head := range map[string]string{"line": strings.Repeat("a", 9000), "lines": strings.Repeat("a\n", 9000)} {
		d.write(name, head)
		if err := os.Truncate(d.path(name), 1<<42); err != nil {
			t.Skip(err) // the disk knows no sparse files
		}
	}
	soon(t, "reading a line of terabytes", func() { d.ok("file_read", in{"path": "line"}) })
	soon(t, "reading beyond terabytes", func() {
		d.fails("file_read", in{"path": "lines", "offset": 100_000}, "it is not read further")
	})
}

func TestAPathLongerThanAnyIsRefused(t *testing.T) {
	d := newDesk(t)
	for _, path := range []string{strings.Repeat("a/", 100_000) + "b", "/" + strings.Repeat("../", 100_000) + "etc/passwd", strings.Repeat("a", 5000)} {
		soon(t, "following a long path", func() {
			d.fails("file_read", in{"path": path}, "longer than any")
			d.fails("file_edit_insert", in{"path": path, "content": "x"}, "longer than any")
		})
	}
}
