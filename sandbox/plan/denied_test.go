package plan

import (
	"errors"
	"path"
	"slices"
	"strings"
	"testing"

	"carrel/sandbox/policy"
)

// L54, L56, L58, L67, L68, L69, L128: what is denied in home can't be seen, whether it exists, appears or is
// replaced while a command runs; what tools need beside it can.
func TestDeniedFilesOfHomeAreNotThereNowOrLater(t *testing.T) {
	host := tree("/home/ada/p/x", "/home/ada/.ssh/id_ed25519", "/home/ada/.ssh/id_ed25519.pub", "/home/ada/.ssh/config", "/home/ada/.aws/credentials",
		"/home/ada/.netrc", "/home/ada/.carrel/secrets", "/home/ada/.config/gh/hosts.yml", "/home/ada/.config/tool/x", "/home/ada/notes")
	_, v := planOf(t, ada(), strong(), host, Command{})
	for _, name := range []string{".ssh/id_ed25519", ".aws", ".aws/credentials", ".netrc", ".carrel", ".config/gh", ".config/gh/hosts.yml"} {
		if got := v.sees("/home/ada/" + name); got != gone {
			t.Errorf("%s: %s", name, got)
		}
	}
	for _, name := range []string{".ssh/new", ".ssh/id_ed25519", ".aws/late", ".netrc", ".kube/config", ".config/op", ".npmrc", ".new"} {
		if v.late("/home/ada/" + name) {
			t.Errorf("%s: it would be seen if it appeared", name)
		}
	}
	for _, name := range []string{".ssh/config", ".ssh/id_ed25519.pub", ".config/tool/x", "notes"} {
		if got := v.sees("/home/ada/" + name); got != readable {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// A denied path outside of home is masked, and its loss ends the command; one that does not exist yet is
// told.
func TestDeniedFilesElsewhereAreMaskedAndWatched(t *testing.T) {
	p := ada()
	p.DenyRead = append(p.DenyRead, "/srv/secret", "/srv/key", "/srv/missing", "/home/ada/p/.env")
	host := tree("/home/ada/p/.env", "/srv/secret/in/x", "/srv/key", "/srv/open")
	plan, v := planOf(t, p, strong(), host, Command{})
	for _, name := range []string{"/srv/secret", "/srv/secret/in/x", "/srv/key", "/home/ada/p/.env"} {
		if got := v.sees(name); got != gone {
			t.Errorf("%s: %s", name, got)
		}
	}
	for _, name := range []string{"/srv/secret", "/srv/key", "/home/ada/p/.env"} {
		if !slices.Contains(plan.Watch, name) {
			t.Errorf("%s is not watched", name)
		}
	}
	if !slices.ContainsFunc(plan.Unheld, func(s string) bool { return strings.HasPrefix(s, "/srv/missing ") }) {
		t.Errorf("the missing one is not told: %v", plan.Unheld)
	}
}

// A secret that is a link is denied at both ends.
func TestDeniedLinkIsDeniedWhereItLeads(t *testing.T) {
	host := tree("/home/ada/p/x", "/srv/keys/id", "/home/ada/.ssh -> /srv/keys", "/data/aws/credentials", "/home/ada/data -> /data", "/home/ada/.aws -> data/aws")
	_, v := planOf(t, ada(), strong(), host, Command{})
	for _, name := range []string{"/srv/keys", "/srv/keys/id", "/home/ada/.ssh", "/data/aws/credentials"} {
		if got := v.sees(name); got != gone {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// As the machine's root the files that permissions hide from others are denied too.
func TestRootDoesNotSeeSystemSecrets(t *testing.T) {
	m := strong()
	host := tree("/home/ada/p/x", "/etc/shadow", "/etc/passwd")
	_, v := planOf(t, ada(), m, host, Command{})
	if got := v.sees("/etc/shadow"); got != readable {
		t.Errorf("a person's own rights decide: %s", got)
	}
	m.Root = true
	plan, v := planOf(t, ada(), m, host, Command{})
	if got := v.sees("/etc/shadow"); got != gone {
		t.Errorf("/etc/shadow: %s", got)
	}
	if !slices.ContainsFunc(plan.Unheld, func(s string) bool { return strings.Contains(s, "machine's root") }) {
		t.Error("it is not said what being root means")
	}
}

// L79, L81, L83, L84, L129: sockets of the machine and the session are not there; the project's own are.
func TestSocketsOfProgramsOutsideAreHidden(t *testing.T) {
	m := strong()
	m.Sockets = []string{"/run/docker.sock", "/tmp/tmux-1000/default", "/home/ada/.tool/s", "/opt/d/s", "/home/ada/p/db/.s.PGSQL", "relative", "/gone"}
	var lines []string
	for _, s := range m.Sockets {
		if path.IsAbs(s) && s != "/gone" {
			lines = append(lines, s+" |")
		}
	}
	host := tree(append(lines, "/home/ada/p/x", "/home/ada/.tool/conf", "/home/ada/.colima/x")...)
	_, v := planOf(t, ada(), m, host, Command{})
	for _, name := range []string{"/run/docker.sock", "/tmp/tmux-1000/default", "/home/ada/.tool/s", "/opt/d/s", "/home/ada/.colima"} {
		if got := v.sees(name); got == readable || got == changed {
			t.Errorf("%s: %s", name, got)
		}
	}
	for _, name := range []string{"/home/ada/.tool/other.sock", "/home/ada/.colima/late.sock", "/run/new.sock", "/tmp/new.sock"} {
		if v.late(name) {
			t.Errorf("%s: it would be seen if it appeared", name)
		}
	}
	if got := v.sees("/home/ada/p/db/.s.PGSQL"); got != changed {
		t.Errorf("the project's own socket: %s", got)
	}
}

// The SSH agent is there only if the person said so, and nothing beside it.
func TestSSHAgentIsThereOnRequestOnly(t *testing.T) {
	m := strong()
	m.Sockets = []string{"/tmp/ssh-x/agent", "/tmp/ssh-x/other"}
	host := tree("/home/ada/p/x", "/tmp/ssh-x/agent |", "/tmp/ssh-x/other |")
	for _, allowed := range []bool{false, true} {
		p := ada()
		p.SSHAgent = allowed
		plan, v := planOf(t, p, m, host, Command{Env: []string{"SSH_AUTH_SOCK=/tmp/ssh-x/agent"}})
		if got := v.sees("/tmp/ssh-x/agent") == readable; got != allowed {
			t.Errorf("allowed %v: there %v\n%s", allowed, got, plan.Text())
		}
		if v.sees("/tmp/ssh-x/other") == readable {
			t.Error("another socket came along")
		}
		if slices.Contains(plan.Env, "SSH_AUTH_SOCK=/tmp/ssh-x/agent") != allowed {
			t.Errorf("allowed %v: %v", allowed, plan.Env)
		}
	}
}

// L26: writes into caches go to a layer of the workspace's own, or to the cache where the person says so.
func TestCachesAreLayeredUnlessThePersonSaysOtherwise(t *testing.T) {
	host := tree("/home/ada/p/x", "/home/ada/go/pkg/mod/m", "/home/ada/.cache/pip/x", "/home/ada/.cache/other/x", "/home/ada/.npm/_cacache/x")
	p := ada()
	p.Caches = []policy.Cache{{Path: "/home/ada/go/pkg", Mode: policy.CacheOverlay}, {Path: "/home/ada/.cache/pip", Mode: policy.CacheWrite},
		{Path: "/home/ada/.npm/_cacache", Mode: policy.CacheOff}, {Path: "/home/ada/.cache/uv", Mode: policy.CacheOverlay, Fresh: true},
		{Path: "/home/ada/.cache/gone", Mode: policy.CacheOverlay}}
	plan, v := planOf(t, p, strong(), host, Command{})
	for name, want := range map[string]seen{
		"go/pkg/mod/m": layered, ".cache/pip/x": changed, ".npm/_cacache/x": readable, ".cache/uv": own, ".cache/other/x": readable, ".cache/gone": gone,
	} {
		if got := v.sees("/home/ada/" + name); got != want {
			t.Errorf("%s: %s, want %s\n%s", name, got, want, plan.Text())
		}
	}
	m := strong()
	m.Overlay = false
	_, v = planOf(t, p, m, host, Command{})
	if got := v.sees("/home/ada/go/pkg/mod/m"); got != own {
		t.Errorf("without layers a cache is private and empty: %s", got)
	}
	p.ReadOnly = true
	_, v = planOf(t, p, strong(), host, Command{})
	if got := v.sees("/home/ada/.cache/pip/x"); got != layered {
		t.Errorf("read-only: %s", got)
	}
}

// L124: a cache or a write root that is a link, or is reached through one that a command may have made, is
// not followed.
func TestPlantedLinksAreNotFollowed(t *testing.T) {
	outside := []string{"/home/ada/p/x", "/home/ada/outside/x"}
	cache := []policy.Cache{{Path: "/home/ada/.cache/pip", Mode: policy.CacheWrite}, {Path: "/home/ada/.cache/uv", Mode: policy.CacheOverlay, Fresh: true}}
	p := ada()
	p.Caches = cache
	for _, tier := range []Tier{TierA, TierC} {
		plan, err := Make(p, strong(), tree(append(outside, "/home/ada/.cache/pip -> ../outside", "/home/ada/.cache/uv -> /home/ada/outside")...).tree(), Command{Tier: tier})
		if err != nil || !slices.Equal(plan.Write, []string{"/home/ada/p"}) || len(plan.Notes) == 0 {
			t.Errorf("tier %s: %v, %v, notes %v", tier, plan.Write, err, plan.Notes)
		}
	}
	p = ada()
	p.Write = []string{"/home/ada/p/out/x"}
	_, err := Make(p, strong(), tree(append(outside, "/home/ada/p/out -> /home/ada/outside", "/home/ada/outside/x/")...).tree(), Command{})
	if err == nil || !strings.Contains(err.Error(), "symbolic link") {
		t.Errorf("a write root through the project's link: %v", err)
	}
	p = ada()
	p.Write, p.Caches = []string{"/home/ada/.cache"}, []policy.Cache{{Path: "/data/c", Mode: policy.CacheWrite}}
	plan, err := Make(p, strong(), tree(append(outside, "/home/ada/.cache/x", "/data -> /home/ada/.cache/planted", "/home/ada/.cache/planted -> /home/ada/outside", "/home/ada/outside/c/")...).tree(), Command{})
	if err != nil || slices.Contains(plan.Write, "/home/ada/outside/c") {
		t.Errorf("a cache through a link in a write root: %v, %v", plan.Write, err)
	}
	// The person's own link is followed.
	p = ada()
	p.Project = "/home/ada/link"
	plan, err = Make(p, strong(), tree("/data/p/x", "/home/ada/link -> /data/p").tree(), Command{})
	if err != nil || !slices.Equal(plan.Write, []string{"/data/p"}) || plan.Dir != "/data/p" {
		t.Errorf("the person's own link: %v, %q, %v", plan.Write, plan.Dir, err)
	}
}

// L74, L77: temporary files are the workspace's own; a project in /tmp is there all the same.
func TestTemporaryFilesArePrivate(t *testing.T) {
	p := ada()
	p.Project = "/tmp/deep/p"
	_, v := planOf(t, p, strong(), tree("/tmp/deep/p/x", "/tmp/deep/other", "/tmp/x", "/var/tmp/y", "/home/ada/"), Command{})
	for name, want := range map[string]seen{"/tmp/deep/p/x": changed, "/tmp/deep/other": own, "/tmp/x": own, "/var/tmp/y": own} {
		if got := v.sees(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestCommandsStartWhereTheyCanSee(t *testing.T) {
	host := tree("/home/ada/p/sub/x", "/home/ada/.ssh/id", "/tmp/hostonly/x", "/home/ada/p/in -> sub", "/home/ada/p/f")
	for dir, want := range map[string]string{"": "/home/ada/p", "/home/ada/p/sub": "/home/ada/p/sub", "/home/ada/p/in": "/home/ada/p/sub", "/usr/bin": "/usr/bin", "/tmp": "/tmp"} {
		plan, err := Make(ada(), strong(), host.tree(), Command{Dir: dir})
		if err != nil || plan.Dir != want {
			t.Errorf("%q: %q, %v", dir, plan.Dir, err)
		}
	}
	for _, dir := range []string{"/home/ada/.ssh", "/tmp/hostonly", "/absent", "/home/ada/p/f", "relative", "/home/ada/.carrel/sandbox/w1"} {
		if plan, err := Make(ada(), strong(), host.tree(), Command{Dir: dir}); err == nil {
			t.Errorf("%q: starts in %q", dir, plan.Dir)
		}
	}
}

// Never a weaker tier in silence: what a machine can't do is an error with the mend.
func TestUnavailableTiersAreErrorsWithAMend(t *testing.T) {
	full := strong()
	without := func(change func(*Machine)) Machine { m := full; change(&m); return m }
	for _, c := range []struct {
		m    Machine
		n    policy.Network
		tier Tier
		ok   bool
	}{
		{full, policy.NetworkDeny, TierA, true},
		{without(func(m *Machine) { m.UserNS = false }), policy.NetworkAllow, TierA, false},
		{without(func(m *Machine) { m.NetNS = false }), policy.NetworkAllow, TierA, true},
		{without(func(m *Machine) { m.NetNS = false }), policy.NetworkAllowlist, TierA, false},
		{without(func(m *Machine) { m.Seccomp = false }), policy.NetworkAllow, TierC, false},
		{full, policy.NetworkDeny, TierB, true},
		{without(func(m *Machine) { m.Bwrap = Version{0, 11, 9} }), policy.NetworkDeny, TierB, false},
		{without(func(m *Machine) { m.Bwrap, m.OldBwrap = Version{0, 8, 0}, true }), policy.NetworkDeny, TierB, true},
		{without(func(m *Machine) { m.Bwrap, m.OldBwrap = Version{}, true }), policy.NetworkDeny, TierB, false},
		{without(func(m *Machine) { m.Landlock = 3 }), policy.NetworkAllow, TierC, true},
		{without(func(m *Machine) { m.Landlock = 3 }), policy.NetworkDeny, TierC, false},
		{without(func(m *Machine) { m.Landlock = 2 }), policy.NetworkAllow, TierC, false},
		{full, policy.NetworkAllow, TierD, false},
	} {
		p := ada()
		p.Network = c.n
		_, err := Make(p, c.m, tree("/home/ada/p/x").tree(), Command{Tier: c.tier})
		var missing *Unavailable
		if (err == nil) != c.ok || err != nil && (!errors.As(err, &missing) || missing.Mend == "" || missing.Tier != c.tier) {
			t.Errorf("%+v %s %s: %v", c.m, c.n, c.tier, err)
		}
	}
	if got := (Machine{}).Best(policy.NetworkAllow); got != TierD {
		t.Errorf("a machine without anything has tier %s", got)
	}
}

// With the network open the namespace is shared: sockets without a path are refused by Landlock, or there
// are none.
func TestOpenNetworkWithoutLandlockScopesHasNoUnixSockets(t *testing.T) {
	for abi, want := range map[int]bool{5: false, 6: true} {
		m := strong()
		m.Landlock = abi
		plan, err := Make(ada(), m, tree("/home/ada/p/x").tree(), Command{})
		if err != nil || plan.Unix != want {
			t.Errorf("ABI %d: %v, %v", abi, plan.Unix, err)
		}
	}
}

// L71, L74 in tier C: neither shared memory nor the terminals of others are granted.
func TestTierCGrantsNoSharedPlaces(t *testing.T) {
	host := tree("/home/ada/p/x", "/dev/shm/host", "/dev/pts/0", "/dev/tty", "/tmp/x/y", "/run/user/1000/bus |", "/dev/kvm")
	plan, err := Make(ada(), strong(), host.tree(), Command{Tier: TierC, Env: []string{"PATH=/bin"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range plan.Access {
		if a.Rights&^List == 0 {
			continue
		}
		for _, name := range []string{"/dev/shm/host", "/dev/pts/0", "/tmp/x/y", "/run/user/1000/bus", "/dev/kvm"} {
			if within(name, a.Path) {
				t.Errorf("%s is granted by %s", name, a.Path)
			}
		}
	}
	if plan.Unix || !slices.Contains(plan.Env, "TMPDIR=/home/ada/.carrel/sandbox/w1/tmp") {
		t.Errorf("Unix sockets %v, %v", plan.Unix, plan.Env)
	}
}

// Where Landlock knows Unix sockets, commands have those of their own and of what they can write, in
// tier C too; of the session's they get the agent's, on request.
func TestSocketsAreGrantedByPathWhereTheKernelCan(t *testing.T) {
	host := tree("/home/ada/p/x", "/tmp/ssh-x/agent |", "/run/docker.sock |")
	for abi, want := range map[int]map[string]bool{
		7: {}, 9: {"/home/ada/p": true, "/tmp/ssh-x/agent": true, "/home/ada/.carrel/sandbox/w1/tmp": true},
	} {
		for _, tier := range []Tier{TierA, TierC} {
			m, p := strong(), ada()
			m.Landlock, p.SSHAgent, p.Network = abi, true, policy.NetworkDeny
			plan, err := Make(p, m, host.tree(), Command{Tier: tier, Env: []string{"SSH_AUTH_SOCK=/tmp/ssh-x/agent"}})
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]bool{}
			for _, a := range plan.Access {
				if a.Rights&Socket != 0 {
					got[a.Path] = true
				}
			}
			for path := range got {
				if path == "/" || strings.HasPrefix(path, "/run") || strings.HasPrefix(path, "/dev/pts") || abi < 9 {
					t.Errorf("tier %s, ABI %d: sockets in %s can be connected to", tier, abi, path)
				}
			}
			for path := range want {
				if !got[path] && (tier == TierC || !strings.Contains(path, ".carrel")) { // there it is /tmp
					t.Errorf("tier %s, ABI %d: sockets in %s can't be connected to", tier, abi, path)
				}
			}
			text := strings.Join(plan.Unheld, "\n")
			if limit := strings.Contains(text, "can be reached"); limit == (abi == 9) {
				t.Errorf("tier %s, ABI %d: %s", tier, abi, text)
			}
			p.SSHAgent = false
			if plan, err = Make(p, m, host.tree(), Command{Tier: tier}); err != nil || plan.Unix != (tier == TierA || abi == 9) {
				t.Errorf("tier %s, ABI %d: Unix sockets %v, %v", tier, abi, plan.Unix, err)
			}
		}
	}
}
