package screen_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carrel/workspaces/terminal/screen"
)

// oracle is xterm.js without a display, in a process of node.
type oracle struct {
	t   *testing.T
	in  *bufio.Writer
	out *bufio.Scanner
}

func startOracle(t *testing.T) *oracle {
	t.Helper()
	page, err := filepath.Abs("../../../frontend")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(page, "node_modules/@xterm/headless")); err != nil {
		t.Fatalf("the oracle is not installed; run make setup: %v", err)
	}
	cmd := exec.CommandContext(t.Context(), "node", "testdata/oracle.mjs", page)
	cmd.Stderr = os.Stderr
	cmd.WaitDelay = time.Second
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	scan := bufio.NewScanner(out)
	scan.Buffer(nil, 64<<20)
	return &oracle{t, bufio.NewWriter(in), scan}
}

type oracleCase struct {
	Cols   int    `json:"cols"`
	Rows   int    `json:"rows"`
	Data   string `json:"data"`
	Resize []int  `json:"resize,omitempty"`
	Then   string `json:"then,omitempty"`
}

// ask tells what xterm.js shows after data.
func (o *oracle) ask(c oracleCase, data []byte) any {
	o.t.Helper()
	c.Data = base64.StdEncoding.EncodeToString(data)
	line, err := json.Marshal(c)
	if err != nil {
		o.t.Fatal(err)
	}
	_, _ = o.in.Write(append(line, '\n'))
	_ = o.in.Flush()
	if !o.out.Scan() {
		o.t.Fatalf("the oracle ended: %v", o.out.Err())
	}
	var v any
	if err := json.Unmarshal(o.out.Bytes(), &v); err != nil {
		o.t.Fatal(err)
	}
	return v
}

// restores checks that a snapshot after data shows what data itself shows. The data comes in pieces, and a
// snapshot in the middle must not disturb what follows it.
func (o *oracle) restores(cols, rows int, data []byte, cuts ...int) {
	o.t.Helper()
	want := o.ask(oracleCase{Cols: cols, Rows: rows}, data)
	for _, cut := range append(cuts, len(data)) {
		s := screen.New(cols, rows, 1000, 4<<20)
		_, _ = s.Write(data[:cut])
		shown := append(s.Snapshot(1<<20), data[cut:]...)
		if diff := cmp.Diff(want, o.ask(oracleCase{Cols: cols, Rows: rows}, shown)); diff != "" {
			o.t.Errorf("%dx%d %q, snapshot after %d bytes %q:\n%s", cols, rows, tail(data), cut, tail(shown), diff)
		}
	}
}

func tail(b []byte) []byte { return b[max(0, len(b)-2000):] }

func TestASnapshotShowsWhatXtermShows(t *testing.T) {
	o := startOracle(t)
	for name, text := range map[string]string{
		"plain":            "hello\r\nworld",
		"full line":        strings.Repeat("x", 20),
		"wrapped":          strings.Repeat("abcdefghij", 7) + "\r\nend",
		"scrolled":         string(numbers(100)),
		"scrolled wrapped": strings.Repeat("0123456789abcdefghijklmnopq\r\n", 30),
		"trailing spaces":  "a" + strings.Repeat(" ", 30) + "b\r\nc   \r\n",
		"colours":          "\x1b[1;31mred\x1b[0m \x1b[38;5;200mpink\x1b[48;2;1;2;3mrgb\x1b[m \x1b[4:3;58:2::9:8:7mcurl\x1b[m\x1b[7;9;53mx",
		"erase in colour":  "abc\x1b[44m\x1b[K\r\nx\x1b[2;3H\x1b[1J\x1b[41m\r\n\n\n\n\n\n\n",
		"wide":             "中文字符中文字符中文字符abc中",
		"wide at the edge": strings.Repeat("a", 19) + "中" + strings.Repeat("b", 17) + "字字",
		"wide halves":      "中中中\x1b[2Gx\x1b[5Gy\x1b[1;6H\x1b[P\x1b[1;1H\x1b[@",
		"clusters":         "|✅|❌|⏳|中|é|👩‍👩‍👧|\x1b[20G|", // O-TERM-05
		"combining":        "e\u0301\u0302o\u0308\r\na\u0301",
		"flags":            "🇩🇪🇫🇷 ❤️ ☎️ x",
		"alternate":        "shell$ vi\r\n\x1b[?1049h\x1b[2J\x1b[HVIM\x1b[5;5Htext\x1b[7m status \x1b[m",
		"alternate left":   "a\r\nb\x1b[?1049hxxx\x1b[?1049lc",
		"alternate 47":     "a\r\nb\x1b[?47hxxx",
		"alternate moved":  "one\x1b[31m\x1b[3;4H\x1b[?1049h\x1b[m\x1b[2;2Hx\x1b7\x1b[5;5Hy",
		"modes":            "\x1b[?1h\x1b[?2004h\x1b[?1002h\x1b[?1006h\x1b[?25l\x1b=\x1b[?1004h",
		"region":           "\x1b[3;6ra\r\nb\r\nc\r\nd\r\ne\r\nf\r\ng\r\nh",
		"region, origin":   "\x1b[3;6r\x1b[?6h\x1b[2;2Hx",
		"insert mode":      "abcdef\x1b[1;3H\x1b[4hXY",
		"no wrap":          "\x1b[?7l" + strings.Repeat("0123456789", 4),
		"line drawing":     "\x1b(0lqqk\r\nx  x\r\nmqqj\x1b(B ascii \x0eshift\x0f",
		"saved":            "ab\x1b[1;32m\x1b7cd\x1b[m\x1b[5;5Hxyz",
		"tabs":             "\x1b[3g\x1b[1;4H\x1bH\x1b[1;9H\x1bH\r\tx\ty",
		"pen":              "abc\x1b[1;4;35;46m",
		"edits":            "one\r\ntwo\r\nthree\x1b[2;2H\x1b[L\x1b[2P\x1b[3X\x1b[2M\x1b[S\x1b[T\x1bM\x1bD\x1bE",
		"repeat":           "ab\x1b[5bc中\x1b[2b",
		"marks of order":   "\x1b]0;t\x07a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\",
		"align":            "\x1b#8\x1b[3;3H",
		"soft reset":       "\x1b[3;5r\x1b[?25l\x1b[4h\x1b[31m\x1b[!pabc",
		"hard reset":       "abc\r\n\x1b[?1049h\x1b[31mdef\x1bcxyz",
		"clear":            string(numbers(30)) + "\x1b[H\x1b[2J\x1b[3Jnew",
	} {
		t.Run(name, func(t *testing.T) {
			o := &oracle{t, o.in, o.out}
			o.restores(20, 8, []byte(text), len(text)/3, len(text)/2)
		})
	}
}

func TestASnapshotInsideASequenceLosesNothing(t *testing.T) {
	o := startOracle(t)
	text := []byte("a\x1b[1;31mb\x1b]0;title\x07c中é👩‍👩‍👧\x1b[38;2;1;2;3md\x1bP$q m\x1b\\e\x1b(0q\x1b[?1049hx")
	cuts := []int{}
	for i := range text {
		if i > 0 && !bytes.HasSuffix(text[:i], []byte("中")) || i == 0 {
			cuts = append(cuts, i)
		}
	}
	o.restores(30, 5, text, cuts...)
}

func TestLinesAreBrokenAnewWhenTheSizeChanges(t *testing.T) {
	o := startOracle(t)
	long := strings.Repeat("abcdefghijklmnopqrstuvwxyz", 3)
	for _, size := range [][]int{{40, 8}, {13, 8}, {20, 4}, {20, 12}, {60, 20}, {7, 3}} {
		text := "one\r\n" + long + "\r\n中文字符中文字符中文\r\n" + string(numbers(12)) + "$ "
		s := screen.New(20, 8, 1000, 1<<20)
		_, _ = s.Write([]byte(text))
		s.Resize(size[0], size[1])
		got := lines(o.ask(oracleCase{Cols: size[0], Rows: size[1]}, s.Snapshot(1<<20)))
		want := lines(o.ask(oracleCase{Cols: 20, Rows: 8, Resize: size}, []byte(text)))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%v:\n%s", size, diff)
		}
	}
}

// lines are the texts of what the oracle shows.
func lines(v any) []string {
	var out []string
	for _, l := range v.(map[string]any)["active"].(map[string]any)["lines"].([]any) {
		out = append(out, l.(map[string]any)["text"].(string))
	}
	for len(out) > 0 && out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return append(out, fmt.Sprint(v.(map[string]any)["active"].(map[string]any)["x"]))
}
