package screen_test

import (
	"bytes"
	"runtime"
	"strings"
	"testing"
	"unicode"

	"carrel/workspaces/terminal/screen"
)

// Whatever a program writes, a screen stays small, and its snapshot too.
func TestHostileOutputStaysBounded(t *testing.T) {
	huge := strings.Repeat("9", 100)
	for name, text := range map[string]string{
		"no newline":        strings.Repeat("x", 100_000),
		"newlines":          strings.Repeat("\n", 100_000),
		"long title":        "\x1b]0;" + strings.Repeat("t", 1<<20) + "\x07",
		"title for ever":    "\x1b]0;" + strings.Repeat("t", 1<<20),
		"dcs for ever":      "\x1bP" + strings.Repeat("q", 1<<20),
		"apc for ever":      "\x1b_" + strings.Repeat("q", 1<<20),
		"escapes":           strings.Repeat("\x1b", 100_000),
		"huge parameters":   "\x1b[" + huge + "A\x1b[" + huge + ";" + huge + "H\x1b[" + huge + "L\x1b[" + huge + "@\x1b[" + huge + "S\x1b[" + huge + "X",
		"many parameters":   "\x1b[" + strings.Repeat("1;", 10_000) + "m" + "\x1b[" + strings.Repeat("1:", 10_000) + "m",
		"repeat":            "x\x1b[" + huge + "b",
		"huge region":       "\x1b[" + huge + ";" + huge + "r\x1b[2;1rX",
		"marks on marks":    "e" + strings.Repeat("\u0301", 100_000),
		"joined for ever":   strings.Repeat("\U0001F469\u200d", 50_000),
		"no text":           string(bytes.Repeat([]byte{0xff, 0xc3, 0xe2, 0x82}, 50_000)),
		"colours":           strings.Repeat("\x1b]4;1;#123456;2;#654321\x07", 10_000),
		"links":             strings.Repeat("\x1b]8;;http://example.test/"+strings.Repeat("x", 1000)+"\x07a", 1000),
		"questions":         strings.Repeat("\x1b[c\x1b[6n\x1bP$qm\x1b\\\x1b[?1$p", 10_000),
		"prompts":           strings.Repeat("\x1b]133;A\x07\x1b]133;D;1\x07", 10_000),
		"alternate, resize": strings.Repeat("\x1b[?1049h\x1b[?1049l", 10_000),
	} {
		t.Run(name, func(t *testing.T) {
			s := screen.New(80, 24, 1000, 256<<10)
			for part := range strings.SplitSeq(text, "\x00") {
				_, _ = s.Write([]byte(part))
			}
			for _, size := range [][2]int{{2, 1}, {100_000, 100_000}, {0, -1}, {80, 24}} {
				s.Resize(size[0], size[1])
			}
			n := s.Notes()
			if len(n.Title) > 1000 || len(n.Reply) > 4<<10 || len(n.Marks) > 64 {
				t.Errorf("notes of %d, %d, %d", len(n.Title), len(n.Reply), len(n.Marks))
			}
			if size := len(s.Snapshot(256 << 10)); size > 1<<20 {
				t.Errorf("a snapshot of %d bytes", size)
			}
		})
	}
}

func TestScrollbackKeepsWithinItsBytes(t *testing.T) {
	s := screen.New(200, 24, 5000, 256<<10)
	long := []byte(strings.Repeat("\x1b[31mred \x1b[32mgreen ", 18) + "\r\n")
	before := heap()
	for range 100_000 {
		_, _ = s.Write(long)
	}
	if grown := heap() - before; grown > 4<<20 {
		t.Errorf("the screen takes %d bytes more", grown)
	}
	if size := len(s.Snapshot(64 << 10)); size > 128<<10 {
		t.Errorf("a snapshot of at most 64 KiB of scrollback has %d bytes", size)
	}
	runtime.KeepAlive(s)
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestTitlesAreCleaned(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                                "plain",
		"a\x00b\x1b[31mc\u0085":                "ab[31mc",
		"user\u202egnp.exe":                    "usergnp.exe",
		"  space  ":                            "space",
		strings.Repeat("é", 500):               strings.Repeat("é", 200),
		"zero\u200bwidth\ufeff and \u2028line": "zerowidth and line",
	} {
		if got := screen.CleanTitle(in); got != want {
			t.Errorf("%q became %q", in, got)
		}
	}
}

// A question has an answer that its program can foresee, and never a text of the program's choice.
func TestQuestionsAreAnswered(t *testing.T) {
	for ask, want := range map[string]string{
		"\x1b[c":                           "\x1b[?1;2c",
		"\x1b[>c":                          "\x1b[>0;276;0c",
		"\x1b[5n":                          "\x1b[0n",
		"abc\x1b[6n":                       "\x1b[1;4R",
		"\x1b[?2004h\x1b[?2004$p":          "\x1b[?2004;1$y",
		"\x1b[?9999$p":                     "\x1b[?9999;0$y",
		"\x1bP$qm\x1b\\":                   "\x1bP1$r0m\x1b\\",
		"\x1bP$qevil\x1b\\":                "\x1bP0$r\x1b\\",
		"\x1b]0;rm -rf /\x07\x1b[21t":      "",
		"\x1b[20t":                         "",
		"\x1b]52;c;?\x07":                  "",
		"\x1b]11;?\x07":                    "",
		"\x1b]4;1;?\x07":                   "",
		"\x1b[=c":                          "",
		"\x1b_Gi=1,a=q;AAAA\x1b\\":         "",
		"\x05":                             "",
		"\x1b]50;?\x07":                    "",
		"\x1b]0;t\x07\x1bP+q544e\x1b\\ab ": "",
	} {
		s := screen.New(80, 24, 100, 1<<10)
		_, _ = s.Write([]byte(ask))
		if got := string(s.Notes().Reply); got != want {
			t.Errorf("%q is answered with %q", ask, got)
		}
	}
}

func TestNotesTellDirectoryAndMarks(t *testing.T) {
	s := screen.New(80, 24, 100, 1<<10)
	_, _ = s.Write([]byte("\x1b]7;file://box/here/a%20b\x1b\\\x1b]133;A\x07$ \x1b]133;B\x07ls\x1b]133;C\x07\x1b]133;D;130\x07\x07\x1b]2;title\x07"))
	n := s.Notes()
	if n.Dir != "/here/a b" || n.Host != "box" || n.Bells != 1 || n.Title != "title" {
		t.Errorf("%+v", n)
	}
	if len(n.Marks) != 4 || n.Marks[3] != (screen.Mark{Kind: screen.RunEnd, Code: 130}) {
		t.Errorf("%+v", n.Marks)
	}
	for _, bad := range []string{"http://x/y", "file://h/a%00b", "file://h/" + strings.Repeat("a", 9000), "/x", "file:x"} {
		_, _ = s.Write([]byte("\x1b]7;" + bad + "\x07"))
		if d := s.Notes().Dir; d != "" {
			t.Errorf("%.30q is the directory %.30q", bad, d)
		}
	}
}

func FuzzScreen(f *testing.F) {
	f.Add([]byte("a\x1b[31mb\r\n\x1b[?1049h\x1b[2;3Hx"), uint8(10), uint8(4))
	f.Add([]byte("👩‍👩‍👧\x1b]8;;http://x\x07y"), uint8(2), uint8(1))
	f.Fuzz(func(t *testing.T, data []byte, cols, rows uint8) {
		s := screen.New(int(cols), int(rows), 50, 4<<10)
		_, _ = s.Write(data)
		s.Resize(int(rows)+2, int(cols))
		_, _ = s.Write(data)
		again := screen.New(int(rows)+2, int(cols), 50, 4<<10)
		_, _ = again.Write(s.Snapshot(4 << 10))
		for _, r := range s.Notes().Title {
			if unicode.IsControl(r) {
				t.Errorf("a control in the title: %q", r)
			}
		}
	})
}
