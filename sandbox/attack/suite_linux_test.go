package attack

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// machines is how many run at a time: most entries wait more than they work.
const machines = 6

var only = flag.String("only", "", "run only the entries that match, such as ^L7")

// verdict is what became of one entry.
type verdict struct {
	entry   entry
	control result
	tiers   map[string]result
}

// runAll runs entries on several machines: the control first, then each tier that the entry is about.
func runAll(t *testing.T, list []entry, tiers []string, env ...string) []verdict {
	t.Helper()
	if *only != "" { // while one works on some; a whole run has no such thing
		chosen := regexp.MustCompile(*only)
		list = slices.DeleteFunc(list, func(e entry) bool { return !chosen.MatchString(e.ID + "-" + e.Name) })
	}
	carrel := built(t)
	verdicts := make([]verdict, len(list))
	jobs := make(chan int)
	var workers sync.WaitGroup
	for range min(machines, len(list)) {
		m := boot(t, carrel, env)
		workers.Go(func() {
			for i := range jobs {
				verdicts[i] = m.judge(list[i], tiers)
			}
		})
	}
	// The slow ones first, so that none is left alone at the end.
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return slowness(list[b]) - slowness(list[a]) })
	for _, i := range order {
		jobs <- i
	}
	close(jobs)
	workers.Wait()
	return verdicts
}

func slowness(e entry) int {
	if e.During != "" || strings.Contains(e.Snippet+e.Check, "sleep") {
		return 1
	}
	return 0
}

// built is the binary under test: the one that make core leaves, or where there is none a new one like it.
func built(t *testing.T) string {
	t.Helper()
	top, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(top, "bin", "carrel")
	if _, err := os.Stat(path); err == nil {
		return path
	}
	path = filepath.Join(t.TempDir(), "carrel")
	for _, args := range [][]string{
		{"build", "-trimpath", "-o", filepath.Join(top, "sandbox/jail/embed/files/carrel-sandbox"), "./sandbox/jail/main"},
		{"build", "-trimpath", "-o", path, "."},
	} {
		cmd := exec.Command("go", args...)
		cmd.Dir, cmd.Env = top, append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	return path
}

// needRoot ends a test that can't make a machine. On a machine that checks changes it is a failure,
// for a suite that did not run proves nothing.
func needRoot(t *testing.T) {
	t.Helper()
	if os.Getuid() == 0 {
		return
	}
	if os.Getenv("CI") != "" {
		t.Fatal("making machines to attack needs root")
	}
	t.Skip("making machines to attack needs root")
}

// remote is a machine seen from outside.
type remote struct {
	in  *json.Encoder
	out *bufio.Reader
}

// boot starts a machine; it ends with the test.
func boot(t *testing.T, carrel string, env []string) *remote {
	t.Helper()
	base, err := os.MkdirTemp("", "rig")
	if err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe", "rig-init")
	cmd.Env = append(environment(), "RIG_BASE="+base, "RIG_EXE="+exe, "RIG_CARREL="+carrel)
	cmd.Env = append(cmd.Env, env...)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setsid: true,
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Process.Kill() // the first process: everything goes with it
		_ = cmd.Wait()
		_ = os.RemoveAll(base)
	})
	return &remote{json.NewEncoder(in), bufio.NewReader(out)}
}

func (m *remote) do(j job) result {
	if err := m.in.Encode(j); err != nil {
		return result{Err: fmt.Sprintf("the machine is gone: %v", err)}
	}
	line, err := m.out.ReadBytes('\n')
	var r result
	if err == nil {
		err = json.Unmarshal(line, &r)
	}
	if err != nil {
		return result{Err: fmt.Sprintf("the machine is gone: %v", err)}
	}
	return r
}

// judge runs an entry. A control that depends on who is first gets three tries.
func (m *remote) judge(e entry, tiers []string) verdict {
	v := verdict{entry: e, tiers: map[string]result{}}
	for range 3 {
		if v.control = m.do(job{e, "control"}); v.control.Worked || v.control.Absent {
			break
		}
	}
	for _, tier := range tiers {
		if e.Tiers == "" || strings.Contains(e.Tiers, tier) {
			v.tiers[tier] = m.do(job{e, tier})
		}
	}
	return v
}

// TestAttacks is the suite: every entry of the lists, without a sandbox and in each tier.
func TestAttacks(t *testing.T) {
	needRoot(t)
	list := append(entries(t, "testdata/local.md", "testdata/more.md", "testdata/variants.md"), proxyEntries(t)...)
	limits := documentedLimits(t)
	for _, v := range runAll(t, list, []string{"A", "B", "C"}) {
		t.Run(v.entry.ID+"-"+v.entry.Name, func(t *testing.T) {
			v.checkControl(t)
			for _, tier := range []string{"A", "B", "C"} {
				if r, ok := v.tiers[tier]; ok {
					v.checkTier(t, tier, r, limits[tier][v.entry.ID])
				}
			}
		})
	}
}

// checkTier holds a tier to its promise: the attack fails, or what the entry wants happens.
func (v verdict) checkTier(t *testing.T, tier string, r result, limit bool) {
	t.Helper()
	t.Logf("tier %s took %v", tier, r.Took)
	wanted := v.entry.Want != ""
	switch {
	case r.Err != "":
		t.Errorf("tier %s: %s", tier, r.Err)
	case !r.Began:
		t.Errorf("tier %s: the snippet was not reached (exit %d), so nothing was tried\n%s", tier, r.Exit, r.Output)
	case wanted && !r.Worked:
		t.Errorf("tier %s: what must work does not (exit %d)\n%s", tier, r.Exit, r.Output)
	case !wanted && r.Worked && !limit:
		t.Errorf("tier %s: THE ATTACK WORKED (exit %d)\n%s", tier, r.Exit, r.Output)
	}
}

// documentedLimits reads which entries docs/sandbox.md says that a tier does not hold: lines such as
// "- tier C: L16 chmod-lockout".
func documentedLimits(t *testing.T) map[string]map[string]bool {
	t.Helper()
	text, err := os.ReadFile("../../docs/sandbox.md")
	if err != nil {
		t.Fatal(err)
	}
	limits := map[string]map[string]bool{"A": {}, "B": {}, "C": {}}
	for _, m := range documented.FindAllStringSubmatch(string(text), -1) {
		for _, id := range entryID.FindAllString(m[2], -1) {
			limits[m[1]][id] = true
		}
	}
	return limits
}

var (
	documented = regexp.MustCompile(`(?m)^\| ([ABC]) \|(.*)$`)
	entryID    = regexp.MustCompile(`\b[LVPW][0-9]+\b`)
)

// proxyEntries are those of the proxy list that the proxy of a command must hold. The others are about
// the gateway of remote sandboxes, which ends TLS: its package runs them.
func proxyEntries(t *testing.T) []entry {
	t.Helper()
	return slices.DeleteFunc(entries(t, "testdata/proxy.md", "testdata/proxymore.md", "testdata/proxyvariants.md"), func(e entry) bool { return e.Profile == "gateway" })
}

// checkControl holds an entry to its promise that the attack works without a sandbox.
func (v verdict) checkControl(t *testing.T) {
	t.Helper()
	r := v.control
	t.Logf("control took %v", r.Took)
	switch {
	case r.Err != "":
		t.Errorf("control: %s", r.Err)
	case r.Absent:
		t.Logf("control: this machine has nothing to attack: %s", v.entry.Absent)
	case !r.Worked:
		t.Errorf("control: the attack fails without a sandbox, so it proves nothing (exit %d)\n%s", r.Exit, r.Output)
	}
}
