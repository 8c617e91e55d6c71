package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"carrel/sandbox/plan"
	"carrel/store"
)

// The statuses of a Check.
const (
	checkOK      = "ok"
	checkWarning = "warning"
	checkMissing = "missing"
)

// doctor looks at what Carrel needs on this machine.
func (a *App) doctor(ctx context.Context) []Check {
	checks := []Check{a.checkRoot(), a.checkGit(ctx), a.checkProgram("bash", "commands of agents run in it")}
	checks = append(checks, a.checkModels(), a.checkSandbox(ctx), checkHolds(), checkWindow(lookup(a.environ)))
	if note := lookup(a.environ)("CARREL_PATH_NOTE"); note != "" { // from the window, which asked the login shell
		checks = append(checks, Check{Name: "PATH", Status: checkWarning, Detail: note,
			Mend: "Mend the shell's start-up files, or start Carrel from a terminal."})
	}
	if c, ok := checkWatches(); ok {
		checks = append(checks, c)
	}
	return append(checks, a.checkSettings()...)
}

func (a *App) checkRoot() Check {
	c := Check{Name: "data folder", Status: checkOK, Detail: a.root.Dir()}
	probe := a.root.Path("run", "probe-"+store.NewID())
	if err := store.WriteFile(probe, []byte("ok"), 0o600); err != nil {
		c.Status, c.Detail = checkMissing, fmt.Sprintf("%s can't be written (%v)", a.root.Dir(), rootCause(err))
		c.Mend = "Free some space, or set CARREL_ROOT to a folder that you own."
		return c
	}
	_ = os.Remove(probe)
	return c
}

// rootCause is the system's own word for what went wrong.
func rootCause(err error) error {
	var sys syscall.Errno
	if errors.As(err, &sys) {
		return sys
	}
	return err
}

func (a *App) checkGit(ctx context.Context) Check {
	out, err := a.git.Read(ctx, a.root.Dir(), "version")
	if err != nil {
		return Check{Name: "git", Status: checkMissing, Detail: sentence(userError(err)), Mend: install("git") + " Then start Carrel again."}
	}
	return Check{Name: "git", Status: checkOK, Detail: strings.TrimSpace(string(out.Stdout))}
}

// checkProgram looks for a program where this process's commands would find it.
func (a *App) checkProgram(name, why string) Check {
	path := ""
	for _, dir := range filepath.SplitList(lookup(a.environ)("PATH")) {
		if full := filepath.Join(dir, name); path == "" && runnable(full) {
			path = full
		}
	}
	if path == "" {
		return Check{Name: name, Status: checkMissing, Detail: "not found; " + why, Mend: install(name)}
	}
	return Check{Name: name, Status: checkOK, Detail: path}
}

func runnable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}

func install(program string) string {
	if runtime.GOOS == "darwin" {
		return "Run: brew install " + program
	}
	return "Run: apt-get install " + program + " (as root), or what your system uses."
}

func (a *App) checkModels() Check {
	var names []string
	for _, p := range a.catalog.Providers() {
		if p.Configured && p.Wire != "demo" {
			names = append(names, p.Name)
		}
	}
	if len(names) == 0 {
		return Check{Name: "models", Status: checkWarning, Detail: "no provider has a key; the offline demo model answers",
			Mend: "Add a key in Settings, or set ANTHROPIC_API_KEY or OPENAI_API_KEY."}
	}
	return Check{Name: "models", Status: checkOK, Detail: strings.Join(names, ", ")}
}

// checkSandbox tells how strongly this machine can hold commands, and what is in the way of more.
func (a *App) checkSandbox(ctx context.Context) Check {
	c := Check{Name: "sandbox", Status: checkOK}
	s, err := a.boxes.machine(ctx)
	if err != nil {
		c.Status, c.Detail, c.Mend = checkWarning, "commands can't be confined: "+sentence(userError(err)), "Each command of an agent asks."
		return c
	}
	c.Detail = "tier " + string(s.Tier)
	for _, t := range s.Tiers {
		if !t.OK && t.Tier < s.Tier {
			c.Status = checkWarning
			c.Detail += fmt.Sprintf("; not %s: %s", t.Tier, t.Why)
			if c.Mend == "" {
				c.Mend = t.Mend
			}
		}
	}
	if s.Tier == plan.TierD {
		c.Status, c.Detail = checkWarning, "nothing confines commands here, so that each one asks"+strings.TrimPrefix(c.Detail, "tier D")
	}
	return c
}

// checkHolds tells what runs outside of the sandbox though it works.
func checkHolds() Check {
	return Check{Name: "not sandboxed", Status: checkOK, Detail: "hooks of projects that you trusted, and your own terminals"}
}

func checkWindow(env func(string) string) Check {
	c := Check{Name: "window", Status: checkOK}
	exe, err := os.Executable()
	if err == nil {
		c.Detail = filepath.Join(filepath.Dir(exe), "carrel-desktop")
		_, err = os.Stat(c.Detail)
	}
	switch {
	case err != nil:
		c.Status, c.Detail, c.Mend = checkWarning, "carrel-desktop is not beside carrel", "Run: make build. Or use carrel serve and a browser."
	case runtime.GOOS == "linux" && env("DISPLAY") == "" && env("WAYLAND_DISPLAY") == "":
		c.Status, c.Detail, c.Mend = checkWarning, "there is no display", "Use carrel serve and a browser."
	}
	return c
}

// checkWatches compares the limit on watches with what a few big workspaces take.
func checkWatches() (Check, bool) {
	text, err := os.ReadFile("/proc/sys/fs/inotify/max_user_watches")
	if err != nil {
		return Check{}, false
	}
	var limit int
	if _, err := fmt.Sscan(string(text), &limit); err != nil || limit >= 8192 {
		return Check{Name: "file watches", Status: checkOK, Detail: strings.TrimSpace(string(text)) + " allowed"}, true
	}
	return Check{Name: "file watches", Status: checkWarning, Detail: fmt.Sprintf("only %d allowed; git state is polled when they run out", limit),
		Mend: "As root: sysctl fs.inotify.max_user_watches=524288"}, true
}

// keptAside lists the damaged files that were kept before this process began.
func (a *App) keptAside() []string {
	entries, err := os.ReadDir(a.root.Dir())
	if err != nil {
		return nil // checkRoot tells
	}
	var kept []string
	for _, e := range entries {
		name, path := e.Name(), a.root.Path(e.Name())
		told := slices.ContainsFunc(a.root.Problems(), func(p store.Problem) bool { return p.Path == path })
		if strings.Contains(name, ".corrupt-") && !strings.HasSuffix(name, "-wal") && !strings.HasSuffix(name, "-shm") && !told {
			kept = append(kept, path)
		}
	}
	return kept
}

func (a *App) checkSettings() []Check {
	var out []Check
	for _, p := range a.root.Problems() {
		out = append(out, Check{Name: "kept aside", Status: checkWarning, Detail: p.Message, Mend: "Look at " + p.Path + " and copy back what you need."})
	}
	for _, path := range a.keptAside() {
		out = append(out, Check{Name: "kept aside", Status: checkWarning, Detail: path + " could not be read",
			Mend: "Copy back what you need of it, then delete it."})
	}
	for _, p := range a.catalog.Providers() {
		if p.Error != "" {
			out = append(out, Check{Name: "provider " + p.ID, Status: checkWarning, Detail: p.Error})
		}
	}
	return out
}
