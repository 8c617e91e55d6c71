package runtime_test

import (
	"os"
	"testing"

	"carrel/workspaces/runtime"
	"carrel/workspaces/runtime/runtimetest"
)

// TestMain lets the test program play the helper of the reaper, and a core that is killed.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "reap":
			if err := runtime.RunReaper(os.Stdin); err != nil {
				os.Exit(1)
			}
			os.Exit(0)
		case "core":
			core(os.Args[2:])
			os.Exit(0)
		case "write":
			writeAsOther(os.Args[2])
			os.Exit(0)
		case "seal":
			spied(os.Args[2])
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}

func newLocal(t *testing.T, o runtime.Options) runtime.Runtime {
	t.Helper()
	rt, err := runtime.NewLocal(runtime.Worktree, t.TempDir(), o)
	if err != nil {
		t.Fatal(err)
	}
	return rt
}

func TestLocalConforms(t *testing.T) {
	runtimetest.Run(t, func(t *testing.T) runtime.Runtime { return newLocal(t, runtime.Options{}) })
}
