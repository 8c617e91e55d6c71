package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// dependencyTable is where each direct dependency has its reason.
const dependencyTable = "docs/decisions/dependencies.md"

func TestEachDependencyHasItsReason(t *testing.T) {
	text, err := os.ReadFile(dependencyTable)
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (.*) \\|$")
	reasons := map[string]string{}
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		reasons[m[1]] = m[2]
	}
	packages := npmPackages(t)
	for _, name := range append(directModules(t), packages...) {
		if len(reasons[name]) < 10 {
			t.Errorf("%s: no row for %s that says why it is here", dependencyTable, name)
		}
		delete(reasons, name)
	}
	npm := regexp.MustCompile(`^@?[a-z0-9-]+(/[a-z0-9-]+)?$`)
	for _, name := range slices.Sorted(maps.Keys(reasons)) {
		if len(packages) > 0 || !npm.MatchString(name) {
			t.Errorf("%s: %s is not a direct dependency (any more)", dependencyTable, name)
		}
	}
}

// directModules lists the modules that go.mod requires directly, and those of its tools.
func directModules(t *testing.T) []string {
	t.Helper()
	out, err := exec.Command("go", "mod", "edit", "-json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var mod struct {
		Require []struct {
			Path     string
			Indirect bool
		}
		Tool []struct{ Path string }
	}
	if err := json.Unmarshal(out, &mod); err != nil {
		t.Fatal(err)
	}
	var names []string
	required := map[string]bool{}
	for _, r := range mod.Require {
		required[r.Path] = true
		if !r.Indirect {
			names = append(names, r.Path)
		}
	}
	for _, tool := range mod.Tool {
		module := tool.Path
		for module != "." && !required[module] {
			module = path.Dir(module)
		}
		names = append(names, module)
	}
	return names
}

// npmPackages lists the direct packages of the frontend; none where there is no frontend yet.
func npmPackages(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("frontend/package.json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var p struct{ Dependencies, DevDependencies map[string]string }
	if err := errors.Join(err, json.Unmarshal(text, &p)); err != nil {
		t.Fatal(err)
	}
	names := slices.AppendSeq(slices.Collect(maps.Keys(p.Dependencies)), maps.Keys(p.DevDependencies))
	for name, version := range p.DevDependencies {
		if strings.Contains(version, ":") {
			t.Errorf("frontend/package.json: %s comes from %q, not by its name", name, version)
		}
	}
	return names
}
