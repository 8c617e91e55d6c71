package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"carrel/app/cli"
)

// TestMain lets the test binary be carrel: scripts and tests find it in PATH.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"carrel": func() { os.Exit(cli.Run(context.Background(), os.Args[1:], cli.Process())) },
	})
}

// TestScripts runs testdata/script/*.txtar. Each finds a git repository in $WORK/repo, a home and a
// data root of its own, and no model but the demo until it says fakemodel.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		Setup:               setup,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"fakemodel": fakeModel,
			"request":   sawRequest,
			"await":     await,
			"jsonlines": jsonLines,
			"field":     field,
			"pipe":      openPipe,
			"cores":     stopCores,
			"alive":     alive,
		},
	})
}

const gitConfig = "[user]\n\tname = Test\n\temail = test@example.org\n[init]\n\tdefaultBranch = main\n"

func setup(env *testscript.Env) error {
	home, repo := filepath.Join(env.WorkDir, "home"), filepath.Join(env.WorkDir, "repo")
	for _, dir := range []string{home, repo} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	env.Setenv("HOME", home)
	env.Setenv("CARREL_MODE", "bypass") // scripts that are about consent set them anew
	env.Setenv("CARREL_SANDBOX", "danger-full-access")
	env.Setenv("CARREL_ROOT", filepath.Join(env.WorkDir, "root"))
	env.Setenv("CARREL_DEMO_DELAY", "0")
	for _, name := range []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "DISPLAY", "WAYLAND_DISPLAY"} {
		env.Setenv(name, "")
	}
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(gitConfig), 0o600); err != nil {
		return err
	}
	env.Values[serversKey{}] = &servers{}
	env.Defer(func() { killRoot(filepath.Join(env.WorkDir, "root")) })
	return makeRepo(repo, home)
}

// jsonLines checks that a file (stdout, stderr or a path) holds one JSON object a line and nothing
// else, each with a type; with more arguments, that the types are these, repeats left out.
func jsonLines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: jsonlines FILE [TYPE...]")
	}
	var types []string
	for n, text := range strings.Split(strings.TrimSuffix(ts.ReadFile(args[0]), "\n"), "\n") {
		var v struct {
			Type string `json:"type"`
		}
		if err := json.Unmarshal([]byte(text), &v); err != nil || v.Type == "" {
			ts.Fatalf("line %d is no JSON object with a type (%v): %q", n+1, err, text)
		}
		if len(types) == 0 || types[len(types)-1] != v.Type {
			types = append(types, v.Type)
		}
	}
	if len(args) > 1 && strings.Join(types, " ") != strings.Join(args[1:], " ") {
		ts.Fatalf("lines are %v, want %v", types, args[1:])
	}
}

// field reads the last line of a file as JSON and puts a field, such as workspace.id or 0.name,
// into an environment variable: field FILE PATH VAR. With a = before a value in VAR's place it
// compares.
func field(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: field FILE PATH VAR|=VALUE")
	}
	lines := strings.Split(strings.TrimSpace(ts.ReadFile(args[0])), "\n")
	got, err := dig(lines[len(lines)-1], args[1])
	ts.Check(err)
	want, compare := strings.CutPrefix(args[2], "=")
	switch {
	case !compare:
		ts.Setenv(args[2], got)
	case (got == want) == neg:
		ts.Fatalf("%s is %q", args[1], got)
	}
}

func dig(text, path string) (string, error) {
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return "", err
	}
	for key := range strings.SplitSeq(path, ".") {
		switch at := v.(type) {
		case map[string]any:
			v = at[key]
		case []any:
			var i int
			if _, err := fmt.Sscan(key, &i); err != nil || i >= len(at) {
				return "", fmt.Errorf("no element %q of %d", key, len(at))
			}
			v = at[i]
		default:
			return "", fmt.Errorf("no %q in %q", key, text)
		}
	}
	return fmt.Sprint(v), nil
}
