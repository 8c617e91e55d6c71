package sandbox

import (
	"bufio"
	"bytes"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"

	"carrel/sandbox/plan"
	"carrel/sandbox/policy"
)

// listeningSockets lists the sockets in the file system that someone listens on, in this network
// namespace. It is empty where /proc does not tell.
func listeningSockets() []string {
	text, err := os.ReadFile("/proc/net/unix")
	if err != nil {
		return nil
	}
	const listening = "00010000" // the flag __SO_ACCEPTCON
	var found []string
	for line := range bytes.Lines(text) {
		f := bytes.SplitN(bytes.TrimRight(line, "\n"), []byte(" "), 8)
		if len(f) < 8 || string(f[3]) != listening {
			continue
		}
		// Columns are padded, so the inode may have spaces before it: the path starts at the slash.
		if i := bytes.IndexByte(f[7], '/'); i >= 0 && !bytes.ContainsRune(f[7], '@') {
			found = append(found, string(f[7][i:]))
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// nameServers gives the addresses, with port 53, where programs look for a name server.
func nameServers() []string {
	servers := []string{"127.0.0.1:53"}
	f, err := os.Open("/etc/resolv.conf")
	if err != nil {
		return servers
	}
	defer func() { _ = f.Close() }()
	lines := bufio.NewScanner(f)
	for lines.Scan() && len(servers) <= 3 {
		word := strings.Fields(lines.Text())
		if len(word) < 2 || word[0] != "nameserver" {
			continue
		}
		a, err := netip.ParseAddr(word[1])
		if err != nil || a.Zone() != "" {
			continue
		}
		at := net.JoinHostPort(a.String(), "53")
		if !slices.Contains(servers, at) {
			servers = append(servers, at)
		}
	}
	return servers
}

// makePlan plans for this machine as it is now.
func (b *Box) makePlan(rules policy.Policy, c plan.Command) (plan.Plan, error) {
	machine := b.status.Machine
	machine.Mounts = b.ground.table()
	if c.Tier != plan.TierC { // a thread's rules of files say nothing of connecting to sockets
		machine.Sockets = listeningSockets()
	}
	machine.OldBwrap, machine.Helper = b.config.OldBwrap, b.config.Program
	if c.Tier == plan.TierB && !machine.Bwrap.AtLeast(0, 11, 0) {
		machine.Overlay = false // it has no arguments for them
	}
	return b.cache.Make(rules, machine, plan.Host(), c)
}
