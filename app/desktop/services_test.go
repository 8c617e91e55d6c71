package desktop

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"reflect"
	"slices"
	"testing"

	"carrel/app"
)

// attachedKeeper is a keeper that is attached to a real core, which is this binary.
func attachedKeeper(t *testing.T, version string) (*keeper, *fakeScreen) {
	t.Helper()
	k := newTestKeeper(t, version)
	eventually(t, "the window attaches", func() bool {
		return k.Call(t.Context(), "projects.list", nil, nil) == nil
	})
	screen, _ := k.screen.(*fakeScreen)
	return k, screen
}

func newTestKeeper(t *testing.T, version string) *keeper {
	t.Helper()
	k := newKeeper(openRoot(t), self(t), version, "dark", &fakeScreen{homes: make(chan struct{}, 100)}, slog.New(slog.DiscardHandler))
	keep(t, k)
	return k
}

// keep runs a keeper until the test ends.
func keep(t *testing.T, k *keeper) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); k.run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
}

// bind returns everything that is bound, by name, and the page's secret.
func bind(t *testing.T, k *keeper) (map[string]reflect.Value, string) {
	t.Helper()
	g := &guard{secret: &secret{}, caller: k, signals: func() {}, log: slog.New(slog.DiscardHandler)}
	all := map[string]reflect.Value{}
	for _, s := range services(g, k) {
		all[reflect.TypeOf(s).Elem().Name()] = reflect.ValueOf(s)
	}
	return all, g.secret.renew()
}

func TestEveryNounIsBound(t *testing.T) {
	k := newKeeper(openRoot(t), self(t), "dev", "", &fakeScreen{}, slog.New(slog.DiscardHandler))
	all, _ := bind(t, k)
	for _, noun := range []string{"Projects", "Workspaces", "Worktrees", "Conversations", "Terminals", "Sandbox", "ComputerUse"} {
		if s, ok := all[noun]; !ok || s.NumMethod() == 0 {
			t.Errorf("%s is not bound", noun)
		}
	}
}

// arguments is what a test gives a bound method after the secret.
func arguments(m reflect.Type, secret, workspace string) []reflect.Value {
	args := []reflect.Value{reflect.ValueOf(secret)}
	for i := 1; i < m.NumIn(); i++ {
		if m.In(i).Kind() == reflect.String {
			args = append(args, reflect.ValueOf(workspace))
		} else {
			args = append(args, reflect.Zero(m.In(i)))
		}
	}
	return args
}

func TestEveryBoundCallWorksWithTheSecretAndWithNoOther(t *testing.T) {
	k, _ := attachedKeeper(t, "dev")
	var project app.Project
	if err := k.Call(t.Context(), "projects.add", app.AddProject{Path: repository(t, "bound")}, &project); err != nil {
		t.Fatal(err)
	}
	var ws app.Workspace
	if err := k.Call(t.Context(), "workspaces.create", app.NewWorkspace{ProjectID: project.ID, Title: "Bound"}, &ws); err != nil {
		t.Fatal(err)
	}
	all, given := bind(t, k)
	for name, service := range all {
		for i := range service.NumMethod() {
			method, call := service.Type().Method(i).Name, service.Method(i)
			for _, wrong := range []string{"", given[1:], given + "0", "0" + given[1:] + "g"} {
				if err := failed(call.Call(arguments(call.Type(), wrong, ws.ID))); !errors.Is(err, errSecret) {
					t.Errorf("%s.%s with the secret %q: %v", name, method, wrong, err)
				}
			}
			if name == "Core" && method == "Restart" {
				continue // has its own test
			}
			if err := failed(call.Call(arguments(call.Type(), given, ws.ID))); err != nil {
				t.Errorf("%s.%s: %v", name, method, err)
			}
		}
	}
}

func failed(results []reflect.Value) error {
	err, _ := results[len(results)-1].Interface().(error)
	return err
}

func TestServicesShowWhatRunsAndStopIt(t *testing.T) {
	k, _ := attachedKeeper(t, "dev")
	g := &guard{secret: &secret{}, caller: k, signals: func() {}, log: slog.New(slog.DiscardHandler)}
	given := g.secret.renew()
	ws := slowTurn(t, k)
	conversations := &Conversations{g}
	running, err := conversations.Running(given)
	if err != nil || len(running) != 1 || running[0].ID != ws.ID || running[0].Branch == "" {
		t.Fatalf("running %+v, %v", running, err)
	}
	if trees, err := (&Worktrees{g}).List(given); err != nil || len(trees) != 1 || trees[0].Dir != ws.Dir {
		t.Errorf("worktrees %+v, %v", trees, err)
	}
	if _, err := conversations.InterruptAll(given); err != nil {
		t.Fatal(err)
	}
	eventually(t, "nothing runs", func() bool {
		running, err := conversations.Running(given)
		return err == nil && len(running) == 0
	})
}

// slowTurn starts a turn that runs for twenty seconds.
func slowTurn(t *testing.T, k *keeper) app.Workspace {
	t.Helper()
	var project app.Project
	if err := k.Call(t.Context(), "projects.add", app.AddProject{Path: repository(t, "slow")}, &project); err != nil {
		t.Fatal(err)
	}
	var ws app.Workspace
	if err := k.Call(t.Context(), "workspaces.create", app.NewWorkspace{ProjectID: project.ID, Title: "Slow"}, &ws); err != nil {
		t.Fatal(err)
	}
	if err := k.Call(t.Context(), "conversations.send", app.SendMessage{Workspace: ws.ID, Text: "be slow"}, nil); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the long command runs", func() bool {
		var c app.Conversation
		return k.Call(t.Context(), "conversations.open", app.ByID{ID: ws.ID}, &c) == nil && c.Status.Activity == app.RunningTools &&
			slices.ContainsFunc(c.Entries, func(e app.Entry) bool { return e.Tool != nil && e.Tool.Status == app.ToolRunning })
	})
	return ws
}

func TestAPanicInABoundCallIsAnError(t *testing.T) {
	g := &guard{secret: &secret{}, signals: func() {}, log: slog.New(slog.DiscardHandler)} // no caller: nil is dereferenced
	given := g.secret.renew()
	for range 100 {
		if _, err := (&Projects{g}).List(given); !errors.Is(err, errPanicked) {
			t.Fatal(err)
		}
	}
}

func TestWhatIsMissingSaysSo(t *testing.T) {
	g := &guard{secret: &secret{}, signals: func() {}, log: slog.New(slog.DiscardHandler)}
	given := g.secret.renew()
	if f, err := (&ComputerUse{g}).State(given); err != nil || f.Available || f.Message == "" {
		t.Errorf("%+v, %v", f, err)
	}
}

func TestCallsWithoutACoreFailAtOnce(t *testing.T) {
	k := newKeeper(openRoot(t), self(t), "dev", "", &fakeScreen{}, slog.New(slog.DiscardHandler))
	all, given := bind(t, k)
	_, err := all["Projects"].Interface().(*Projects).List(given)
	var known *app.Error
	if !errors.As(err, &known) || known.Code != "no_core" {
		t.Error(err)
	}
	if text, err := os.ReadFile(k.root.Path("logs", "core.log")); err == nil {
		t.Errorf("a core was started: %s", text)
	}
}
