package git

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// render writes entries as git status --porcelain=v2 -z does.
func render(entries []entry) []byte {
	var b bytes.Buffer
	const modes, ids = "100644 100644 100644", "0123456789012345678901234567890123456789 0123456789012345678901234567890123456789"
	for _, e := range entries {
		switch e.kind {
		case '1':
			fmt.Fprintf(&b, "1 %c%c N... %s %s %s\x00", e.x, e.y, modes, ids, e.path)
		case '2':
			fmt.Fprintf(&b, "2 %c%c N... %s %s R100 %s\x00%s\x00", e.x, e.y, modes, ids, e.path, e.from)
		case 'u':
			fmt.Fprintf(&b, "u %c%c N... %s 100644 %s %s %s\x00", e.x, e.y, modes, ids, ids[:40], e.path)
		default:
			fmt.Fprintf(&b, "%c %s\x00", e.kind, e.path)
		}
	}
	return b.Bytes()
}

func FuzzParseStatus(f *testing.F) {
	f.Add([]byte("# branch.oid (initial)\x00# branch.head main\x00? a b\x00"))
	f.Add([]byte("# branch.oid abc\x00# branch.head (detached)\x00# branch.upstream origin/x\x00# branch.ab +1 -2\x00"))
	f.Add(render([]entry{{'1', '.', 'M', "a\nb", ""}, {'2', 'R', '.', "to\t", "from "}, {'u', 'U', 'U', "c", ""}, {'!', '.', '.', "i/", ""}}))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := parseStatus(text)
		if err != nil {
			return
		}
		again, err := parseStatus(render(s.entries))
		if err != nil || !slices.Equal(s.entries, again.entries) {
			t.Errorf("%q: %+v, then %+v, %v", text, s.entries, again.entries, err)
		}
	})
}

func renderNumstat(list []lineCount) []byte {
	var b bytes.Buffer
	for _, c := range list {
		if c.binary {
			b.WriteString("-\t-\t")
		} else {
			fmt.Fprintf(&b, "%d\t%d\t", c.added, c.removed)
		}
		if c.from != "" {
			fmt.Fprintf(&b, "\x00%s\x00", c.from)
		}
		b.WriteString(c.path + "\x00")
	}
	return b.Bytes()
}

func FuzzParseNumstat(f *testing.F) {
	f.Add([]byte("1\t2\ta\tb\x00-\t-\tbin\x003\t4\t\x00old\x00new\nname\x00"))
	f.Add([]byte("1\t2\t\x00old\x00"))
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := parseNumstat(text)
		if err != nil {
			return
		}
		again, err := parseNumstat(renderNumstat(list))
		if err != nil || !slices.Equal(list, again) {
			t.Errorf("%q: %+v, then %+v, %v", text, list, again, err)
		}
	})
}

func FuzzParseChanges(f *testing.F) {
	f.Add([]byte(":100644 100644 aa bb M\x00a\x00:100644 100644 aa bb R090\x00old\x00new\x001\t1\ta\x000\t1\t\x00old\x00new\x00"))
	f.Add([]byte(":000000 100644 00 00 A\x00\n\x00:"))
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := parseChanges(text)
		for _, c := range list {
			if err == nil && (c.Path == "" || len(c.Status) != 1) {
				t.Errorf("%q: %+v", text, c)
			}
		}
	})
}

func FuzzSplitter(f *testing.F) {
	f.Add("diff --git a/x b/x\n+1\ndiff --git \"a/t\\tb\" \"b/t\\tb\"\n-2\n", uint8(3))
	f.Fuzz(func(t *testing.T, text string, step uint8) {
		split := func(step int) []Change {
			s := newSplitter([]Change{{Path: "x"}, {Path: "t\tb"}})
			for rest := text; rest != ""; {
				n := min(len(rest), step)
				if _, err := s.Write([]byte(rest[:n])); err != nil {
					break
				}
				rest = rest[n:]
			}
			if !s.full {
				s.line()
			}
			s.finish()
			return s.list
		}
		whole, parts := split(1<<30), split(int(step)+1)
		if !slices.Equal(whole, parts) {
			t.Errorf("cut in %d: %+v, whole: %+v", step+1, parts, whole)
		}
		for _, c := range whole {
			if c.Patch != "" && !strings.HasPrefix(c.Patch, "diff --git ") {
				t.Errorf("patch %q", c.Patch)
			}
		}
	})
}
