package sandbox

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"carrel/sandbox/plan"
)

// without runs this test again where something is missing, and gives what Probe said there.
func without(t *testing.T, what string) string {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", "-test.run=^TestProbeWithout$", "-test.v")
	cmd.Env = append(os.Environ(), "CARREL_TEST_WITHOUT="+what, "TMPDIR="+t.TempDir())
	cmd.SysProcAttr = podAttributes()
	cmd.SysProcAttr.Cloneflags |= unix.CLONE_NEWPID
	if os.Getuid() != 0 {
		cmd.SysProcAttr.UidMappings[0].ContainerID = 0 // to have rights over its own namespace
	}
	cmd.SysProcAttr.AmbientCaps = nil
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// TestProbeWithout is what without runs.
func TestProbeWithout(t *testing.T) {
	var err error
	switch os.Getenv("CARREL_TEST_WITHOUT") {
	case "":
		return
	case "namespaces":
		err = os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0)
	case "proc": // as containers have it
		err = errors.Join(unix.Mount("proc", "/proc", "proc", 0, ""), unix.Mount("/dev/null", "/proc/uptime", "", unix.MS_BIND, ""))
	case "helper":
		s, err := Probe(t.Context(), ProbeConfig{Root: dataRoot(t), Program: "/no/such/helper"})
		report(t, s, err)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	s, err := Probe(t.Context(), ProbeConfig{Root: dataRoot(t), Program: testHelper()})
	report(t, s, err)
}

func report(t *testing.T, s Status, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	for _, st := range s.Tiers {
		t.Logf("tier %s %v: %s; mend: %s", st.Tier, st.OK, st.Why, st.Mend)
	}
}

func TestProbeSaysWhatIsMissingAndWhatMendsIt(t *testing.T) {
	for what, say := range map[string][]string{
		"namespaces": {"tier A false", "no user namespaces are allowed", "sysctl user.max_user_namespaces=", "tier C true"},
		"proc":       {"tier A false", "hides parts of /proc", "unmask", "tier C true"},
		"helper":     {"tier A false", "/no/such/helper", "tier C true"},
	} {
		t.Run(what, func(t *testing.T) {
			out := without(t, what)
			for _, s := range say {
				if !strings.Contains(out, s) {
					t.Errorf("no %q in:\n%s", s, out)
				}
			}
		})
	}
}

func TestOpenRefusesATierThatTheMachineLacks(t *testing.T) {
	lacks := Status{Tier: plan.TierC, Tiers: []TierStatus{
		{Tier: plan.TierA, Why: "user namespaces are refused", Mend: "allow them"}, {Tier: plan.TierC, OK: true}}}
	var c *CannotEnforce
	if err := lacks.need(plan.TierA); !errors.As(err, &c) || c.Why == "" || c.Mend == "" || c.Tier != plan.TierA {
		t.Errorf("%v", err)
	}
	if err := lacks.need(plan.TierC); err != nil {
		t.Error(err)
	}
	if err := (Status{Tier: plan.TierD}).need(plan.TierD); !errors.As(err, &c) || errors.Is(err, syscall.ENOENT) {
		t.Errorf("%v", err)
	}
}
