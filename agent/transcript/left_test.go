package transcript_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"carrel/agent/model"
	"carrel/agent/transcript"
)

// left gives the texts of the messages that an edit left, read one record at a time.
func left(t *testing.T, l *transcript.Log, edit uint64) []string {
	t.Helper()
	var out []string
	for after, more := uint64(0), true; more; {
		var recs []transcript.Record
		var err error
		if recs, more, err = l.Left(edit, after, 1); err != nil {
			t.Fatal(err)
		}
		for _, r := range recs {
			after = r.Seq
			if r.Message != nil {
				out = append(out, r.Message.Parts[0].Text)
			}
		}
	}
	return out
}

func TestWhatAnEditLeftCanBeLookedAt(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	fill(t, l, 3)
	second := uint64(6) // of the second turn's message
	e1 := add(t, l, transcript.Record{Kind: transcript.Edit, From: second})
	turn(t, l, 10)
	e2 := add(t, l, transcript.Record{Kind: transcript.User, Turn: "again", From: second - 5, Message: say(model.User, "anew")})
	for range 2 {
		if diff := cmp.Diff([]string{"user: anew"}, texts(t, l)); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"question 1", "answer 1", "question 2", "answer 2"}, left(t, l, e1.Seq)); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"question 0", "answer 0", "question 10", "answer 10"}, left(t, l, e2.Seq)); diff != "" {
			t.Error(diff)
		}
		for _, none := range []uint64{0, 2, e1.Seq + 1, e2.Seq + 1, e2.Seq + 100} {
			if _, _, err := l.Left(none, 0, 9); !errors.Is(err, transcript.ErrNotEdit) {
				t.Errorf("record %d left something: %v", none, err)
			}
		}
		_ = l.Close()
		l = open(t, dir)
	}
}

func TestACopyHoldsTheClosedTurnsAndGoesItsOwnWay(t *testing.T) {
	from := t.TempDir()
	l := open(t, from)
	fill(t, l, 2)
	hash, err := l.PutBlob([]byte("a picture"), "image/png")
	if err != nil {
		t.Fatal(err)
	}
	add(t, l, transcript.Record{Kind: transcript.Edit, From: 6})
	turn(t, l, 5)
	add(t, l, transcript.Record{Kind: transcript.Note, Note: "between turns"})
	want := texts(t, l)
	add(t, l, transcript.Record{Kind: transcript.User, Turn: "open", Message: say(model.User, "not answered yet")})
	add(t, l, transcript.Record{Kind: transcript.TurnStart, Turn: "open"})
	to := filepath.Join(t.TempDir(), "fork")
	if err := transcript.Copy(l, to); err != nil {
		t.Fatal(err)
	}
	if err := transcript.Copy(l, to); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a copy over a log: %v", err)
	}
	c := open(t, to)
	if diff := cmp.Diff(want, texts(t, c)); diff != "" {
		t.Error(diff)
	}
	if data, err := c.Blob(hash); err != nil || string(data) != "a picture" {
		t.Errorf("%q, %v", data, err)
	}
	if st := c.State(); st.Turn != "" || st.Unanswered != "" || st.Damaged != 0 || st.Torn != "" {
		t.Errorf("%+v", st)
	}
	add(t, c, transcript.Record{Kind: transcript.Boundary, Border: transcript.Fork, Note: "from elsewhere"})
	turn(t, c, 7)
	if got := texts(t, c); len(got) != len(want)+2 {
		t.Errorf("%q", got)
	}
	if st := l.State(); st.Turn != "open" {
		t.Errorf("the origin changed: %+v", st)
	}
}

func TestACopyOfNothingIsAnEmptyLog(t *testing.T) {
	l, err := transcript.OpenReader(filepath.Join(t.TempDir(), "none"))
	if err != nil {
		t.Fatal(err)
	}
	to := t.TempDir()
	if err := transcript.Copy(l, to); err != nil {
		t.Fatal(err)
	}
	if st := open(t, to).State(); st.LastSeq != 0 {
		t.Errorf("%+v", st)
	}
}

func TestBordersStartTheHistoryAfreshAndClearHidesWhatIsBefore(t *testing.T) {
	for border, want := range map[transcript.Border]struct{ history, pages int }{
		transcript.Clear: {2, 6}, transcript.Reset: {2, 21}, transcript.Compaction: {2, 21}, transcript.Fork: {8, 21}, "of a newer version": {8, 21},
	} {
		dir := t.TempDir()
		l := open(t, dir)
		fill(t, l, 3)
		add(t, l, transcript.Record{Kind: transcript.Boundary, Border: border})
		turn(t, l, 9)
		for range 2 {
			recs, more, err := l.Before(0, 1000)
			if err != nil || more {
				t.Fatal(more, err)
			}
			since, err := l.Since(3)
			if err != nil {
				t.Fatal(err)
			}
			if got := len(texts(t, l)); got != want.history || len(recs) != want.pages || len(since) != min(want.pages, 18) {
				t.Errorf("%s: %d messages, %d and %d records, want %+v", border, got, len(recs), len(since), want)
			}
			if border == transcript.Clear {
				if recs, more, err := l.Before(6, 10); len(recs) > 0 || more || err != nil {
					t.Errorf("before the border: %v, %v, %v", recs, more, err)
				}
			}
			_ = l.Close()
			_ = os.Remove(filepath.Join(dir, "fold"))
			l = open(t, dir)
		}
	}
}

func TestLeftRecordsCostNothingToPageOver(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	fill(t, l, 2)
	for n := range 30 {
		turn(t, l, 100+n)
	}
	add(t, l, transcript.Record{Kind: transcript.Edit, From: 11})
	_ = l.Close()
	info, err := os.Stat(filepath.Join(dir, "index"))
	if err != nil {
		t.Fatal(err)
	}
	if entries := info.Size() / 32; entries != 11 {
		t.Errorf("the index has %d entries, want the 10 of two turns and the edit's", entries)
	}
	if recs, more, err := open(t, dir).Before(0, 11); err != nil || more || recs[0].Seq != 1 {
		t.Error(fmt.Sprint(len(recs)), more, err)
	}
}
