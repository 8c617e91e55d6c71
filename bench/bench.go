package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// bench is what the rows share.
type bench struct {
	dir    string // everything is below it
	module string // folder of the source
	long   bool
	host   string
	window string
	agents string // folder of other agents, "" for PATH

	carrelPath string
	repoPath   string
}

func newBench() (*bench, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "carrel").Output()
	if err != nil {
		return nil, fmt.Errorf("find the source (run it inside the repository): %w", err)
	}
	dir, err := os.MkdirTemp("", "carrel-bench-")
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	b := &bench{dir: dir, module: string(out[:len(out)-1])}
	return b, os.Mkdir(b.path("home"), 0o700)
}

func (b *bench) path(elem ...string) string {
	return filepath.Join(append([]string{b.dir}, elem...)...)
}

// env is the environment of what is measured: nothing of the person's but PATH and the Go caches. Nobody
// is asked, and nothing confined: what the sandbox costs is measured by itself.
func (b *bench) env(more ...string) []string {
	env := []string{"HOME=" + b.path("home"), "LANG=C.UTF-8", "CARREL_MODE=bypass", "CARREL_SANDBOX=danger-full-access", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=Bench", "GIT_AUTHOR_EMAIL=bench@bench.invalid",
		"GIT_COMMITTER_NAME=Bench", "GIT_COMMITTER_EMAIL=bench@bench.invalid"}
	for _, name := range []string{"PATH", "TMPDIR", "DISPLAY", "XDG_RUNTIME_DIR", "CARREL_GPU"} {
		if v := os.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return append(env, more...)
}

// do runs a command that is not measured.
func (b *bench) do(ctx context.Context, dir, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, b.env()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %q: %w: %s", name, args, err, out)
	}
	return nil
}

// build makes a static binary the way the Makefile makes bin/carrel.
func (b *bench) build(ctx context.Context, dir, out string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", out, ".")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w: %s", dir, err, said)
	}
	return nil
}

// carrel gives the path of a core built from the source as it is.
func (b *bench) carrel(ctx context.Context) (string, error) {
	if b.carrelPath != "" {
		return b.carrelPath, nil
	}
	path := b.path("bin", "carrel")
	if err := b.build(ctx, b.module, path); err != nil {
		return "", err
	}
	b.carrelPath = path
	return path, nil
}
