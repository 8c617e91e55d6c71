package plan_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"carrel/sandbox"
	"carrel/sandbox/plan"
	"carrel/sandbox/policy"
)

// try tells of each path of a list whether it can be read and written. Files are appended to with other
// text, folders get a file that is left there.
const try = `while IFS= read -r p; do
could=
if [ -d "$p" ]; then
	[ -r "$p" ] && ls "$p" >/dev/null 2>&1 && could=r
	{ command : > "$p/.tried$$"; } 2>/dev/null && could=${could}w
elif [ -f "$p" ]; then
	{ read -r line < "$p"; } 2>/dev/null || [ -r "$p" ] && { command : < "$p"; } 2>/dev/null && could=r
	{ echo tried >> "$p"; } 2>/dev/null && could=${could}w
fi
printf '%s\t%s\n' "$could" "$p"
done`

// Generated policies, held by the kernel: a command walks the world and says what it can do. The walker
// that says what it should be able to do knows nothing of plans or mounts.
func TestGeneratedPlansHoldInTheKernel(t *testing.T) {
	base := place(t)
	helper := filepath.Join(t.TempDir(), "helper")
	build := exec.Command("go", "build", "-o", helper, "../jail/main")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build helper: %v\n%s", err, out)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	root := filepath.Join(base, "probe")
	if err := os.MkdirAll(filepath.Join(root, "run"), 0o700); err != nil {
		t.Fatal(err)
	}
	status, err := sandbox.Probe(ctx, sandbox.ProbeConfig{Root: root, Program: helper, OldBwrap: true})
	if err != nil {
		t.Fatal(err)
	}
	tiers := slices.DeleteFunc(slices.Clone(status.Tiers), func(s sandbox.TierStatus) bool { return !s.OK || s.Tier != plan.TierA && s.Tier != plan.TierB })
	if len(tiers) == 0 {
		t.Fatal("this machine can't make namespaces: there is nothing to hold a plan with")
	}
	tried := 0
	for seed := range uint64(10) {
		w := plan.NewWorld(t, seed, filepath.Join(base, fmt.Sprint("w", seed)))
		w.Policy.Network = policy.NetworkDeny
		tier := tiers[int(seed)%len(tiers)].Tier
		could, err := walk(ctx, w, sandbox.Config{Tier: tier, Program: helper, Status: &status, OldBwrap: true})
		if err != nil {
			if !plan.Refusable(err) {
				t.Errorf("seed %d, tier %s: %v", seed, tier, err)
			}
			continue
		}
		tried++
		layers := tier == plan.TierA && status.Machine.Overlay || status.Machine.Bwrap.AtLeast(0, 11, 0)
		for _, name := range w.Files() {
			if wrong := w.Wrong(name, could[name], layers); wrong != "" {
				t.Errorf("seed %d, tier %s: %s", seed, tier, wrong)
			}
		}
		w.Untouched(t)
	}
	if tried < 5 {
		t.Errorf("only %d policies were tried", tried)
	}
}

// place is a folder outside of /tmp where there may be one: what is there is not seen at all.
func place(t *testing.T) string {
	t.Helper()
	base, err := os.MkdirTemp("/opt", "carrel-plan-")
	if err != nil {
		if base, err = filepath.EvalSymlinks(t.TempDir()); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(base); err != nil {
			t.Error(err)
		}
	})
	return base
}

// walk runs the command and returns what it could do, by path.
func walk(ctx context.Context, w plan.World, c sandbox.Config) (map[string]string, error) {
	c.Policy = func() policy.Policy { return w.Policy }
	box, err := sandbox.Open(ctx, c)
	if err != nil {
		return nil, err
	}
	defer func() { _ = box.Close() }()
	in, inw, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	outr, out, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p, err := box.Start(ctx, sandbox.Command{Argv: []string{"/bin/sh", "-c", try}, Dir: "/", Stdin: in, Stdout: out, Stderr: out})
	_, _ = in.Close(), out.Close()
	if err != nil {
		_, _ = inw.Close(), outr.Close()
		return nil, err
	}
	go func() {
		_, _ = io.WriteString(inw, strings.Join(w.Files(), "\n")+"\n")
		_ = inw.Close()
	}()
	could := map[string]string{}
	lines := bufio.NewScanner(outr)
	for lines.Scan() {
		what, name, ok := strings.Cut(lines.Text(), "\t")
		if !ok {
			return nil, fmt.Errorf("the command said %q", lines.Text())
		}
		could[name] = what
	}
	_ = outr.Close()
	if e, err := p.Wait(); err != nil || e.Code != 0 {
		return nil, fmt.Errorf("the command ended with %+v: %w", e, err)
	}
	return could, nil
}
