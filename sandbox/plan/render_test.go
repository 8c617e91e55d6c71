package plan

import (
	"slices"
	"strings"
	"testing"

	"carrel/sandbox/policy"
)

func TestTextIsTheOneThatWasRead(t *testing.T) {
	for _, tier := range []Tier{TierA, TierC} {
		plan, err := Make(few("/home/ada"), strong(), fewTree("/home/ada").tree(), Command{Tier: tier, Env: []string{"PATH=/usr/bin", "API_KEY=SECRET"}})
		if err != nil {
			t.Fatal(err)
		}
		golden(t, "text_"+string(tier)+".golden", plan.Text())
	}
}

func TestBubblewrapArgumentsAreTheOnesThatWereRead(t *testing.T) {
	plan, err := Make(few("/home/ada"), strong(), fewTree("/home/ada").tree(), Command{Tier: TierB})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, arg := range plan.Bwrap("helper", "--", "make", "test") {
		if strings.HasPrefix(arg, "--") {
			b.WriteString("\n")
		} else {
			b.WriteString(" ")
		}
		b.WriteString(arg)
	}
	golden(t, "bwrap.golden", strings.TrimPrefix(b.String(), "\n")+"\n")
}

// Text tells names of variables and never a value; a name cannot start a line of its own.
func TestTextTellsNoValuesAndOneLineAName(t *testing.T) {
	p := ada()
	p.Project = "/home/ada/p\nwritable\n  /etc"
	host := tree(p.Project + "/x")
	plan, err := Make(p, strong(), host.tree(), Command{Env: []string{"PATH=VALUE1"}, Set: []string{"DEPLOY_TOKEN=VALUE2"}})
	if err != nil {
		t.Fatal(err)
	}
	text := plan.Text()
	if strings.Contains(text, "VALUE") || !strings.Contains(text, "DEPLOY_TOKEN") {
		t.Errorf("values, or no names:\n%s", text)
	}
	if slices.Contains(strings.Split(text, "\n"), "  /etc") {
		t.Error("a folder's name writes lines of its own")
	}
}

func TestEnvironmentIsAPassList(t *testing.T) {
	p := ada()
	env := []string{"PATH=/bin", "HOME=/home/ada", "AWS_SECRET_ACCESS_KEY=x", "CARGO_TERM_COLOR=never", "CARGO_REGISTRY_TOKEN=x", "SSH_AUTH_SOCK=/a",
		"DBUS_SESSION_BUS_ADDRESS=x", "DISPLAY=:0", "XDG_RUNTIME_DIR=/run/user/1000", "DOCKER_HOST=x", "http_proxy=http://u:p@x", "LD_PRELOAD=/x.so",
		"BASH_FUNC_ls%%=() { :; }", "TMPDIR=/elsewhere", "noequals", "CARREL_WORKSPACE=w", "CARREL_TOKEN=x", "npm_config__auth=x", "npm_config_cache=/c"}
	for network, want := range map[policy.Network][]string{
		policy.NetworkAllow:     {"CARGO_TERM_COLOR", "CARREL_WORKSPACE", "HOME", "MINE", "PATH", "TMPDIR", "http_proxy", "npm_config_cache"},
		policy.NetworkAllowlist: {"CARGO_TERM_COLOR", "CARREL_WORKSPACE", "HOME", "MINE", "PATH", "TMPDIR", "npm_config_cache"},
	} {
		p.Network = network
		plan, err := Make(p, strong(), tree("/home/ada/p/x").tree(), Command{Env: env, Set: []string{"MINE=1"}})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, v := range plan.Env {
			name, _, _ := strings.Cut(v, "=")
			names = append(names, name)
		}
		if !slices.Equal(names, want) {
			t.Errorf("%s: %v, want %v", network, names, want)
		}
		if !slices.Contains(plan.Env, "TMPDIR=/tmp") {
			t.Errorf("TMPDIR is not the sandbox's own: %v", plan.Env)
		}
	}
}

// Where nothing is captured, commands see the one program that opens tunnels, and nothing beside it.
func TestHelperIsShownWhereSSHNeedsIt(t *testing.T) {
	p := ada()
	p.Network = policy.NetworkAllowlist
	m := strong()
	m.Helper = p.Root + "/run/carrel-sandbox-1"
	host := fewTree("/home/ada").tree()
	lines := []string{p.Project + "/x", m.Helper, p.Root + "/run/token", "/run/x"}
	for tier, at := range map[Tier]string{TierA: "", TierB: helperAt, TierC: m.Helper} {
		plan, err := Make(p, m, tree(lines...).tree(), Command{Tier: tier})
		if err != nil {
			t.Fatal(err)
		}
		if plan.Helper != at {
			t.Errorf("tier %s: commands see it at %q", tier, plan.Helper)
		}
		shown := 0
		for _, mount := range plan.Mounts {
			if strings.HasPrefix(mount.Source, p.Root+"/run") {
				shown++
				if mount.Kind != KindRO || mount.Source != m.Helper || mount.Target != at {
					t.Errorf("tier %s: %+v", tier, mount)
				}
			}
		}
		for _, a := range plan.Access {
			if strings.HasPrefix(a.Path, p.Root+"/run") {
				shown++
				if a.Rights != Read || a.Path != at {
					t.Errorf("tier %s: %+v", tier, a)
				}
			}
		}
		if (shown == 1) != (at != "") || shown > 1 {
			t.Errorf("tier %s: shown %d times", tier, shown)
		}
	}
	p.Network = policy.NetworkAllow
	if plan, err := Make(p, m, host, Command{Tier: TierB}); err == nil && plan.Helper != "" {
		t.Errorf("an open network needs no helper: %q", plan.Helper)
	}
}
