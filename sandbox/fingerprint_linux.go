package sandbox

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"path"

	"golang.org/x/sys/unix"

	"carrel/sandbox/plan"
)

// fingerprint names what a helper or a thread has prepared: the plan, and the very files and mounts
// that it was made of. A file that was replaced since is another one.
func (g *ground) fingerprint(p plan.Plan) string {
	generation := g.Generation() // before the look
	g.mu.Lock()
	known := g.known
	g.mu.Unlock()
	if known.key == p.Key() && known.generation == generation {
		return known.print
	}
	h := sha256.New()
	_, _ = fmt.Fprintln(h, p.Key())
	seen := true
	for _, name := range grounds(p) {
		seen = g.Add(path.Dir(name)) && seen
		var st unix.Stat_t
		if unix.Lstat(name, &st) == nil {
			_ = binary.Write(h, binary.LittleEndian, [2]uint64{uint64(st.Dev), st.Ino})
		}
	}
	if len(p.Mounts) > 0 { // a folder may be another file system's now
		if mounts, err := os.ReadFile("/proc/self/mountinfo"); err == nil {
			_, _ = h.Write(mounts)
		}
	}
	print := hex.EncodeToString(h.Sum(nil))
	if seen {
		g.mu.Lock()
		g.known = fingerprinted{p.Key(), generation, print}
		g.mu.Unlock()
	}
	return print
}

// fingerprinted is a fingerprint that counts as long as the generation does.
type fingerprinted struct {
	key        string
	generation uint64
	print      string
}

// grounds are the files that a plan mounts or, where it mounts nothing, those of its rules.
func grounds(p plan.Plan) []string {
	var names []string
	for _, m := range p.Mounts {
		switch m.Kind {
		case plan.KindRO, plan.KindRW, plan.KindOverlay:
			names = append(names, m.Source)
		case plan.KindPin, plan.KindMask:
			names = append(names, m.Target)
		case plan.KindRoot, plan.KindProc, plan.KindDev, plan.KindTmpfs, plan.KindSeal, plan.KindDir, plan.KindLink:
		}
	}
	if len(p.Mounts) == 0 {
		for _, a := range p.Access {
			names = append(names, a.Path)
		}
	}
	return names
}
