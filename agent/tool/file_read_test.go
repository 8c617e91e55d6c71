package tool_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"carrel/agent/tool"
	"carrel/workspaces/runtime"
)

func TestReadNumbersLinesAndSaysHowToGoOn(t *testing.T) {
	d := newDesk(t)
	d.write("f", strings.Repeat("text\n", 5000)+"last")
	r := d.call("file_read", in{"path": "f"})
	if got := text(r); !strings.HasPrefix(got, "1\ttext\n2\ttext\n") || !strings.HasSuffix(got, "[lines 1-2000 of 5001, 25004 bytes; go on with offset 2001]") {
		t.Errorf("got ...%q", got[len(got)-100:])
	}
	if d := r.Detail; d.FirstLine != 1 || d.LastLine != 2000 || d.TotalLines != 5001 {
		t.Errorf("got %+v", d)
	}
	if got := d.ok("file_read", in{"path": d.path("f"), "offset": 5001, "limit": 10}); got != "5001\tlast\n[lines 5001-5001 of 5001, 25004 bytes; no line end at the end of the file]" {
		t.Errorf("got %q", got)
	}
	d.fails("file_read", in{"path": "f", "offset": 5002}, "there is no line 5002")
	d.fails("file_read", in{"path": "f", "offset": 0}, "1 or more")
	d.fails("file_read", in{"path": "f", "offset": 1.5}, "whole number")
	d.write("wide", strings.Repeat(strings.Repeat("x", 1000)+"\r\n", 200))
	if got := d.ok("file_read", in{"path": "wide"}); len(got) > 66<<10 || !strings.Contains(got, "CRLF") || !strings.Contains(got, "go on with offset 66]") {
		t.Errorf("%d bytes, ...%q", len(got), got[len(got)-100:])
	}
	d.write("empty", "")
	if got := d.ok("file_read", in{"path": "empty"}); got != "[empty is empty]" {
		t.Errorf("got %q", got)
	}
}

// O-EDIT-10
func TestReadOfOneVeryLongLineMakesProgress(t *testing.T) {
	d := newDesk(t)
	line := strings.Repeat("0123456789\u00e4", 2<<20/12)
	d.write("min.js", line)
	got := d.ok("file_read", in{"path": "min.js"})
	shown, _, _ := strings.Cut(strings.TrimPrefix(got, "1\t"), "\n")
	if len(got) > 10<<10 || !utf8.ValidString(got) || !strings.Contains(got, "line 1 clipped: ") || !strings.Contains(got, "of its 2097144 bytes") {
		t.Fatalf("%d bytes: ...%q", len(got), got[len(got)-200:])
	}
	hint := regexp.MustCompile(`bash: (tail -c \+(\d+) \S+ \| head -c 8192)`).FindStringSubmatch(got)
	if hint == nil || !strings.HasPrefix(line, shown) {
		t.Fatalf("no hint in %q", got[len(got)-200:])
	}
	for range 3 {
		piece := d.bash(hint[1])
		piece = strings.TrimSuffix(piece, "\n")
		if len(piece) < 8000 || !strings.Contains(line, strings.Trim(piece, "\uFFFD")) || !utf8.ValidString(piece) {
			t.Fatalf("piece of %d bytes", len(piece))
		}
		shown += piece
		hint[1] = strings.Replace(hint[1], "+", "+1", 1) // far ahead
	}
	d.write("mid", "a\n"+line+"\nb\n")
	if got := d.ok("file_read", in{"path": "mid"}); !strings.Contains(got, "\n3\tb\n") || !strings.Contains(got, "line 2 clipped") {
		t.Errorf("got ...%q", got[len(got)-200:])
	}
}

func TestReadExplainsWhatIsNoText(t *testing.T) {
	d := newDesk(t)
	d.write("dir/f", "x")
	d.write("a.png", "\x89PNG\r\n\x1a\n\x00\x00")
	d.fails("file_read", in{"path": "dir"}, "dir is a folder")
	d.fails("file_read", in{"path": "a.png"}, "binary file (image/png, 10 bytes)")
	d.fails("file_read", in{"path": "none"}, "no file none")
	d.fails("file_read", in{"path": "dir/f/x"}, "failed")
}

// O-TRUST-02
func TestFileToolsDoNotFollowLinksOut(t *testing.T) {
	d := newDesk(t)
	out := t.TempDir()
	if err := os.WriteFile(filepath.Join(out, "secret"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"out": out, "f": out + "/secret", "dang": out + "/new"} {
		if err := os.Symlink(target, d.path(name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{"out/secret", "f", "dang", "../" + filepath.Base(out) + "/secret", out + "/secret"} {
		d.fails("file_read", in{"path": path}, "outside this workspace")
		d.fails("file_edit_replace_string", in{"path": path, "old_string": "secret", "new_string": "x"}, "outside this workspace")
		d.fails("file_edit_replace_lines", in{"path": path, "start_line": 1, "end_line": 1, "new_lines": []string{"x"}}, "outside this workspace")
		d.fails("file_edit_insert", in{"path": path, "content": "x"}, "outside this workspace")
	}
	entries, err := os.ReadDir(out)
	data, err2 := os.ReadFile(filepath.Join(out, "secret"))
	if err != nil || err2 != nil || len(entries) != 1 || string(data) != "secret" {
		t.Errorf("outside changed: %v %q", entries, data)
	}
}

// O-GIT-17
func TestPathOfTheMainCheckoutIsNamedAsSuch(t *testing.T) {
	main := t.TempDir()
	d := newDesk(t)
	git := exec.Command("bash", "-c", `git init -q . && echo x >f.txt && git add . && git -c user.name=a -c user.email=a@b.c commit -qm x && git worktree add -q "$0/w1"`, d.dir)
	git.Dir, git.Env = main, append(os.Environ(), "HOME="+main, "GIT_CONFIG_NOSYSTEM=1")
	if out, err := git.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	rt, err := runtime.NewLocal(runtime.Worktree, d.path("w1"), runtime.Options{})
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Dir(d.dir)
	d.env.Runtime = rt
	want := "is in the main checkout of the project; you work in the worktree " + rt.Dir() + ". The path there is " + rt.Dir()
	d.fails("file_edit_replace_string", in{"path": main + "/f.txt", "old_string": "x", "new_string": "y"}, want+"/f.txt")
	d.fails("file_edit_insert", in{"path": main + "/sub/new.txt", "content": "y"}, want+"/sub/new.txt")
	d.fails("file_edit_replace_lines", in{"path": main + "/f.txt", "start_line": 1, "end_line": 1, "new_lines": []string{"y"}}, want)
	d.fails("file_read", in{"path": other + "/f.txt"}, "outside this workspace, whose folder is "+rt.Dir(), "The workspace has "+rt.Dir()+"/f.txt")
	if out, err := exec.Command("git", "-C", main, "status", "--porcelain").Output(); err != nil || len(out) != 0 {
		t.Errorf("main checkout: %s, %v", out, err)
	}
}

func TestTodosAreCheckedAndSaved(t *testing.T) {
	d := newDesk(t)
	var saved []tool.Todo
	d.env.SaveTodos = func(todos []tool.Todo) { saved = todos }
	todo := func(content, status string) in { return in{"content": content, "status": status} }
	got := d.ok("todo_write", in{"todos": []in{todo("a", "completed"), todo("b", "in_progress"), todo("c", "in_progress")}})
	if got != "Saved: 1 completed, 2 in progress, 0 pending." || len(saved) != 3 || saved[1] != (tool.Todo{Content: "b", Status: "in_progress"}) {
		t.Errorf("got %q, %v", got, saved)
	}
	d.fails("todo_write", in{}, "missing")
	d.fails("todo_write", in{"todos": "x"}, "must be an array")
	d.fails("todo_write", in{"todos": []in{todo("a", "done")}}, `todos[0].status is "done"`)
	d.fails("todo_write", in{"todos": []in{todo(strings.Repeat("x", 501), "pending")}}, "501 characters")
	d.fails("todo_write", in{"todos": make([]in, 51)}, "51 entries")
	d.ok("todo_write", in{"todos": []in{}})
	if len(saved) != 0 {
		t.Errorf("got %v", saved)
	}
}
