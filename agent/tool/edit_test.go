package tool_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"testing"

	"carrel/workspaces/runtime"
)

func (d *desk) replace(file, old, text string) string {
	d.t.Helper()
	return d.ok("file_edit_replace_string", in{"path": file, "old_string": old, "new_string": text})
}

func (d *desk) lines(file string, first, last int, text ...string) string {
	d.t.Helper()
	return d.ok("file_edit_replace_lines", in{"path": file, "start_line": first, "end_line": last, "new_lines": append([]string{}, text...)})
}

// O-EDIT-01
func TestEditKeepsCRLFWithTextInLF(t *testing.T) {
	d := newDesk(t)
	d.write("f", "a\r\nb\r\nc\r\n")
	r := d.call("file_edit_replace_string", in{"path": "f", "old_string": "a\nb", "new_string": "a\nX\nb"})
	d.holds("f", "a\r\nX\r\nb\r\nc\r\n")
	if want := "@@ -1,3 +1,4 @@\n a\n+X\n b\n c\n"; r.Detail.Diff != want || r.Detail.Added != 1 || r.Detail.Removed != 0 {
		t.Errorf("diff is %q (+%d -%d)", r.Detail.Diff, r.Detail.Added, r.Detail.Removed)
	}
	d.replace("f", "X", "1\n2")
	d.replace("f", "b\r\nc", "b\r\nd")
	d.holds("f", "a\r\n1\r\n2\r\nb\r\nd\r\n")
	d.ok("file_edit_insert", in{"path": "f", "content": "\nnew", "insert_after": "1"})
	d.ok("file_edit_replace_lines", in{"path": "f", "start_line": 1, "end_line": 2, "new_lines": []string{"A", "B", "C"}, "expected_lines": []string{"a", "1"}})
	d.holds("f", "A\r\nB\r\nC\r\nnew\r\n2\r\nb\r\nd\r\n")
	d.write("mixed", "a\r\nb\nc\r\n")
	d.replace("mixed", "a\nb\nc\n", "a\nb\nd\n")
	d.holds("mixed", "a\r\nb\nd\r\n")
	d.write("lf", "a\nb\n")
	d.replace("lf", "a\r\nb", "a\r\nX\r\nb")
	d.holds("lf", "a\nX\nb\n")
}

// O-EDIT-03
func TestEditTakesNewTextLiterally(t *testing.T) {
	d := newDesk(t)
	text := "log(\"$& $$ $1 ${x} $' $` \\0 \\1 ok\");"
	d.write("f", "log(\"done\");\nlog(\"done\");\n")
	d.ok("file_edit_replace_string", in{"path": "f", "old_string": `log("done");`, "new_string": text, "replace_count": -1})
	d.holds("f", text+"\n"+text+"\n")
}

// O-EDIT-04
func TestEditKeepsOtherEncodings(t *testing.T) {
	d := newDesk(t)
	latin := "const x = 1;\n// caf\xE9\n"
	d.write("f", latin)
	d.replace("f", "x = 1", "x = 2")
	d.holds("f", "const x = 2;\n// caf\xE9\n")
	d.lines("f", 1, 1, "const x = 1;")
	d.holds("f", latin)
	d.fails("file_edit_replace_string", in{"path": "f", "old_string": "const", "new_string": "c\u00f6nst"}, "not valid UTF-8")
	d.fails("file_edit_replace_string", in{"path": "f", "old_string": "caf\uFFFD", "new_string": "tea"}, "U+FFFD")
	d.holds("f", latin)
	if got := d.ok("file_read", in{"path": "f"}); !strings.Contains(got, "2\t// caf\uFFFD\n") || !strings.Contains(got, "not UTF-8") {
		t.Errorf("read %q", got)
	}
	d.write("utf16", "\xff\xfea\x00")
	d.fails("file_edit_replace_string", in{"path": "utf16", "old_string": "a", "new_string": "b"}, "UTF-16")
	d.holds("utf16", "\xff\xfea\x00")
}

// O-EDIT-05
func TestEditLeavesTheByteOrderMark(t *testing.T) {
	d := newDesk(t)
	d.write("f", "\uFEFFa=1\n")
	if got := d.ok("file_read", in{"path": "f"}); strings.Contains(got, "\uFEFF") || !strings.HasPrefix(got, "1\ta=1\n") {
		t.Errorf("read %q", got)
	}
	d.replace("f", "a=1", "a=2")
	d.holds("f", "\uFEFFa=2\n")
	d.replace("f", "\uFEFFa=2\n", "\uFEFFa=3\n")
	d.ok("file_edit_insert", in{"path": "f", "content": "first\n", "insert_before": "a=3"})
	d.ok("file_edit_replace_lines", in{"path": "f", "start_line": 1, "end_line": 1, "new_lines": []string{"one"}, "expected_lines": []string{"first"}})
	d.holds("f", "\uFEFFone\na=3\n")
}

// O-EDIT-06
func TestEditNamesTheOddCharacter(t *testing.T) {
	d := newDesk(t)
	d.write("f", "x\nfoo\u00a0= 1\nsay \u201chi\u201d\n\tif  x {\n")
	d.fails("file_edit_replace_string", in{"path": "f", "old_string": "foo = 1", "new_string": "y"}, "U+00A0 (no-break space) at line 2, column 4")
	d.fails("file_edit_replace_string", in{"path": "f", "old_string": `say "hi"`, "new_string": "y"}, "U+201C", "line 3, column 5")
	d.fails("file_edit_replace_string", in{"path": "f", "old_string": "if x {", "new_string": "y"}, "white space", "4\t\tif  x {")
	d.fails("file_edit_replace_string", in{"path": "f", "old_string": "1\tx", "new_string": "y"}, "line numbers")
	d.fails("file_edit_insert", in{"path": "f", "insert_after": "x\nfoo\u00a0= 2", "content": "y"}, "first 1 lines match from line 1")
	d.fails("file_edit_replace_string", in{"path": "f", "old_string": "nowhere", "new_string": "y"}, "not found")
}

// O-EDIT-07
func TestEditKeepsModesAndLinks(t *testing.T) {
	d := newDesk(t)
	d.write("run.sh", "a\n")
	d.write(".env", "a\n")
	err := errors.Join(os.Chmod(d.path("run.sh"), 0o755), os.Chmod(d.path(".env"), 0o600), os.Symlink("run.sh", d.path("link")))
	if err != nil {
		t.Fatal(err)
	}
	d.replace("link", "a", "b")
	d.replace(".env", "a", "b")
	d.holds("run.sh", "b\n")
	for name, want := range map[string]fs.FileMode{"run.sh": 0o755, ".env": 0o600, "link": fs.ModeSymlink} {
		info, err := os.Lstat(d.path(name))
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode(); got != want && got.Type() != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}

// racing lets another program change a file right after it was opened.
type racing struct {
	runtime.Runtime
	files racingFiles
}

func (r racing) Files() runtime.Files { return r.files }

type racingFiles struct {
	runtime.Files
	meanwhile func()
}

func (r racingFiles) Open(ctx context.Context, path string) (io.ReadCloser, fs.FileInfo, error) {
	file, info, err := r.Files.Open(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	data, err := io.ReadAll(file)
	r.meanwhile()
	return io.NopCloser(bytes.NewReader(data)), info, errors.Join(err, file.Close())
}

// O-EDIT-08
func TestEditSeesAChangeByOthers(t *testing.T) {
	d := newDesk(t)
	d.write("f", "1\n2\n3\n")
	d.ok("file_read", in{"path": "f"})
	d.write("f", "0\n1\n2\n3\n")
	d.fails("file_edit_replace_lines", in{"path": "f", "start_line": 2, "end_line": 2, "new_lines": []string{"two"}, "expected_lines": []string{"2"}},
		"line 2 of f is not as expected", "2\t1")
	d.replace("f", "3", "three")
	d.replace("f", "three", "four")
	d.holds("f", "0\n1\n2\nfour\n")

	times := 0
	inner := d.env.Runtime
	d.env.Runtime = racing{Runtime: inner, files: racingFiles{Files: inner.Files(), meanwhile: func() {
		if times++; times == 1 {
			d.write("f", "other\n1\n2\nfour\n")
		}
	}}}
	d.replace("f", "four", "4")
	d.holds("f", "other\n1\n2\n4\n")
	times = 0
	d.fails("file_edit_replace_lines", in{"path": "f", "start_line": 1, "end_line": 1, "new_lines": []string{"lost"}}, "changed since it was read")
	d.holds("f", "other\n1\n2\nfour\n")
}

// O-EDIT-11
func TestEditChangesOnlyTheRequestedBytes(t *testing.T) {
	d := newDesk(t)
	for _, file := range []struct{ before, after string }{
		{"alpha\nbeta\n\n", "alpha\ngamma\n\n"},
		{"alpha\nbeta", "alpha\ngamma"},
		{"alpha\r\nbeta\r\n\r\n", "alpha\r\ngamma\r\n\r\n"},
		{"alpha\r\nbeta", "alpha\r\ngamma"},
	} {
		d.write("f", file.before)
		d.replace("f", "alpha\nbeta", "alpha\ngamma")
		d.holds("f", file.after)
		d.write("f", file.before)
		d.lines("f", 2, 2, "gamma")
		d.holds("f", file.after)
	}
	d.write("empty", "")
	d.fails("file_edit_replace_string", in{"path": "empty", "old_string": "a", "new_string": "b"}, "empty")
	d.fails("file_edit_replace_lines", in{"path": "empty", "start_line": 1, "end_line": 1, "new_lines": []string{"b"}}, "0 lines")
	d.ok("file_edit_insert", in{"path": "empty", "content": "b"})
	d.holds("empty", "b")
	d.write("f", "1\n2\n3")
	d.lines("f", 2, 2)
	d.holds("f", "1\n3")
}

// O-EDIT-13
func TestReplaceAllFindsPlacesThatDoNotOverlap(t *testing.T) {
	d := newDesk(t)
	d.write("f", "aaaa")
	if got := d.ok("file_edit_replace_string", in{"path": "f", "old_string": "aa", "new_string": "b", "replace_count": -1}); !strings.Contains(got, "Replaced 2 places") {
		t.Errorf("got %q", got)
	}
	d.holds("f", "bb")
	d.write("f", "x)\n x)\n x)\n")
	d.fails("file_edit_replace_string", in{"path": "f", "old_string": "x)\nx)", "new_string": "y", "replace_count": -1}, "not found")
	d.holds("f", "x)\n x)\n x)\n")
	d.write("f", "a a a")
	d.fails("file_edit_replace_string", in{"path": "f", "old_string": "a", "new_string": "b"}, "3 times", "lines 1, 1, 1")
	d.fails("file_edit_replace_string", in{"path": "f", "old_string": "a", "new_string": "b", "replace_count": 4}, "only 3 times")
	d.fails("file_edit_replace_string", in{"path": "f", "old_string": "a", "new_string": "b", "replace_count": 0}, "replace_count")
	d.ok("file_edit_replace_string", in{"path": "f", "old_string": "a", "new_string": "b", "replace_count": 2})
	d.holds("f", "b b a")
}

func TestInsertMakesNewFilesAndNeedsAnAnchorInOthers(t *testing.T) {
	d := newDesk(t)
	r := d.call("file_edit_insert", in{"path": "new/dir/f", "content": "a\nb"})
	d.holds("new/dir/f", "a\nb")
	if r.IsError || r.Detail.Added != 2 || !strings.Contains(r.Detail.Diff, "+a\n+b") {
		t.Errorf("got %+v", r)
	}
	d.fails("file_edit_insert", in{"path": "new/dir/f", "content": "x"}, "insert_after or insert_before")
	d.fails("file_edit_insert", in{"path": "new/dir/f", "content": "x", "insert_after": "a", "insert_before": "b"}, "not both")
	d.fails("file_edit_insert", in{"path": "none", "content": "x", "insert_after": "a"}, "no file none")
	d.ok("file_edit_insert", in{"path": "new/dir/f", "content": "-", "insert_before": "b"})
	d.holds("new/dir/f", "a\n-b")
}

func TestEditReportsWhatTheFileHasNow(t *testing.T) {
	d := newDesk(t)
	d.write("f", strings.Repeat("line\n", 50)+"old\n"+strings.Repeat("line\n", 50))
	if got := d.replace("f", "old", "new"); got != "Replaced 1 place in f (+1 -1). It now reads:\n49\tline\n50\tline\n51\tnew\n52\tline\n53\tline" {
		t.Errorf("got %q", got)
	}
	r := d.call("file_edit_replace_string", in{"path": "f", "old_string": "line", "new_string": strings.Repeat("long", 1000), "replace_count": -1})
	if len(r.Detail.Diff) > 64<<10 || r.Detail.Added != 100 || !strings.Contains(r.Detail.Diff, "not shown") || len(text(r)) > 16<<10 {
		t.Errorf("diff has %d bytes (+%d), text %d", len(r.Detail.Diff), r.Detail.Added, len(text(r)))
	}
}
