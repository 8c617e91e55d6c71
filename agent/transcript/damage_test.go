package transcript_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"carrel/agent/model"
	"carrel/agent/transcript"
)

// filled makes a folder with a log of n turns and gives the messages in it.
func filled(t testing.TB, n int) (string, []string) {
	t.Helper()
	dir := t.TempDir()
	l := open(t, dir)
	fill(t, l, n)
	want := texts(t, l)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return dir, want
}

func sidecars(t testing.TB, dir string) []string {
	t.Helper()
	m, err := filepath.Glob(filepath.Join(dir, "transcript.torn-*"))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestTornTailIsKeptAsideAndTheNextMessageStays(t *testing.T) { // O-DATA-01
	for _, tail := range []string{
		`{"type":"mess`, "{\"type\":\"mess\n\n", "{\"seq\":501,\"ti", strings.Repeat("\x00", 5000),
		"{\"seq\":501,\"time\":\"2026-01-01T00:00:00Z\",\"kind\":\"user\",\x00\x00\x00\x00\n", "\xff\xfe",
	} {
		t.Run(fmt.Sprintf("%.20q", tail), func(t *testing.T) {
			dir, want := filled(t, 100)
			intact := readLog(t, dir)
			writeLog(t, dir, intact+tail)
			l := open(t, dir)
			if diff := cmp.Diff(want, texts(t, l)); diff != "" {
				t.Error(diff)
			}
			if kept, err := os.ReadFile(l.State().Torn); err != nil || string(kept) != tail {
				t.Errorf("kept %q, %v", kept, err)
			}
			turn(t, l, 100)
			_ = l.Close()
			if now := readLog(t, dir); !strings.HasPrefix(now, intact) || strings.Contains(now[len(intact):], "mess\n") {
				t.Error("what was there before was changed, or the tail is still there")
			}
			l = open(t, dir)
			if got := texts(t, l); len(got) != 202 || l.State().Torn != "" || l.State().Damaged != 0 {
				t.Errorf("%d messages, state %+v", len(got), l.State())
			}
			if n := len(sidecars(t, dir)); n != 1 {
				t.Errorf("%d files kept aside", n)
			}
		})
	}
}

func TestATailTornAtAnyByteLosesOnlyItsRecord(t *testing.T) { // O-DATA-01
	dir, _ := filled(t, 3)
	whole := readLog(t, dir)
	last := strings.LastIndex(strings.TrimSuffix(whole, "\n"), "\n") + 1
	for cut := last; cut <= len(whole); cut++ {
		dir := t.TempDir()
		writeLog(t, dir, whole[:cut])
		l := open(t, dir)
		want := uint64(14)
		if cut >= len(whole)-1 { // only the newline is missing
			want = 15
		}
		if got := l.State().LastSeq; got != want {
			t.Fatalf("cut at %d: last seq %d, want %d", cut-last, got, want)
		}
		r := add(t, l, transcript.Record{Kind: transcript.Note, Note: "after"})
		_ = l.Close()
		l = open(t, dir)
		page, _, err := l.Before(0, 1)
		if err != nil || r.Seq != want+1 || len(page) != 1 || page[0].Note != "after" || l.State().Damaged != 0 {
			t.Fatalf("cut at %d: %+v, %v, damaged %d", cut-last, page, err, l.State().Damaged)
		}
		_ = l.Close()
	}
}

func TestBadLinesInTheMiddleAreSkippedAndCounted(t *testing.T) { // O-DATA-02
	dir, want := filled(t, 60)
	lines := strings.SplitAfter(readLog(t, dir), "\n")
	// Line 120 is half an object directly followed by the whole one; line 200 is an empty list.
	lines[119] = lines[119][:len(lines[119])/2] + lines[119]
	lines[199] = "[]\n" + lines[199]
	lines[209] = strings.TrimSuffix(lines[209], "\n") + lines[210]
	lines[210] = ""
	lines[219] = "\x00\x00\x00" + lines[219]
	writeLog(t, dir, strings.Join(lines, ""))
	for range 2 { // rebuilt, then from the index
		l := open(t, dir)
		if diff := cmp.Diff(want, texts(t, l)); diff != "" {
			t.Error(diff)
		}
		if got := l.State().Damaged; got != 4 {
			t.Errorf("%d damaged lines, want 4", got)
		}
		page, _, err := l.Before(0, 1000)
		if err != nil || len(page) != 300 {
			t.Errorf("%d records shown, %v", len(page), err)
		}
		_ = l.Close()
	}
	if got := readLog(t, dir); got != strings.Join(lines, "") {
		t.Error("the log was rewritten")
	}
}

func TestALostLineTakesOnlyItselfAlong(t *testing.T) { // O-DATA-02
	dir, want := filled(t, 60)
	lines := strings.SplitAfter(readLog(t, dir), "\n")
	lines[100] = lines[100][:40] + "\n" // the question of turn 20
	writeLog(t, dir, strings.Join(lines, ""))
	l := open(t, dir)
	if diff := cmp.Diff(slices.Delete(slices.Clone(want), 40, 41), texts(t, l)); diff != "" {
		t.Error(diff)
	}
	if got := l.State().Damaged; got != 1 {
		t.Errorf("%d damaged", got)
	}
}

func TestWhatANewerVersionWroteSurvives(t *testing.T) {
	dir, want := filled(t, 2)
	newer := `{"seq":11,"time":"2030-01-01T00:00:00Z","kind":"hologram","depth":3}` + "\n" +
		`{"seq":12,"time":"2030-01-01T00:00:00Z","kind":"note","note":"hi","colour":"red"}` + "\n"
	writeLog(t, dir, readLog(t, dir)+newer)
	l := open(t, dir)
	turn(t, l, 2)
	if got := texts(t, l); len(got) != len(want)+2 || l.State().Damaged != 0 || l.State().LastSeq != 17 {
		t.Errorf("%d messages, %+v", len(got), l.State())
	}
	if !strings.Contains(readLog(t, dir), newer) {
		t.Error("the newer lines are gone")
	}
	page, _, err := l.Before(13, 2)
	if err != nil || page[0].Seq != 10 || page[1].Note != "hi" {
		t.Errorf("%+v, %v", page, err)
	}
}

func TestALineOver32MiBIsSkippedAndNeverWritten(t *testing.T) {
	dir, want := filled(t, 2)
	lines := strings.SplitAfter(readLog(t, dir), "\n")
	huge := `{"seq":6,"kind":"note","note":"` + strings.Repeat("x", 33<<20) + "\"}\n"
	lines[5] = huge + lines[5]
	writeLog(t, dir, strings.Join(lines, ""))
	l := open(t, dir)
	if diff := cmp.Diff(want, texts(t, l)); diff != "" || l.State().Damaged != 1 {
		t.Errorf("damaged %d: %s", l.State().Damaged, diff)
	}
	_, err := l.Append(transcript.Record{Kind: transcript.Note, Note: strings.Repeat("x", 33<<20)})
	if !errors.Is(err, transcript.ErrTooLarge) {
		t.Errorf("append: %v", err)
	}
	turn(t, l, 2)
	if got := len(texts(t, l)); got != 6 {
		t.Errorf("%d messages", got)
	}
}

func TestAnyDamageToTheIndexOnlyCostsTime(t *testing.T) {
	flip := func(name string, at int) func(testing.TB, string) {
		return func(t testing.TB, dir string) {
			path := filepath.Join(dir, name)
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if at < 0 {
				at += len(b)
			}
			b[at] ^= 0xff
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	cut := func(name string, to int64) func(testing.TB, string) {
		return func(t testing.TB, dir string) {
			if err := os.Truncate(filepath.Join(dir, name), to); err != nil {
				t.Fatal(err)
			}
		}
	}
	remove := func(name string) func(testing.TB, string) {
		return func(t testing.TB, dir string) {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, harm := range map[string]func(testing.TB, string){
		"index missing": remove("index"), "fold missing": remove("fold"),
		"index empty": cut("index", 0), "index short": cut("index", 31), "index odd": cut("index", 32*400+5),
		"fold empty": cut("fold", 0), "fold short": cut("fold", 100),
		"index start wrong": flip("index", 3), "index middle wrong": flip("index", 32*250+9), "index end wrong": flip("index", -5),
		"fold sum wrong": flip("fold", 2), "fold body wrong": flip("fold", 60),
	} {
		t.Run(name, func(t *testing.T) {
			dir, want := filled(t, 100)
			harm(t, dir)
			r, err := transcript.OpenReader(dir)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, texts(t, r)); diff != "" {
				t.Error("reader: ", diff)
			}
			_ = r.Close()
			l := open(t, dir)
			if page, _, err := l.Before(252, 2); err != nil || len(page) != 2 || page[1].Seq != 251 {
				t.Errorf("page %+v, %v", page, err)
			}
			turn(t, l, 100)
			if got := texts(t, l); len(got) != 202 || l.State().Damaged != 0 {
				t.Errorf("%d messages, damaged %d", len(got), l.State().Damaged)
			}
		})
	}
}

func TestAnIndexOfAnotherLogIsNotBelieved(t *testing.T) {
	dir, _ := filled(t, 50)
	other, want := filled(t, 20)
	writeLog(t, dir, readLog(t, other)) // shorter, such as from a backup
	l := open(t, dir)
	if diff := cmp.Diff(want, texts(t, l)); diff != "" {
		t.Error(diff)
	}
}

func TestAnIndexOlderThanTheLogIsBroughtUpToDate(t *testing.T) {
	dir, _ := filled(t, 20)
	old := map[string][]byte{}
	for _, name := range []string{"index", "fold"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		old[name] = b
	}
	l := open(t, dir)
	for i := range 5 {
		turn(t, l, 20+i)
	}
	want := texts(t, l)
	_ = l.Close()
	for name, b := range old {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l = open(t, dir)
	if diff := cmp.Diff(want, texts(t, l)); diff != "" || l.State().LastSeq != 125 {
		t.Error(l.State().LastSeq, diff)
	}
}

func TestBlobsAreKeptOnceAndCheckedWhenRead(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	data := bytes.Repeat([]byte{0, 1, 2}, 1000)
	hash, err := l.PutBlob(data, "image/png")
	if err != nil {
		t.Fatal(err)
	}
	if again, err := l.PutBlob(data, "image/png"); err != nil || again != hash {
		t.Errorf("again: %q, %v", again, err)
	}
	if got, err := l.Blob(hash); err != nil || !bytes.Equal(got, data) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	files, err := os.ReadDir(filepath.Join(dir, "blobs"))
	if err != nil || len(files) != 1 {
		t.Errorf("%d files, %v", len(files), err)
	}
	if err := os.WriteFile(filepath.Join(dir, "blobs", hash), data[1:], 0o600); err != nil {
		t.Fatal(err)
	}
	for _, h := range []string{hash, strings.Repeat("0", 64), "../../../etc/passwd", ""} {
		if _, err := l.Blob(h); !errors.Is(err, transcript.ErrNoBlob) {
			t.Errorf("blob %q: %v", h, err)
		}
	}
	if _, err := l.PutBlob(data, ""); err != nil {
		t.Fatal(err)
	}
	if got, err := l.Blob(hash); err != nil || !bytes.Equal(got, data) {
		t.Errorf("after putting it again: %d bytes, %v", len(got), err)
	}
}

func FuzzAnyLogOpensAndTakesAMessage(f *testing.F) {
	dir, _ := filled(f, 1)
	whole := readLog(f, dir)
	f.Add([]byte(whole))
	f.Add([]byte(whole[:200] + whole[100:]))
	f.Add([]byte("{\"seq\":1,\"kind\":\"partial\",\"message\":{},\"parts\":-1,\"delta\":[{\"i\":-1}]}\n[]\n\x00{\"seq\":2,\"kind\":\"note\"}"))
	f.Add([]byte(whole + "{\"seq\":6,\"kind\":\"edit\",\"from\":3}\n{\"seq\":7,\"kind\":\"user\",\"from\":2,\"message\":{}}\n{\"seq\":8,\"kind\":\"boundary\",\"border\":\"clear\"}\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := t.TempDir()
		writeLog(t, dir, string(b))
		l := open(t, dir)
		before := texts(t, l)
		add(t, l, transcript.Record{Kind: transcript.User, Message: say(model.User, "last")})
		_ = l.Close()
		l = open(t, dir)
		after := texts(t, l)
		if len(after) < 1 || after[len(after)-1] != "user: last" || len(after) < len(before)+1 {
			t.Errorf("before %q, after %q", before, after)
		}
		page, _, err := l.Before(0, 1000)
		if err != nil || page[len(page)-1].Message == nil {
			t.Errorf("page of %d, %v", len(page), err)
		}
	})
}
