package attack

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// entry is one attack of a list.
type entry struct {
	ID, Name string
	Text     string // what is tried
	Snippet  string // runs in the project
	// Check runs on the host afterwards: the attack worked when it succeeds. Without one it worked when
	// the snippet did. Want is the same for entries that must work, in the sandbox too.
	Check, Want string
	During      string // runs on the host meanwhile
	Stdin       string // pty or nothing
	Profile     string // of proxy entries: both, local, gateway
	Accept      string // what a plain implementation would let through, and why
	// Absent runs on the host when the control fails: its success proves that this kernel or machine
	// lacks what is attacked.
	Absent string
	// Caps are capabilities, as bits, that the user has in this entry's runs.
	Caps uint64
	// Tiers, when set, are the only ones that the entry is about: "A" "AB".
	Tiers string
	// Network is the policy's mode; allowlist when empty.
	Network string
	// Twice says that the sandboxed command runs two times, for what one plants and the next trips over.
	Twice bool
}

var heading = regexp.MustCompile(`^## ([A-Z][0-9]+) (\S+)$`)

// entries reads a list.
func entries(t *testing.T, files ...string) []entry {
	t.Helper()
	var list []entry
	seen := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		of, err := parse(string(text))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, e := range of {
			if seen[e.ID] {
				t.Fatalf("%s: %s is there twice", file, e.ID)
			}
			seen[e.ID] = true
			list = append(list, withHints(e))
		}
	}
	return list
}

func parse(text string) ([]entry, error) {
	var list []entry
	var e *entry
	inCode := false
	for n, line := range strings.Split(text, "\n") {
		switch {
		case inCode && line == "```":
			inCode = false
		case inCode:
			e.Snippet += line + "\n"
		case heading.MatchString(line):
			m := heading.FindStringSubmatch(line)
			list = append(list, entry{ID: m[1], Name: m[2]})
			e = &list[len(list)-1]
		case strings.HasPrefix(line, "# "):
			e = nil
		case e == nil || line == "":
		case line == "```sh":
			inCode = true
		case strings.HasPrefix(line, "- "):
			if err := e.set(line[2:]); err != nil {
				return nil, fmt.Errorf("line %d: %w", n+1, err)
			}
		default:
			e.Text += line + " "
		}
	}
	for _, e := range list {
		if e.Snippet == "" {
			return nil, fmt.Errorf("%s has no snippet", e.ID)
		}
	}
	return list, nil
}

func (e *entry) set(line string) error {
	key, value, _ := strings.Cut(line, ":")
	value = strings.TrimSpace(value)
	switch key {
	case "check":
		e.Check = value
	case "want":
		e.Want = value
	case "during":
		e.During = value
	case "stdin":
		e.Stdin = value
	case "profile":
		e.Profile = value
	case "accept":
		e.Accept = value
	case "absent":
		e.Absent = value
	case "tiers":
		e.Tiers = value
	case "network":
		e.Network = value
	case "twice":
		e.Twice = true
	case "caps":
		if _, err := fmt.Sscanf(value, "%v", &e.Caps); err != nil {
			return err
		}
	case "expect", "mode":
	default:
		return fmt.Errorf("%s: unknown key %q", e.ID, key)
	}
	return nil
}

// withHints adds what the lists leave to the rig: which rights make an attack possible at all for a
// user, and how to see that a kernel lacks what is attacked.
func withHints(e entry) entry {
	const dacReadSearch, netBindService, sysChroot, sysAdmin = 1 << 2, 1 << 10, 1 << 18, 1 << 21
	switch e.ID {
	case "L71":
		e.Caps = dacReadSearch
	case "L91":
		e.Caps = sysAdmin | sysChroot
	case "L111":
		e.Caps = netBindService
	case "L78":
		e.Absent = `! grep -q '^core' /proc/sys/kernel/core_pattern`
	case "L99":
		e.Absent = `test "$(cat /proc/sys/kernel/io_uring_disabled)" != 0`
	case "L103":
		// A kernel that has the entry switched off ends the program instead.
		e.Absent = `cd /tmp; printf 'int main(){int r=20;__asm__ volatile("int $0x80":"+a"(r));return r>0;}' > i.c && gcc -o i i.c; ./i; test $? -ge 128`
	case "L104":
		e.Absent = `python3 -c 'import ctypes;l=ctypes.CDLL(None,use_errno=True);r=l.syscall(ctypes.c_long(0x40000000|39));raise SystemExit(ctypes.get_errno()!=38)'`
	case "L101":
		e.Absent = `! python3 -c 'import socket;socket.socket(40,socket.SOCK_STREAM)'`
	}
	return e
}
