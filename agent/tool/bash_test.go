package tool_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"carrel/agent/tool"
	"carrel/workspaces/runtime"
)

// O-BASH-01
func TestBashReturnsWhenTheCommandEnds(t *testing.T) {
	d := newDesk(t)
	defer func() { _ = runtime.KillTagged(context.Background(), "test") }()
	for _, script := range []string{"sleep 60 & echo done", "sleep 61 >/dev/null 2>&1 & echo done", "(setsid sleep 62 &) ; echo done"} {
		begin := time.Now()
		if out := d.bash(script); out != "done\n" || time.Since(begin) > 30*time.Second {
			t.Errorf("%s: %q after %v", script, out, time.Since(begin))
		}
	}
	r := d.call("bash", in{"script": "sleep 300 & wait", "display_name": "t", "timeout_secs": 0.5})
	if !r.IsError || !r.Detail.TimedOut || !strings.Contains(text(r), "timed out after 500ms") || r.Detail.DurationMS > 60_000 {
		t.Errorf("got %q, %+v", text(r), r.Detail)
	}
}

// O-BASH-03 (a), (b)
func TestBashLeavesNothingAfterTimeoutOrInterrupt(t *testing.T) {
	d := newDesk(t)
	script := "sh -c 'sleep 1234567 & setsid sleep 1234567 & echo up; sleep 1234567'"
	d.call("bash", in{"script": script, "display_name": "t", "timeout_secs": 0.3})
	ctx, cancel := context.WithCancel(t.Context())
	d.env.Progress = func(string) { cancel() }
	bash, _ := tool.Find(tool.Builtin(), "bash")
	r := bash.Run(ctx, tool.Call{Input: []byte(`{"script":"` + script + `","display_name":"t"}`), Env: d.env})
	if !r.IsError || r.Detail.TimedOut || !strings.Contains(text(r), "up\n[interrupted after") {
		t.Errorf("got %q, %+v", text(r), r.Detail)
	}
	d.env.Progress = nil
	if left, err := exec.Command("sh", "-c", "ps -eo stat,args | grep 'sleep 123456[7]' | grep -v '^Z'").Output(); err == nil {
		t.Errorf("left: %s", left)
	}
}

// O-BASH-04
func TestBashNeverWaitsForAPerson(t *testing.T) {
	d := newDesk(t)
	d.bash("git init -q . && git commit -q --allow-empty -m base && for i in $(seq 30); do git commit -q --allow-empty -m $i; done")
	for _, c := range []struct{ script, want string }{
		{"git log", "    base\n"},
		{"git commit", "nothing to commit"},
		{"echo x >f; git add f; git commit", "empty commit message"},
		{"git commit -q -m f && git commit --amend && echo ok", "ok\n"},
		{"git checkout -qb a && echo a >f && git commit -qam a && git checkout -qb b HEAD~1 && echo b >f && git commit -qam b;" +
			"git rebase a >/dev/null 2>&1; echo c >f; git add f; git rebase --continue && git log -1 --format=%s", "b\n"},
		{"ssh-keygen -t ed25519 -f k", ""},
		{"cat; read x; echo got:$x", "got:\n"},
		{"git clone -q https://localhost:1/", ""},
		{"sudo -k true; less f; man ls", ""},
	} {
		begin := time.Now()
		r := d.call("bash", in{"script": c.script, "display_name": "t", "timeout_secs": 100})
		if time.Since(begin) > 60*time.Second || !strings.Contains(text(r), c.want) {
			t.Errorf("%s: after %v: %q", c.script, time.Since(begin), text(r))
		}
	}
}

// O-BASH-05
func TestBashOutputIsBoundedWhileItIsRead(t *testing.T) {
	d := newDesk(t)
	var most atomic.Uint64
	d.env.Progress = func(string) {
		var m goruntime.MemStats
		goruntime.ReadMemStats(&m)
		most.Store(max(most.Load(), m.HeapInuse))
	}
	for _, script := range []string{"yes", "head -c 30000000 /dev/urandom | base64", "head -c 30000000 /dev/zero | tr '\\0' a", "head -c 3000000 /dev/urandom"} {
		r := d.call("bash", in{"script": script, "display_name": "t", "timeout_secs": 1})
		got := text(r)
		if len(got) > 16<<10+200 || !utf8.ValidString(got) || !strings.Contains(got, " bytes left out; ") || r.Detail.SpillPath == "" {
			t.Errorf("%s: %d bytes, %+v", script, len(got), r.Detail)
		}
		info, err := os.Stat(r.Detail.SpillPath)
		if err != nil || info.Size() > 64<<20 || info.Size() < 32<<10 || info.Mode() != 0o600 {
			t.Errorf("%s: spilled %v, %v", script, info, err)
		}
	}
	if most.Load() > 64<<20 {
		t.Errorf("the heap grew to %d bytes", most.Load())
	}
}

// O-BASH-05
func TestSpilledOutputIsWholeAndReadable(t *testing.T) {
	d := newDesk(t)
	r := d.call("bash", in{"script": "seq 1 100000", "display_name": "t"})
	got := text(r)
	if !strings.HasPrefix(got, "1\n2\n") || !strings.Contains(got, "\n99999\n100000\n[exit code 0") || !strings.Contains(got, r.Detail.SpillPath) {
		t.Errorf("got %q", got)
	}
	if page := d.ok("file_read", in{"path": r.Detail.SpillPath, "offset": 50000, "limit": 2}); !strings.HasPrefix(page, "50000\t50000\n50001\t50001\n[lines 50000-50001 of 100000") {
		t.Errorf("got %q", page)
	}
	data, err := os.ReadFile(r.Detail.SpillPath)
	if want := d.shell("seq 1 100000"); err != nil || string(data) != want {
		t.Errorf("spilled %d bytes, want %d", len(data), len(want))
	}
	d.fails("file_read", in{"path": filepath.Join(d.env.SpillDir, "..", "x")}, "outside this workspace")
	d.fails("file_read", in{"path": filepath.Join(d.env.SpillDir, "none")}, "no file")
	if out := d.bash("seq 1 700"); strings.Contains(out, "left out") {
		t.Errorf("cut a short output: %q", out)
	}
}

// O-BASH-05
func TestSweepSpillKeepsTheNewest(t *testing.T) {
	dir := t.TempDir()
	for i, name := range []string{"old", "big", "mid", "new"} {
		path := filepath.Join(dir, name)
		at := time.Now().Add(time.Duration(i-4) * time.Hour)
		if err := os.WriteFile(path, make([]byte, 100), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	left := func(maxBytes int64, maxAge time.Duration) string {
		if err := tool.SweepSpill(dir, maxBytes, maxAge); err != nil {
			t.Fatal(err)
		}
		entries, _ := os.ReadDir(dir)
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return strings.Join(names, " ")
	}
	if got := left(1000, 210*time.Minute); got != "big mid new" {
		t.Errorf("by age: %s", got)
	}
	if got := left(250, 210*time.Minute); got != "mid new" {
		t.Errorf("by size: %s", got)
	}
	if err := tool.SweepSpill(filepath.Join(dir, "none"), 0, 0); err != nil {
		t.Error(err)
	}
}

// O-BASH-06
func TestBashShowsTheLastStateOfEachLine(t *testing.T) {
	d := newDesk(t)
	for script, want := range map[string]string{
		`for i in $(seq 0 20000); do printf '\r%d%%' $i; done; echo`: "20000%\n",
		`printf 'a\r\nb\r\n'`: "a\nb\n",
		`printf '\033[31mred\033[0m \033]0;title\007\033[1;5Hx\n'`:    "red x\n",
		`printf 'downloading 10%%\r\033[Kdone\n'`:                     "done\n",
		`printf 'downloading\033[2K\rok\n'`:                           "ok\n",
		`printf 'ab\bc\n'`:                                            "ac\n",
		`printf 'abcdef\r123\n'`:                                      "123def\n",
		`printf 'x\xff\xc3\n'`:                                        "x\uFFFD\uFFFD\n",
		`printf '\033]8;;https://x\033\\link\033]8;;\033\\ \u00e4\n'`: "link \u00e4\n",
		`printf 'a\tb\0c\n'`:                                          "a\tbc\n",
		`printf '\033P'; yes hidden | head -c 10000; echo; echo end`:  "end\n",
	} {
		if got := d.bash(script); got != want && !(strings.Contains(script, "hidden") && strings.HasSuffix(got, want)) {
			t.Errorf("%s: %q, want %q", script, got, want)
		}
	}
}

// shell is what plain bash gives.
func (d *desk) shell(script string) string {
	d.t.Helper()
	cmd := exec.Command("bash", "-c", script)
	cmd.Dir = d.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		d.t.Fatal(err)
	}
	return string(out)
}

// O-BASH-07
func TestBashGetsTheGivenVariablesAndNoOthers(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "leak")
	t.Setenv("FOO_SECRET", "leak")
	d := newDesk(t)
	d.env.Vars = []string{"CARREL_WORKSPACE_NAME=w1"}
	if out := d.bash("env"); strings.Contains(out, "leak") || !strings.Contains(out, "CARREL_WORKSPACE_NAME=w1\n") {
		t.Errorf("got %s", out)
	}
}

// O-BASH-08
func TestBashRunsTheScriptByteForByte(t *testing.T) {
	d := newDesk(t)
	for _, script := range []string{
		`printf '%s|' '!' "a!b" '\\b' '$$' '{ }'`,
		"cat <<'MY-MARK' | od -c\nit's \\\\n \"$HOME\" \\`x\\` !\nMY-MARK\n",
		"echo \"$0 $#\"; echo '\t\u00e4\u2028'; echo {1..3}; echo 'a  b' | sed 's/\\s\\+/\\\\/'",
	} {
		if got, want := d.bash(script), d.shell(script); strings.TrimSuffix(got, "\n") != strings.TrimSuffix(want, "\n") {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestBashShowsProgressInBoundedChunks(t *testing.T) {
	d := newDesk(t)
	var all strings.Builder
	calls := 0
	ended := false
	d.env.Progress = func(chunk string) {
		if ended || !utf8.ValidString(chunk) {
			t.Errorf("ended: %v, chunk %q", ended, chunk)
		}
		calls++
		all.WriteString(chunk)
	}
	d.bash(`echo a; printf 'b\r\n'; printf '\033[1mc\033[0m\303'; sleep 0.05; printf '\244\n'`)
	ended = true
	if got := all.String(); got != "a\nb\n\x1b[1mc\x1b[0m\u00e4\n" {
		t.Errorf("got %q", got)
	}
	ended, calls = false, 0
	all.Reset()
	begin := time.Now()
	d.bash("seq 1 1000000")
	if limit := int(time.Since(begin)/(16*time.Millisecond)) + 2; calls > limit || all.Len() > 1<<20+100 {
		t.Errorf("%d chunks, at most %d; %d bytes", calls, limit, all.Len())
	}
}

func TestBashExplainsBadInput(t *testing.T) {
	d := newDesk(t)
	d.fails("bash", in{"display_name": "t"}, `"script" is missing`)
	d.fails("bash", in{"script": "true"}, `"display_name" is missing`)
	d.fails("bash", in{"script": 5, "display_name": "t"}, `"script" must be a string, not a number`)
	d.fails("bash", in{"script": "true", "display_name": "t", "timeout_secs": "9"}, `"timeout_secs" must be a number, not a string`)
	d.fails("bash", in{"script": "true", "display_name": "t", "run_in_background": true}, "not available yet")
	d.fails("bash", in{"script": "a\x00b", "display_name": "t"}, "NUL")
	d.fails("bash", in{"script": strings.Repeat("#", 200000), "display_name": "t"}, "200000 bytes")
	d.ok("bash", in{"script": strings.Repeat("#", 120000), "display_name": "t", "unknown": 1, "model_intent": nil})
	d.fails("bash", in{"script": "exit 3", "display_name": "t"}, "(no output)\n[exit code 3 after")
}

func TestBashFallsBackOnShAndSaysSo(t *testing.T) {
	d := newDesk(t)
	bin := t.TempDir()
	if err := os.Symlink("/bin/sh", filepath.Join(bin, "sh")); err != nil {
		t.Fatal(err)
	}
	rt, err := runtime.NewLocal(runtime.Local, d.dir, runtime.Options{Env: []string{"PATH=" + bin}})
	if err != nil {
		t.Fatal(err)
	}
	d.env.Runtime = rt
	if out := d.ok("bash", in{"script": "echo x", "display_name": "t"}); !strings.HasPrefix(out, "x\n[bash is not installed here: this ran in sh. exit code 0") {
		t.Errorf("got %q", out)
	}
}

// The model reads plain text; a person sees the colours, while it runs and afterwards.
func TestBashShowsColoursToPeopleAlone(t *testing.T) {
	d := newDesk(t)
	var live strings.Builder
	d.env.Progress = func(chunk string) { live.WriteString(chunk) }
	r := d.call("bash", in{"script": `printf '\033[1;31mred\033[0m \033]0;title\007\033[2J\033[?25lplain\n'`, "display_name": "t"})
	const want = "\x1b[1;31mred\x1b[0m plain\n"
	if !strings.HasPrefix(text(r), "red plain\n") || live.String() != want || r.Detail.Screen != want {
		t.Errorf("text %q, live %q, screen %q", text(r), live.String(), r.Detail.Screen)
	}
	if r := d.call("bash", in{"script": "echo plain", "display_name": "t"}); r.Detail.Screen != "" {
		t.Errorf("screen %q of plain output", r.Detail.Screen)
	}
	r = d.call("bash", in{"script": `for i in $(seq 20000); do printf '\033[32m%05d\033[0m\n' $i; done`, "display_name": "t"})
	if s := r.Detail.Screen; len(s) > 32<<10 || !strings.HasPrefix(s, "\x1b[32m") || !strings.HasSuffix(s, "20000\x1b[0m\n") {
		t.Errorf("%d bytes, %.40q", len(s), s)
	}
}
