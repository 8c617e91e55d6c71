package sandbox

import (
	"os"
	"strings"
	"testing"

	"carrel/sandbox/plan"
)

// A stream is a file or folder on a mount of the host's, where nothing but Landlock holds.
func TestStreamIsNoWayToFilesOutside(t *testing.T) {
	eachTier(t, func(t *testing.T, tier plan.Tier) {
		l := open(t, tier, nil)
		for _, name := range []string{l.outside + "/victim", l.outside} {
			script := `exec 3<&0 </dev/null; exec python3 -c '
import os
for do in (lambda: os.truncate("/proc/self/fd/3", 0), lambda: os.truncate("/proc/self/fd/3/victim", 0),
		lambda: os.close(os.open("/proc/self/fd/3", os.O_RDONLY | os.O_TRUNC)),
		lambda: os.close(os.open("/proc/self/fd/3/victim", os.O_RDONLY | os.O_TRUNC)),
		lambda: os.close(os.open("/proc/self/fd/3", os.O_WRONLY))):
	try:
		do()
		print("done")
	except OSError:
		pass
'`
			for range 2 { // with a new helper and with one that has waited
				f, err := os.Open(name)
				if err != nil {
					t.Fatal(err)
				}
				out, exit := l.sh(t, script, func(c *Command) { c.Stdin = f })
				_ = f.Close()
				if text, _ := os.ReadFile(l.outside + "/victim"); string(text) != "safe\n" || strings.Contains(out, "done") || exit.Code != 0 {
					t.Errorf("with %s as stdin: %q, %+v, the file is %q", name, out, exit, text)
				}
			}
		}
	})
}

func TestCommandsTruncateWhatIsTheirs(t *testing.T) {
	eachTier(t, func(t *testing.T, tier plan.Tier) {
		l := open(t, tier, nil)
		writeFile(t, l.project+"/long", "long")
		f, err := os.Open(l.project + "/long")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Close() }()
		for i, stdin := range []*os.File{nil, f} {
			script := `python3 -c 'import os; os.truncate("long", 1); os.truncate(os.environ["TMPDIR"] + "/x", 0)'`
			out, exit := l.sh(t, `echo x > "$TMPDIR/x"; `+script, func(c *Command) { c.Stdin = stdin })
			if text, _ := os.ReadFile(l.project + "/long"); exit.Code != 0 || string(text) != "l" {
				t.Errorf("%d: %+v %q, the file is %q", i, exit, out, text)
			}
		}
	})
}

// A command that holds such a stream can't hand it to one that holds none.
func TestStreamFromOutsideIsNotPassedOn(t *testing.T) {
	for _, tier := range []plan.Tier{plan.TierA, plan.TierB} {
		t.Run(string(tier), func(t *testing.T) {
			l := open(t, tier, nil)
			script := `python3 -c '
import socket
for do in (lambda: socket.socket(socket.AF_UNIX), lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)):
	try:
		do()
		print("made")
	except OSError:
		pass
socket.socketpair()
'`
			f, err := os.Open(l.outside + "/victim")
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = f.Close() }()
			if out, exit := l.sh(t, script, func(c *Command) { c.Stdin = f }); out != "" || exit.Code != 0 {
				t.Errorf("with a file as stdin: %q, %+v", out, exit)
			}
			if out, exit := l.sh(t, script); out != "made\nmade" || exit.Code != 0 {
				t.Errorf("without: %q, %+v", out, exit)
			}
		})
	}
}
