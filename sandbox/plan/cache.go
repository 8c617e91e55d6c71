package plan

import (
	"maps"
	"slices"
	"sync"
	"time"

	"carrel/sandbox/policy"
)

// Cache keeps what planning learned of the tree, so that the next plan is cheap: while nothing that the
// last one looked at has changed, the next one is the last with another command. One belongs to one
// sandbox; several goroutines may use it.
type Cache struct {
	// MaxAge is how long the search for nested repositories counts without a look at the tree. Set it
	// before the first use. Call Forget when something outside of the sandbox may have made one.
	MaxAge time.Duration
	// Now is the clock.
	Now func() time.Time
	// Watcher, when there is one, saves most looks at the tree. Set it before the first use.
	Watcher Watcher

	mu      sync.Mutex
	scanner *scanner
	last    *made
}

// Watcher tells that something may have changed, so that a plan need not look.
type Watcher interface {
	// Add watches a folder, or a file, and says whether it can. Of a name that does not exist it
	// watches where it would appear.
	Add(name string) bool
	// Generation is the same number as before when nothing that was added has changed since.
	Generation() uint64
	// Reset forgets what was added.
	Reset()
}

// made is a plan and what it rests on.
type made struct {
	policy policy.Policy
	m      Machine
	tier   Tier
	agent  string
	tree   Tree
	look   *look
	scans  map[string][]hit
	finder *scanner
	plan   Plan
	rules  *rules
	env    environment       // of the last command
	dirs   map[string]string // where commands started, while nothing changes

	generation uint64 // of the watcher, when all of it was last known to hold
}

// NewCache returns an empty cache whose MaxAge is ten seconds.
func NewCache() *Cache { return &Cache{MaxAge: 10 * time.Second, Now: time.Now} }

// Make is the function Make, helped by what earlier calls learned. The slices of the answer are shared
// with later ones: they are for reading.
func (c *Cache) Make(p policy.Policy, m Machine, t Tree, cmd Command) (Plan, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	tier := cmd.Tier
	if tier == "" {
		tier = m.Best(p.Network)
	}
	base, err := c.base(p, m, t, tier, agentSocket(p, cmd.Env))
	if err != nil {
		return Plan{}, err
	}
	return base.command(cmd)
}

// base is the part of a plan that does not depend on the command.
func (c *Cache) base(p policy.Policy, m Machine, t Tree, tier Tier, agent string) (*made, error) {
	now := c.Now()
	scan := func(root string, skip func(string) bool) ([]hit, bool) {
		return c.scanner.search(t, root, skip, now, c.MaxAge)
	}
	if last := c.last; last != nil && last.tree == t && last.tier == tier && last.agent == agent && last.m.equal(m) &&
		last.policy.Equal(p) && last.finder == c.scanner && c.holds(last, t) && last.scansHold(scan) {
		return last, nil
	}
	if names := deepNames(p.Guards); c.scanner == nil || !maps.Equal(c.scanner.names, names) {
		c.scanner = newScanner(names)
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if err := m.Can(tier, p.Network); err != nil {
		return nil, err
	}
	var generation uint64
	if c.Watcher != nil {
		c.Watcher.Reset()
		generation = c.Watcher.Generation() // before the first look
	}
	next := &made{policy: p, m: m, tier: tier, agent: agent, tree: t, look: newLook(t, now, c.Watcher), generation: generation, dirs: map[string]string{}, scans: map[string][]hit{}, finder: c.scanner, rules: newRules()}
	k := &maker{
		p: p, m: m, tier: tier, agent: agent, look: next.look, rules: next.rules,
		wants: map[string]want{}, guarded: map[string]bool{}, absent: map[string]Absent{}, rebuilt: map[string]bool{},
		gitDirs: map[string]bool{}, keptIDs: map[string]bool{},
		scan: func(root string, skip func(string) bool) ([]hit, bool) {
			hits, whole := scan(root, skip)
			next.scans[root] = hits
			return hits, whole
		},
	}
	if err := k.make(); err != nil {
		return nil, err
	}
	next.plan = k.plan
	next.plan.key = next.plan.hash()
	c.last = next
	return next, nil
}

// holds reports whether what the last plan saw is still so.
func (c *Cache) holds(last *made, t Tree) bool {
	if c.Watcher == nil {
		return last.look.holds(t, false)
	}
	generation := c.Watcher.Generation() // before the look
	if !last.look.holds(t, generation == last.generation) {
		return false
	}
	if generation != last.generation {
		last.generation = generation
		clear(last.dirs)
	}
	return true
}

// scansHold searches again and compares.
func (b *made) scansHold(scan func(string, func(string) bool) ([]hit, bool)) bool {
	roots := map[string]bool{}
	for root := range b.scans {
		roots[root] = true
	}
	for root, before := range b.scans {
		now, _ := scan(root, func(dir string) bool { return b.rules.hidden(dir) || dir != root && roots[dir] })
		if !slices.Equal(now, before) {
			return false
		}
	}
	return true
}

// Forget drops what MaxAge protects: the next plan looks at the tree again.
func (c *Cache) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.scanner != nil {
		c.scanner.results = map[string]result{}
	}
}

// Refresh searches trees again whose last search is older than half of MaxAge, so that the next plan
// need not. It is for the time after a command, when nobody waits.
func (c *Cache) Refresh() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last == nil || c.scanner == nil {
		return
	}
	now, last := c.Now(), c.last
	last.scansHold(func(root string, skip func(string) bool) ([]hit, bool) {
		return c.scanner.search(last.tree, root, skip, now, c.MaxAge/2)
	})
}
