package main

import (
	"go/ast"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// An arrow forbids imports. Patterns are import paths: "carrel/agent" is that package,
// "carrel/agent/..." it and all below. from and to match any of theirs and none of their
// exceptions.
type arrow struct {
	why      string
	from     []string
	fromBut  []string
	to       []string
	toBut    []string
	testsToo bool
}

// equipment are the packages that only tests use: conformance suites and test servers. What binds
// test files binds them, no more.
var equipment = []string{
	"carrel/agent/model/fakewire", "carrel/agent/model/modeltest", "carrel/agent/catalog/coder/fakecoder", "carrel/agent/catalog/coder/fakecoder/deployment", "carrel/agent/storm/legal", "carrel/workspaces/runtime/runtimetest",
	"carrel/sandbox/netproxy/proxytest",
}

// arrows is the house: main -> app/* -> app -> agent | workspaces | sandbox | computeruse,
// app | agent | workspaces -> store, agent -> workspaces/runtime -> sandbox. Nothing points back.
var arrows = []arrow{
	{
		why:     "nothing knows the application but its entry points, so that every host is as good as another",
		from:    []string{"carrel/..."},
		fromBut: []string{"carrel", "carrel/app/...", "carrel/bench/..."},
		to:      []string{"carrel/app/..."}, testsToo: true,
	},
	{
		why:  "services are plain structs: no host, transport or command line shows in them",
		from: []string{"carrel/app"},
		to:   []string{"carrel/app/...", "net/http/...", "github.com/spf13/cobra", "github.com/coder/websocket/..."},
		// The package itself matches the first pattern; a package can't import itself.
		toBut: []string{"carrel/app"},
	},
	{
		why:  "main has no logic: it hands its arguments on",
		from: []string{"carrel"},
		to:   []string{"carrel/..."}, toBut: []string{"carrel/app/..."},
	},
	{
		why:     "the window is one thin process; the core must start without GTK",
		from:    []string{"carrel/..."},
		fromBut: []string{"carrel/app/desktop/..."},
		to:      []string{"github.com/wailsapp/...", "C"}, testsToo: true,
	},
	{
		why:     "a command line is one host of several",
		from:    []string{"carrel/..."},
		fromBut: []string{"carrel/app/cli/..."},
		to:      []string{"github.com/spf13/..."}, testsToo: true,
	},
	{
		why:  "a conversation knows where its tools run and what it stores, not who manages the places",
		from: []string{"carrel/agent/..."},
		to:   []string{"carrel/..."},
		toBut: []string{"carrel/agent/...", "carrel/workspaces/runtime/...", "carrel/workspaces/compat",
			"carrel/store/..."},
	},
	{
		why:     "the agent knows no HTTP; the clients of model APIs live below agent/model, the catalog makes them",
		from:    []string{"carrel/agent/..."},
		fromBut: []string{"carrel/agent/model/...", "carrel/agent/catalog/..."},
		to:      []string{"net/http/...", "github.com/coder/websocket/..."},
	},
	{
		why:     "the agent knows no provider: the catalog alone picks one",
		from:    []string{"carrel/agent/..."},
		fromBut: []string{"carrel/agent/catalog/...", "carrel/agent/model/..."},
		to:      []string{"carrel/agent/model/..."}, toBut: []string{"carrel/agent/model"},
	},
	{
		why:  "a wire format stands alone; what they share is in agent/model/wire",
		from: []string{"carrel/agent/model/..."},
		to:   []string{"carrel/..."}, toBut: []string{"carrel/agent/model", "carrel/agent/model/wire/..."},
	},
	{
		why:  "who judges requests must not share a mistake with who writes them",
		from: []string{"carrel/agent/storm/legal"},
		to:   []string{"carrel/..."}, testsToo: true,
	},
	{
		why:   "workspaces exist without any conversation",
		from:  []string{"carrel/workspaces/..."},
		to:    []string{"carrel/...", "net/http/..."},
		toBut: []string{"carrel/workspaces/...", "carrel/store/...", "carrel/sandbox/..."},
	},
	{
		why:   "a runtime is used by tools and hooks alike, so it knows only the confinement of commands",
		from:  []string{"carrel/workspaces/runtime/..."},
		to:    []string{"carrel/..."},
		toBut: []string{"carrel/workspaces/runtime/...", "carrel/workspaces/compat", "carrel/sandbox/..."},
	},
	{
		why:  "the one git runner is a leaf, so that anyone can trust what it does",
		from: []string{"carrel/workspaces/git/..."},
		to:   []string{"carrel/..."}, toBut: []string{"carrel/workspaces/git/..."},
	},
	{
		why:  "the old names are a leaf that anyone may import",
		from: []string{"carrel/workspaces/compat"},
		to:   []string{"carrel/..."}, testsToo: true,
	},
	{
		why:  "the data root serves everybody and knows nobody",
		from: []string{"carrel/store/..."},
		to:   []string{"carrel/..."}, toBut: []string{"carrel/store/..."},
	},
	{
		why:  "the sandbox is read by people who audit it: it stands alone",
		from: []string{"carrel/sandbox/..."},
		to:   []string{"carrel/..."}, toBut: []string{"carrel/sandbox/..."},
	},
	{
		why:  "the computer tool declares what it needs and app passes it in",
		from: []string{"carrel/computeruse/..."},
		to:   []string{"carrel/..."}, toBut: []string{"carrel/computeruse/..."},
	},
	{
		why:     "one place decides how the registry is opened",
		from:    []string{"carrel/..."},
		fromBut: []string{"carrel/store/..."},
		to:      []string{"modernc.org/..."}, testsToo: true,
	},
	{
		why:     "test equipment is no part of the product",
		from:    []string{"carrel/..."},
		fromBut: []string{"carrel/bench/..."},
		to:      append([]string{"testing/...", "net/http/httptest"}, equipment...),
	},
}

func TestArrowsPointOneWay(t *testing.T) {
	for _, s := range goSources(t) {
		from := strings.TrimSuffix("carrel/"+s.dir, "/.")
		test := s.test || slices.Contains(equipment, from)
		for _, spec := range s.file.Imports {
			to, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range arrows {
				if (!test || a.testsToo) && a.forbids(from, to) {
					t.Errorf("%s imports %s: %s", s.fset.Position(spec.Pos()), to, a.why)
				}
			}
		}
	}
}

func (a arrow) forbids(from, to string) bool {
	return from != to && matches(a.from, from) && !matches(a.fromBut, from) &&
		matches(a.to, to) && !matches(a.toBut, to)
}

func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		top, all := strings.CutSuffix(p, "/...")
		return name == top || all && strings.HasPrefix(name, top+"/")
	})
}

func TestArrowsForbidWhatTheySay(t *testing.T) {
	cases := []struct {
		from, to string
		bad      bool
	}{
		{"carrel/agent/turn", "carrel/app", true},
		{"carrel/agent/turn", "carrel/workspaces/git", true},
		{"carrel/agent/tool", "carrel/workspaces/runtime", false},
		{"carrel/agent/turn", "carrel/agent/model/chat", true},
		{"carrel/agent/catalog", "carrel/agent/model/chat", false},
		{"carrel/agent/turn", "net/http", true},
		{"carrel/sandbox/netproxy", "carrel/store", true},
		{"carrel/sandbox/netproxy", "carrel/sandbox", false},
		{"carrel/workspaces/compat", "carrel/store", true},
		{"carrel/app", "carrel/app/wire", true},
		{"carrel/app/wire", "carrel/app", false},
		{"carrel/app/serve", "github.com/wailsapp/wails/v2", true},
		{"carrel/app/desktop/window", "github.com/wailsapp/wails/v2/pkg/runtime", false},
		{"carrel", "carrel/agent/turn", true},
		{"carrel", "carrel/app/cli", false},
		{"carrel/store", "testing", true},
	}
	for _, c := range cases {
		got := slices.ContainsFunc(arrows, func(a arrow) bool { return a.forbids(c.from, c.to) })
		if got != c.bad {
			t.Errorf("%s -> %s: forbidden is %v", c.from, c.to, got)
		}
	}
}

// Every git call goes through the hardened runner: another one would take the person's hooks,
// pager, prompts and GIT_ variables with it.
func TestOnlyOnePackageRunsGit(t *testing.T) {
	for _, s := range goSources(t) {
		if s.test || s.dir == "workspaces/git" || strings.HasPrefix(s.dir, "bench") {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			fun, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || !strings.HasPrefix(fun.Sel.Name, "Command") {
				return true
			}
			for _, arg := range call.Args {
				if lit, ok := arg.(*ast.BasicLit); ok && lit.Value == `"git"` {
					t.Errorf("%s: runs git itself; use carrel/workspaces/git", s.fset.Position(call.Pos()))
				}
			}
			return true
		})
	}
}
