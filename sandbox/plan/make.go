package plan

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"carrel/sandbox/policy"
)

// maker makes one plan.
type maker struct {
	p     policy.Policy
	m     Machine
	tier  Tier
	look  *look
	scan  func(root string, skip func(string) bool) ([]hit, bool)
	rules *rules
	plan  Plan

	agent         string // the socket of the SSH agent, if the policy lets commands use it
	home, private string
	project       string
	roots         []root // writable trees, resolved
	wants         map[string]want
	guarded       map[string]bool
	absent        map[string]Absent
	rebuilt       map[string]bool
	gitDirs       map[string]bool
	keptIDs       map[string]bool // admin folders of linked worktrees that stay writable
	caches        []cacheAt
}

// root is a tree that commands write for good.
type root struct {
	path string
	why  string
	kind rootKind
}

// rootKind says which guards a root has.
type rootKind int

const (
	rootNamed  rootKind = iota // the project, or a folder that a person named
	rootCommon                 // the common folder of a linked worktree's repository
	rootGit                    // the git folder of a submodule
	rootCache                  // a cache that is written directly
)

// want is a mount that is to be made once everything is known.
type want struct {
	Mount
	rank  int
	watch bool
}

// Of two wants for one target the higher rank is made.
const (
	rankDir   = 20
	rankLook  = 30 // part of a rebuilt folder
	rankCache = 55
	rankGuard = 70
	rankRoot  = 75
	rankMask  = 80
	rankTmpfs = 90
	rankBase  = 100
)

// make does everything that does not depend on the command.
func (k *maker) make() error {
	steps := []func() error{
		k.places, k.writeRoots, k.repositories, k.visible, k.cacheRoots, k.hideSockets,
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	if !k.p.ReadOnly {
		k.guards()
	}
	if k.tier == TierC {
		k.enumerate()
	} else {
		if err := k.mounts(); err != nil {
			return err
		}
		k.grant()
	}
	k.finish()
	return nil
}

// places resolves the folders that everything else is measured by.
func (k *maker) places() error {
	home := k.look.real(k.p.Home)
	private := k.look.real(k.p.Private)
	if err := private.err; err != nil {
		return fmt.Errorf("plan sandbox %q: %w", k.p.Project, err)
	}
	k.home, k.private = home.path, private.path
	project := k.look.real(k.p.Project)
	switch {
	case project.err != nil:
		return fmt.Errorf("plan sandbox %q: %w", k.p.Project, project.err)
	case !project.exists || !k.look.isDir(project.path):
		return fmt.Errorf("plan sandbox %q: the project is no folder that can be seen", k.p.Project)
	case project.path == "/":
		return fmt.Errorf("plan sandbox %q: it leads to the top of the file system", k.p.Project)
	case within(project.path, k.private):
		return fmt.Errorf("plan sandbox %q: the project lies in the sandbox's private folder", k.p.Project)
	}
	k.project = project.path
	return nil
}

// writeRoots resolves what commands may write. A root that is reached through a link which commands
// could have made is refused: it could lead anywhere.
func (k *maker) writeRoots() error {
	if k.p.ReadOnly {
		return nil
	}
	k.roots = []root{{path: k.project, why: "the project"}}
	links := map[string][]string{k.project: k.look.real(k.p.Project).links}
	for _, name := range k.p.Write {
		r := k.look.real(name)
		switch {
		case r.err != nil:
			return fmt.Errorf("plan sandbox %q: writable folder: %w", name, r.err)
		case !r.exists:
			k.note("%s does not exist and is not writable", name)
			continue
		case r.path == "/" || within(r.path, k.private) || r.path == k.p.Root:
			return fmt.Errorf("plan sandbox %q: writable folder: it leads to %q", name, r.path)
		}
		if _, again := links[r.path]; !again {
			k.roots = append(k.roots, root{path: r.path, why: "writable by your settings"})
		}
		links[r.path] = append(links[r.path], r.links...)
	}
	for target, followed := range links {
		for _, link := range followed {
			if w := k.writable(link); w != "" {
				return fmt.Errorf("plan sandbox %q: it is reached through the symbolic link %q, which commands can change; name the folder itself", target, link)
			}
		}
	}
	return nil
}

// writable returns the root that covers a path, the longest one, or "".
func (k *maker) writable(name string) string {
	best := ""
	for _, r := range k.roots {
		if within(name, r.path) && len(r.path) > len(best) {
			best = r.path
		}
	}
	return best
}

// visible fills the rules: roots first, then denials, then exceptions.
func (k *maker) visible() error {
	if agent := k.look.real(k.agent); k.agent != "" && agent.exists && agent.err == nil {
		k.agent = agent.path
		k.rules.reveal(k.agent)
	} else {
		k.agent = ""
	}
	k.rules.reveal(k.project)
	for _, r := range k.roots {
		k.rules.reveal(r.path)
	}
	denied := slices.Concat(k.p.DenyRead, []string{k.p.Private}, k.spoken())
	if k.m.Root {
		denied = append(denied, policy.SystemSecrets()...)
	}
	for _, name := range denied {
		for _, d := range k.spellings(name) {
			if k.rules.show[d] {
				return fmt.Errorf("plan sandbox %q: it is denied by %q and can't be used at the same time", d, name)
			}
			k.rules.hide(d, k.mountedAbove(d))
		}
	}
	k.hideAliases()
	for _, name := range k.p.AllowRead {
		for _, dir := range k.spellings(path.Dir(name)) {
			if wildcard(path.Base(name)) {
				k.rules.match(dir, path.Base(name))
			} else if shown := path.Join(dir, path.Base(name)); !k.rules.deny[shown] {
				k.rules.reveal(shown)
			}
		}
	}
	return nil
}

// spellings is where a name lies, with the links on the way followed, and where it leads if it is a link
// itself: both have to be denied.
func (k *maker) spellings(name string) []string {
	parent := k.look.real(path.Dir(name))
	if parent.err != nil {
		return nil // it leads nowhere
	}
	list := []string{path.Join(parent.path, path.Base(name))}
	if r := k.look.real(name); r.err == nil && r.path != "/" && r.path != list[0] {
		list = append(list, r.path)
	}
	return list
}

// mountedAbove is the deepest root that covers a path, "/" without one: below it nothing needs to be
// rebuilt, a mask does.
func (k *maker) mountedAbove(name string) string {
	if w := k.writable(name); w != "" {
		return w
	}
	return "/"
}

// hideSockets denies the sockets that programs outside listen on, but those in what commands may write:
// they belong to the project.
func (k *maker) hideSockets() error {
	count := 0
	for _, name := range k.m.Sockets {
		if !path.IsAbs(name) || path.Clean(name) != name || strings.ContainsRune(name, 0) || k.writable(name) != "" {
			continue
		}
		if count++; count > maxSockets {
			k.unheld("more than %d programs listen on Unix sockets; the rest are not hidden", maxSockets)
			break
		}
		if r := k.look.real(name); r.exists && r.err == nil && r.path != k.agent && k.writable(r.path) == "" && !k.rules.hidden(r.path) {
			k.rules.hide(r.path, "/")
		}
	}
	return nil
}

const maxSockets = 500

func (k *maker) want(w want) {
	if old, ok := k.wants[w.Target]; !ok || w.rank > old.rank {
		k.wants[w.Target] = w
	}
}

func (k *maker) note(format string, args ...any) {
	k.plan.Notes = append(k.plan.Notes, fmt.Sprintf(format, args...))
}

func (k *maker) unheld(format string, args ...any) {
	k.plan.Unheld = append(k.plan.Unheld, fmt.Sprintf(format, args...))
}
