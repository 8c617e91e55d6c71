package plan

import (
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"time"
)

// memory is a tree in memory: path -> node.
type memory map[string]*node

type node struct {
	kind fs.FileMode
	link string
	text string
	at   time.Time
	id   uint64
}

// tree makes one from lines: "dir/" a folder, "file" or "file = text" a file, "name -> target" a link,
// "name |" a socket. Folders above are made.
func tree(lines ...string) memory {
	t := memory{}
	t.put("/", &node{kind: fs.ModeDir})
	for _, dir := range []string{"/tmp/", "/var/tmp/", "/run/", "/proc/", "/dev/null", "/etc/resolv.conf", "/usr/bin/tool"} {
		t.add(dir)
	}
	for _, line := range lines {
		t.add(line)
	}
	return t
}

func (t memory) add(line string) {
	switch {
	case strings.HasSuffix(line, "/"):
		t.put(strings.TrimSuffix(line, "/"), &node{kind: fs.ModeDir})
	case strings.Contains(line, " -> "):
		name, target, _ := strings.Cut(line, " -> ")
		t.put(name, &node{kind: fs.ModeSymlink, link: target})
	case strings.HasSuffix(line, " |"):
		t.put(strings.TrimSuffix(line, " |"), &node{kind: fs.ModeSocket})
	default:
		name, text, _ := strings.Cut(line, " = ")
		t.put(name, &node{text: strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(text)})
	}
}

// put adds a node; links on the way are followed, as a program would.
func (t memory) put(name string, n *node) {
	n.id, n.at = uint64(len(t)+1), time.Unix(1_700_000_000, 0)
	if name == "" || name == "/" {
		t["/"] = n
		return
	}
	dir := path.Dir(name)
	for {
		at, parent, err := t.find(dir)
		if err != nil {
			t.put(dir, &node{kind: fs.ModeDir})
			continue
		}
		if parent.kind != fs.ModeSymlink {
			name = path.Join(at, path.Base(name))
			if old := t[name]; old == nil || old.kind == n.kind {
				t[name] = n
			}
			return
		}
		if dir = parent.link; !path.IsAbs(dir) {
			dir = path.Join(path.Dir(at), dir)
		}
	}
}

// touch makes or changes a file as a program would, at a time.
func (t memory) touch(line string, at time.Time) {
	before := maps.Clone(t)
	t.add(line)
	name, _, _ := strings.Cut(strings.TrimSuffix(line, "/"), " ")
	name, n, _ := t.find(name)
	n.at = at
	for dir := path.Dir(name); ; dir = path.Dir(dir) {
		t[dir].at = at
		if before[dir] != nil {
			return
		}
	}
}

// find resolves all but the last element, as a system does.
func (t memory) find(name string) (string, *node, error) {
	dir := "/"
	if name == "/" {
		return name, t[name], nil
	}
	rest := elements(path.Dir(name))
	for links := 0; len(rest) > 0; {
		e := rest[0]
		rest = rest[1:]
		if e == ".." {
			dir = path.Dir(dir)
			continue
		}
		n := t[path.Join(dir, e)]
		switch {
		case n == nil:
			return "", nil, fs.ErrNotExist
		case n.kind == fs.ModeSymlink:
			if links++; links > 40 {
				return "", nil, fs.ErrInvalid
			}
			rest = append(elements(n.link), rest...)
			if path.IsAbs(n.link) {
				dir = "/"
			}
		default:
			dir = path.Join(dir, e)
		}
	}
	at := path.Join(dir, path.Base(name))
	n := t[at]
	if n == nil {
		return at, nil, fs.ErrNotExist
	}
	return at, n, nil
}

func (t memory) Lstat(name string) (Entry, error) {
	_, n, err := t.find(name)
	if err != nil {
		return Entry{}, err
	}
	return Entry{Name: path.Base(name), Type: n.kind, Inode: n.id, ModTime: n.at}, nil
}

func (t memory) ReadDir(name string) ([]Entry, error) {
	at, n, err := t.find(name)
	if err != nil || !n.kind.IsDir() {
		return nil, fs.ErrInvalid
	}
	var list []Entry
	for p, n := range t {
		if p != "/" && path.Dir(p) == at {
			list = append(list, Entry{Name: path.Base(p), Type: n.kind})
		}
	}
	slices.SortFunc(list, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

func (t memory) CanMake(dir string) bool {
	_, n, err := t.find(dir)
	return err == nil && n.kind.IsDir() && !strings.Contains(dir, "locked")
}

func (t memory) Readlink(name string) (string, error) {
	_, n, err := t.find(name)
	if err != nil || n.kind != fs.ModeSymlink {
		return "", fs.ErrInvalid
	}
	return n.link, nil
}

func (t memory) ReadFile(name string, limit int) ([]byte, error) {
	_, n, err := t.find(name)
	switch {
	case err != nil || !n.kind.IsRegular():
		return nil, fs.ErrInvalid
	case len(n.text) > limit:
		return nil, ErrTooMany
	}
	return []byte(n.text), nil
}

// A Tree has to be comparable.
type memoryTree struct{ memory }

func (t memory) tree() Tree { return &memoryTree{t} }

func TestTreeInMemoryFollowsLinks(t *testing.T) {
	m := tree("/a/b/c = x", "/l -> a/b", "/a/up -> ../l")
	for _, name := range []string{"/a/b/c", "/l/c", "/a/up/c", "/a/up/../b/c"} {
		if text, err := m.ReadFile(name, 10); err != nil || string(text) != "x" {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}
