package workspaces

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

func TestEveryOddInitHookHasAPlainOutcome(t *testing.T) { // O-HOOK-02
	for name, c := range map[string]struct {
		text string
		mode uint32
		want InitState
		log  string
	}{
		"missing":         {"", 0, InitNone, ""},
		"not executable":  {"#!/bin/sh\necho ran\n", 0o644, InitNone, ""},
		"bad interpreter": {"#!/no/such/shell\necho ran\n", 0o755, InitFailed, "/no/such/shell"},
		"no interpreter":  {"echo ran\n", 0o755, InitFailed, "must name an interpreter"},
		"killed":          {"#!/bin/sh\nkill -9 $$\n", 0o755, InitFailed, "ended with code 137"},
		"garbage":         {"#!/bin/sh\nprintf '\\000\\377\\033[2J garbage'\n", 0o755, InitDone, "garbage"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			repo := b.repo("r")
			if c.mode != 0 {
				b.writeMode(filepath.Join(repo, ".carrel/init"), c.text, fs.FileMode(c.mode))
			}
			p := b.add(repo)
			b.trust(p)
			w := b.make(NewWorkspace{ProjectID: p.ID, Name: "w1"})
			got := w.Init
			if c.want != InitNone {
				got = b.await("its end", initEnded(w.ID)).Workspace.Init
			}
			log, err := b.InitLog(w.ID)
			if err != nil || got != c.want || !strings.Contains(log, c.log) {
				t.Errorf("init is %s, want %s; its log, %v:\n%s", got, c.want, err, log)
			}
		})
	}
}
