package desktop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"carrel/app"
	"carrel/app/attach"
	"carrel/app/wire"
)

// fakeScreen counts what the keeper asks of the window.
type fakeScreen struct {
	homes  chan struct{}
	raised atomic.Int32
	ended  atomic.Int32
	opened atomic.Value // the last address
}

func (f *fakeScreen) pickFolder(context.Context) (string, error) { return "/picked", nil }
func (f *fakeScreen) raise()                                     { f.raised.Add(1) }
func (f *fakeScreen) openURL(address string)                     { f.opened.Store(address) }
func (f *fakeScreen) showFile(path string) error                 { f.opened.Store(path); return nil }
func (f *fakeScreen) openFile(path string) error {
	f.opened.Store("in its program: " + path)
	return nil
}
func (f *fakeScreen) home() { f.homes <- struct{}{} }
func (f *fakeScreen) quit() { f.ended.Add(1) }

func TestCoreAsksTheWindow(t *testing.T) {
	k, screen := attachedKeeper(t, "dev")
	var picked app.PickedFolder
	eventually(t, "the core knows the window", func() bool {
		return k.Call(t.Context(), "system.pickFolder", nil, &picked) == nil
	})
	if picked.Path != "/picked" || picked.Cancelled {
		t.Errorf("picked %+v", picked)
	}
	if err := k.Call(t.Context(), "system.raise", nil, nil); err != nil || screen.raised.Load() != 1 {
		t.Errorf("raised %d times, %v", screen.raised.Load(), err)
	}
	if err := k.Call(t.Context(), "system.openURL", app.OpenURL{URL: "https://example.invalid/"}, nil); err != nil || screen.opened.Load() != "https://example.invalid/" {
		t.Errorf("opened %v, %v", screen.opened.Load(), err)
	}
}

func TestPageIsLedToTheCoreThatComesAfterAKilledOne(t *testing.T) {
	k, screen := attachedKeeper(t, "dev")
	first := k.wait(t.Context(), 0)
	if first.Kind != Ready || !strings.Contains(first.Link, "/#t=") || !strings.HasSuffix(first.Link, "&host=desktop") {
		t.Fatalf("state %+v", first)
	}
	core, err := attach.Find(t.Context(), k.root)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(core.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-screen.homes
	second := k.wait(t.Context(), first.Rev)
	for second.Kind != Ready {
		second = k.wait(t.Context(), second.Rev)
	}
	if second.Link == first.Link || !strings.HasPrefix(second.Link, k.address()) {
		t.Errorf("led from %q to %q", first.Link, second.Link)
	}
}

func TestCoreThatCrashesAgainAndAgainWaitsForThePerson(t *testing.T) {
	k := newTestKeeper(t, "dev")
	if err := os.WriteFile(k.root.Path("crash"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	state := k.wait(t.Context(), 0)
	for state.Kind != Failed {
		state = k.wait(t.Context(), state.Rev)
		if state.Kind == Ready { // it started before it was told to crash
			core, err := attach.Find(t.Context(), k.root)
			if err == nil {
				_ = syscall.Kill(core.PID, syscall.SIGKILL)
			}
		}
	}
	if !strings.Contains(state.Message, "ended") || !strings.Contains(k.tail(), "told to crash") {
		t.Errorf("state %+v, log %q", state, k.tail())
	}
	if err := os.Remove(k.root.Path("crash")); err != nil {
		t.Fatal(err)
	}
	k.again()
	for state.Kind != Ready {
		state = k.wait(t.Context(), state.Rev)
	}
}

func TestARestartLeavesTheCoreAloneThatStartedMeanwhile(t *testing.T) {
	root := openRoot(t)
	lock, err := root.Lock()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Close() }()
	holds := func(c *exec.Cmd) { // writes as one does that takes the lock
		if err := os.WriteFile(root.Path("run", "core.lock"), fmt.Appendln(nil, c.Process.Pid), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	old, next := exec.Command("sleep", "300"), exec.Command("sleep", "300")
	for _, c := range []*exec.Cmd{old, next} {
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
	}
	holds(old)
	k := newKeeper(root, self(t), "dev", "", &fakeScreen{homes: make(chan struct{}, 9)}, discard())
	killed := make(chan error)
	go func() { killed <- k.kill(t.Context()) }()
	_ = old.Wait() // a signal ends it
	holds(next)
	if err := <-killed; err != nil {
		t.Error(err)
	}
	if err := next.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := next.Wait(); err == nil || err.Error() != "signal: killed" {
		t.Errorf("the new core ended with %v", err)
	}
}

func TestIdleCoreOfAnOlderVersionIsReplaced(t *testing.T) {
	root := openRoot(t)
	if err := os.WriteFile(root.Path("version"), []byte("0.1.0"), 0o600); err != nil {
		t.Fatal(err)
	}
	old, err := attach.Ensure(t.Context(), root, self(t))
	if err != nil || old.Version != "0.1.0" {
		t.Fatalf("core %+v, %v", old, err)
	}
	if err := os.WriteFile(root.Path("version"), []byte("0.2.0"), 0o600); err != nil {
		t.Fatal(err)
	}
	k := newKeeper(root, self(t), "0.2.0", "", &fakeScreen{homes: make(chan struct{}, 9)}, discard())
	keep(t, k)
	state := k.wait(t.Context(), 0)
	for state.Kind != Ready {
		state = k.wait(t.Context(), state.Rev)
	}
	if state.Core != "0.2.0" {
		t.Errorf("state %+v", state)
	}
	// It lets go of the root a moment before its process has ended.
	eventually(t, "the older core is gone", func() bool { return gone(old.PID) })
}

// After half an update, window and core don't belong together. Starting the same core again mends nothing.
func TestACoreOfAnotherVersionBesideTheWindowIsNotReplacedAgain(t *testing.T) {
	root := openRoot(t)
	if err := os.WriteFile(root.Path("version"), []byte("b7c2d91"), 0o600); err != nil {
		t.Fatal(err)
	}
	k := newKeeper(root, self(t), "9e04a55", "", &fakeScreen{homes: make(chan struct{}, 9)}, discard())
	first, err := k.ensure(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	again, err := k.ensure(t.Context())
	if err != nil || again.PID != first.PID || k.outdated() {
		t.Errorf("core %+v after %+v, older %v, %v", again, first, k.outdated(), err)
	}
}

func TestBusyCoreOfAnOlderVersionGoesOn(t *testing.T) {
	k, _ := attachedKeeper(t, "dev")
	slowTurn(t, k)
	newer := newKeeper(k.root, self(t), "9.0.0", "", &fakeScreen{homes: make(chan struct{}, 9)}, discard())
	core, err := newer.ensure(t.Context())
	if err != nil || core.Version != "dev" || !newer.older {
		t.Errorf("core %+v, older %v, %v", core, newer.older, err)
	}
	// The page is told, and told no more once the core has made room.
	newer.found(core)
	if state := newer.wait(t.Context(), 1); state.Link != core.Link()+"&host=desktop&older=1" {
		t.Errorf("the page is led to %q", state.Link)
	}
	newer.setOlder(false)
	newer.found(core)
	if state := newer.wait(t.Context(), 2); state.Link != core.Link()+"&host=desktop" {
		t.Errorf("the page is led to %q", state.Link)
	}
}

func TestRestartEndsACoreThatDoesNotAnswer(t *testing.T) {
	k, _ := attachedKeeper(t, "dev")
	slowTurn(t, k)
	core, err := attach.Find(t.Context(), k.root)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(core.PID, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := k.restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "there is another core", func() bool {
		now, err := attach.Find(t.Context(), k.root)
		return err == nil && now.PID != core.PID
	})
}

func TestANewerWindowEndsThisOne(t *testing.T) {
	k, screen := attachedKeeper(t, "dev")
	newer := newKeeper(k.root, self(t), "dev", "", &fakeScreen{homes: make(chan struct{}, 9)}, discard())
	keep(t, newer)
	eventually(t, "the first window quits", func() bool { return screen.ended.Load() == 1 })
}

func TestClaimLetsOneWindowBeAndHandsOverToIt(t *testing.T) {
	k, screen := attachedKeeper(t, "dev")
	lock, err := claim(t.Context(), k.root, nil)
	if err != nil || lock == nil {
		t.Fatal(lock, err)
	}
	dir := repository(t, "handed over")
	second, err := claim(t.Context(), k.root, []string{dir})
	if err != nil || second != nil {
		t.Fatal(second, err)
	}
	var all []app.Project
	if err := k.Call(t.Context(), "projects.list", nil, &all); err != nil || len(all) != 1 || all[0].Path != dir {
		t.Errorf("projects %+v, %v", all, err)
	}
	if screen.raised.Load() == 0 {
		t.Error("the window did not come to the front")
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	if lock, err = claim(t.Context(), k.root, nil); err != nil || lock == nil {
		t.Fatalf("after the first window's end: %v, %v", lock, err)
	}
	_ = lock.Close()
}

func TestClaimGivesUpOnAWindowThatNeverComes(t *testing.T) {
	root := openRoot(t)
	lock, err := root.LockWindow()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if second, err := claim(ctx, root, nil); second != nil || err == nil || errors.Is(err, attach.ErrNoCore) {
		t.Errorf("%v, %v", second, err)
	}
}

func TestFoldersOfTheCommandLineAreOpenedOnceThePageIsThere(t *testing.T) {
	k, screen := attachedKeeper(t, "dev")
	dir := repository(t, "given")
	w := &window{root: k.root, log: discard(), keeper: k, screen: screen, given: []string{dir}}
	opened := make(chan struct{})
	go func() { defer close(opened); w.openGiven(t.Context()) }()
	dropped := make(chan wire.Event, 16)
	page, err := wire.Dial(t.Context(), wire.ClientOptions{Role: wire.Browser, Events: func(e wire.Event) { dropped <- e },
		Find: func(ctx context.Context) (wire.Address, error) {
			core, err := attach.Find(ctx, k.root)
			return wire.Address{URL: core.URL, Token: core.Token}, err
		}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = page.Close() }()
	for e := range dropped {
		if e.Name == "folders.dropped" {
			break
		}
	}
	<-opened
}

func TestPageThatCrashesAgainAndAgainIsLeftAlone(t *testing.T) {
	screen := &fakeScreen{homes: make(chan struct{}, 100)}
	k := newKeeper(openRoot(t), self(t), "dev", "", screen, discard())
	for range 3 * crashLimit {
		k.viewCrashed()
	}
	if n := len(screen.homes); n != crashLimit {
		t.Errorf("loaded %d times", n)
	}
}

func TestMissingCoreIsSaidInASentence(t *testing.T) {
	k := newKeeper(openRoot(t), filepath.Join(t.TempDir(), "carrel"), "dev", "", &fakeScreen{}, discard())
	keep(t, k)
	state := k.wait(t.Context(), 1)
	if state.Kind != Failed || state.Hung || !strings.HasPrefix(state.Message, "There is no program "+k.exe) {
		t.Errorf("state %+v", state)
	}
}

func TestTheWindowShowsFilesThatAreThere(t *testing.T) {
	screen := &fakeScreen{}
	k := newKeeper(openRoot(t), self(t), "dev", "", screen, discard())
	path := filepath.Join(t.TempDir(), "saved.md")
	ask := func(path string) error {
		_, err := k.asks()[wire.AskShowFile](t.Context(), json.RawMessage(fmt.Sprintf(`{"path":%q}`, path)))
		return err
	}
	var told *app.Error
	for given, code := range map[string]string{"saved.md": "bad_request", path: "not_found"} {
		if err := ask(given); !errors.As(err, &told) || told.Code != code {
			t.Errorf("%s: %v", given, err)
		}
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := ask(path); err != nil || screen.opened.Load() != path {
		t.Errorf("%v, %v", screen.opened.Load(), err)
	}
}
