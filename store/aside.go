package store

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// Codes of problems.
const (
	// CorruptFile: a file could not be read; Path says where it is kept.
	CorruptFile = "corrupt_file"
	// BadSetting: a file is readable, but a value in it is not what it should be and is ignored.
	BadSetting = "bad_setting"
	// RegistryGone: the registry that is open is not the file at its place any more.
	RegistryGone = "registry_gone"
)

// Problem is something about the data root that a person should see.
type Problem struct {
	Code    string // CorruptFile, BadSetting or RegistryGone
	Message string // a sentence that says what happened, where the file is now, and what to do
	Path    string // the file to look at
}

// keepAtMost bounds the kept copies of one file, so that a tool that damages it again and again
// does not fill the disk. The oldest is never dropped: it is the likeliest to hold years of edits.
const keepAtMost = 10

// KeepAside renames the file at path to NAME.corrupt-TIME beside it, with the files that SQLite
// keeps next to a database, and reports it as a Problem. reason is what is wrong with the file. The
// caller holds whatever lock keeps others from writing it.
func (r *Root) KeepAside(path, reason string) (Problem, error) {
	aside := path + ".corrupt-" + time.Now().UTC().Format("20060102T150405Z")
	for n, base := 2, aside; exists(aside); n++ {
		aside = base + "-" + strconv.Itoa(n)
	}
	if err := os.Rename(path, aside); err != nil {
		return Problem{}, fmt.Errorf("keep damaged file aside: %w", err)
	}
	for _, suffix := range []string{"-wal", "-shm"} {
		if !exists(path + suffix) {
			continue
		}
		if err := os.Rename(path+suffix, aside+suffix); err != nil {
			return Problem{}, fmt.Errorf("keep damaged file aside: %w", err)
		}
	}
	dropSurplus(path)
	p := Problem{
		Code: CorruptFile,
		Path: aside,
		Message: fmt.Sprintf("%s could not be read (%s). It is kept as %s; Carrel goes on without it. "+
			"Mend it and move it back, or delete it.", filepath.Base(path), reason, aside),
	}
	r.report(p)
	return p, nil
}

// dropSurplus removes kept copies of path beyond keepAtMost: never the oldest, then the next oldest.
func dropSurplus(path string) {
	dir, name := filepath.Split(path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	var kept []string
	prefix := name + ".corrupt-"
	for _, e := range entries {
		if n := e.Name(); len(n) > len(prefix) && n[:len(prefix)] == prefix && !isSidecar(n) {
			kept = append(kept, n)
		}
	}
	slices.Sort(kept) // the names end in their time
	for len(kept) > keepAtMost {
		for _, suffix := range []string{"", "-wal", "-shm"} {
			_ = os.Remove(filepath.Join(dir, kept[1]+suffix))
		}
		kept = slices.Delete(kept, 1, 2)
	}
}

func isSidecar(name string) bool {
	return len(name) > 4 && (name[len(name)-4:] == "-wal" || name[len(name)-4:] == "-shm")
}

// Problems lists what was found so far, oldest first, each once.
func (r *Root) Problems() []Problem {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.problems)
}

// OnProblem calls f for each problem found from now on, on the goroutine that finds it. f must not
// block.
func (r *Root) OnProblem(f func(Problem)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tell = append(r.tell, f)
}

// report records p and tells the listeners, once for each distinct problem.
func (r *Root) report(p Problem) {
	r.mu.Lock()
	if slices.Contains(r.problems, p) {
		r.mu.Unlock()
		return
	}
	r.problems = append(r.problems, p)
	tell := slices.Clone(r.tell)
	r.mu.Unlock()
	for _, f := range tell {
		f(p)
	}
}
