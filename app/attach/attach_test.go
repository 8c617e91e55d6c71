package attach

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"carrel/app"
	"carrel/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeCore answers as a core would.
type fakeCore struct {
	hello  Hello
	opened []string
	asked  ListenRequest
	closed chan struct{} // a listener was closed
	err    error
}

func (f *fakeCore) Hello() Hello { return f.hello }

func (f *fakeCore) Open(_ context.Context, args []string) (Opened, error) {
	f.opened = args
	return Opened{Window: true}, f.err
}

func (f *fakeCore) Listen(_ context.Context, r ListenRequest) (Listening, func(), error) {
	f.asked = r
	return Listening{URL: "http://x"}, func() { close(f.closed) }, f.err
}

func (f *fakeCore) Stop() error { return f.err }

func openRoot(t *testing.T, dir string) *store.Root {
	t.Helper()
	root, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return root
}

func serveFake(t *testing.T, root *store.Root) (*fakeCore, *Server) {
	t.Helper()
	f := &fakeCore{hello: Hello{Version: "1", PID: 42, URL: "http://127.0.0.1:1", Token: "secret"}, closed: make(chan struct{})}
	s, err := Serve(t.Context(), root, f, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return f, s
}

func TestARunningCoreIsFoundAndAsked(t *testing.T) {
	root := openRoot(t, t.TempDir())
	if _, err := Find(t.Context(), root); !errors.Is(err, ErrNoCore) {
		t.Errorf("without a core: %v", err)
	}
	f, _ := serveFake(t, root)
	core, err := Find(t.Context(), root)
	if err != nil || core.Hello != f.hello {
		t.Fatalf("found %+v, %v", core, err)
	}
	if opened, err := core.Open(t.Context(), []string{"/a", "b c"}); err != nil || !opened.Window || strings.Join(f.opened, "|") != "/a|b c" {
		t.Errorf("open: %+v %v %v", opened, err, f.opened)
	}
	f.err = &app.Error{Code: "busy", Message: "An agent works."}
	var refused *app.Error
	if err := core.Stop(t.Context()); !errors.As(err, &refused) || refused.Code != "busy" {
		t.Errorf("stop: %v", err)
	}
	if info, err := os.Stat(root.Path("run", socketName)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("socket: %v %v", info.Mode(), err)
	}
}

func TestACommandOfAnAgentIsNotAnswered(t *testing.T) {
	if dir := os.Getenv("ATTACH_AS_AGENT"); dir != "" { // the agent's command
		root, err := store.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		core, err := Find(t.Context(), root)
		fmt.Println("told", core.Token, err)
		return
	}
	root := openRoot(t, t.TempDir())
	serveFake(t, root)
	if _, err := root.SessionDir("w1"); err != nil {
		t.Fatal(err)
	}
	for tag, told := range map[string]string{"w1/owner/1": "told  " + ErrAgent.Message, "other/owner/1": "told secret <nil>"} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestACommandOfAnAgentIsNotAnswered$")
		cmd.Env = append(os.Environ(), "ATTACH_AS_AGENT="+root.Dir(), "CARREL_TAG="+tag)
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), told) {
			t.Errorf("%s: %v %s", tag, err, out)
		}
	}
}

func TestAListenerLivesAsLongAsItsConnection(t *testing.T) {
	root := openRoot(t, t.TempDir())
	f, s := serveFake(t, root)
	core, err := Find(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	held, err := core.Listen(t.Context(), ListenRequest{Port: 7, Token: "t"})
	if err != nil || held.URL != "http://x" || f.asked.Port != 7 {
		t.Fatalf("%+v, %v", held, err)
	}
	select {
	case <-f.closed:
		t.Fatal("closed too early")
	default:
	}
	_ = held.Close()
	<-f.closed
	<-held.Gone()

	f.closed = make(chan struct{})
	held, err = core.Listen(t.Context(), ListenRequest{})
	if err != nil {
		t.Fatal(err)
	}
	_ = s.Close() // the core ends
	<-held.Gone()
	<-f.closed
	_ = held.Close()
}

func TestADeadCoresSocketIsNoCoreAndIsReplaced(t *testing.T) {
	root := openRoot(t, t.TempDir())
	path := root.Path("run", socketName)
	_ = os.MkdirAll(filepath.Dir(path), 0o700)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	_ = l.Close() // as a killed core leaves it
	if _, err := Find(t.Context(), root); !errors.Is(err, ErrNoCore) {
		t.Errorf("a stale socket: %v", err)
	}
	serveFake(t, root)
	if _, err := Find(t.Context(), root); err != nil {
		t.Errorf("after a new core came: %v", err)
	}
}

func TestARootWithALongPathGetsAShortSocket(t *testing.T) {
	run := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", run)
	dir := filepath.Join(t.TempDir(), strings.Repeat("a long name/", 12))
	root := openRoot(t, dir)
	if _, err := Find(t.Context(), root); !errors.Is(err, ErrNoCore) {
		t.Errorf("without a core: %v", err)
	}
	_, s := serveFake(t, root)
	if core, err := Find(t.Context(), root); err != nil || core.PID != 42 {
		t.Errorf("%+v, %v", core, err)
	}
	_ = s.Close()
	if _, err := Find(t.Context(), root); !errors.Is(err, ErrNoCore) {
		t.Errorf("after its end: %v", err)
	}
	if left, _ := os.ReadDir(run); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestWhatCannotBeReadIsRefused(t *testing.T) {
	root := openRoot(t, t.TempDir())
	serveFake(t, root)
	for text, code := range map[string]string{"nonsense\n": "bad_request", `{"op":"dance"}` + "\n": "unknown_call"} {
		conn, err := net.Dial("unix", root.Path("run", socketName))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = conn.Write([]byte(text))
		answer := make([]byte, 1000)
		n, _ := conn.Read(answer)
		if !strings.Contains(string(answer[:n]), code) {
			t.Errorf("%q: %s", text, answer[:n])
		}
		_ = conn.Close()
	}
}

func TestAnOldLogIsPutAside(t *testing.T) {
	root := openRoot(t, t.TempDir())
	path := root.Path("logs", "core.log")
	_ = os.MkdirAll(filepath.Dir(path), 0o700)
	if err := os.WriteFile(path, make([]byte, MaxLog), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := OpenLog(root)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err != nil || info.Size() != 0 {
		t.Errorf("the new log: %v, %v", info, err)
	}
	if info, err := os.Stat(path + ".1"); err != nil || info.Size() != MaxLog {
		t.Errorf("the old log: %v, %v", info, err)
	}
}
