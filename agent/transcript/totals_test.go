package transcript_test

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"carrel/agent/model"
	"carrel/agent/transcript"
)

// hugeLog is a log of about so many bytes, as others could have written it: without index, in lines of
// 64 KiB, each message with 7 tokens in and 2 out. It gives the number of messages.
func hugeLog(t testing.TB, dir string, size int64) int {
	t.Helper()
	f, err := os.Create(logPath(dir))
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	text := strings.Repeat("a line of a long answer\\n", (64<<10)/25)
	now := time.Now().UTC().Format(time.RFC3339Nano)
	n := 0
	for written := int64(0); written < size; n++ {
		k, err := fmt.Fprintf(w, `{"seq":%d,"time":%q,"kind":"assistant","turn":"t","step":1,"message":{"role":"assistant","parts":[{"kind":"text","text":"%s"}],"usage":{"input":7,"output":2}}}`+"\n", n+1, now, text)
		if err != nil {
			t.Fatal(err)
		}
		written += int64(k)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestTotalsOfAHugeSessionAreRightAndReadAsAStream(t *testing.T) { // O-DATA-05
	dir := t.TempDir()
	n := hugeLog(t, dir, 64<<20)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for name, open := range map[string]func(string) (*transcript.Log, error){"a reader": transcript.OpenReader, "the writer": transcript.Open} {
		l, err := open(dir)
		if err != nil {
			t.Fatal(err)
		}
		st := l.State()
		if want := (model.Usage{Input: int64(7 * n), Output: int64(2 * n)}); st.Usage != want || st.Messages != n || st.Damaged != 0 {
			t.Errorf("%s found %+v in %d messages, %d damaged; want %+v in %d", name, st.Usage, st.Messages, st.Damaged, want, n)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapSys) - int64(before.HeapSys); grown > 32<<20 {
		t.Errorf("reading 64 MiB took %d MiB of memory", grown>>20)
	}
}

func TestTotalsCountWhatFollowsAHole(t *testing.T) { // O-DATA-05
	dir := t.TempDir()
	l := open(t, dir)
	m := say(model.Assistant, "x")
	m.Usage = model.Usage{Input: 5, Output: 1}
	add(t, l, transcript.Record{Kind: transcript.Assistant, Message: m})
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	// A power cut can leave zeros where the file had grown and its content had not come; here more of
	// them than fit in a string elsewhere.
	log := readLog(t, dir)
	f, err := os.OpenFile(logPath(dir), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	second := strings.Replace(log, `{"seq":1,`, `{"seq":2,`, 1)
	if _, err := f.WriteAt([]byte("\n"+second), 600<<20); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"index", "fold"} {
		if err := os.Remove(dir + "/" + name); err != nil {
			t.Fatal(err)
		}
	}
	l = open(t, dir)
	if st := l.State(); st.Usage != (model.Usage{Input: 10, Output: 2}) || st.Messages != 2 || st.Damaged != 1 {
		t.Errorf("%+v", st)
	}
	if r := add(t, l, transcript.Record{Kind: transcript.Note, Note: "on"}); r.Seq != 3 {
		t.Errorf("goes on at %d", r.Seq)
	}
}
