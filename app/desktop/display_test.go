//go:build linux && desktop && window

package desktop

import (
	"bytes"
	"context"
	"fmt"
	"image/png"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"carrel/app"
	"carrel/app/attach"
	"carrel/app/wire"
	"carrel/store"
)

// The window tests drive the real window on a display of its own; run them under build/display.sh.

// binaries builds both binaries once. The window has the tag devtools, so that the tests can read
// what its page shows; the product never has it.
var binaries = sync.OnceValues(func() (string, error) {
	dir := os.Getenv(binariesVar)
	for name, args := range map[string][]string{
		"carrel":         {},
		"carrel-desktop": {"-tags", "desktop,production,webkit2_41,devtools,window"},
	} {
		cmd := exec.Command("go", append(append([]string{"build", "-trimpath"}, args...), "-o", filepath.Join(dir, name), "carrel")...)
		if name == "carrel" {
			cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("build %s: %w\n%s", name, err, out)
		}
	}
	return dir, nil
})

// stage is a data root with a home, a window on it and a client of its core.
type stage struct {
	t         *testing.T
	root      *store.Root
	bin       string
	env       []string // added to the window's
	inspector string   // host:port
	window    *exec.Cmd
	ended     chan struct{}
	stderr    *bytes.Buffer
	pictured  bool // the failure
}

func newStage(t *testing.T) *stage {
	t.Helper()
	if os.Getenv("DISPLAY") == "" {
		t.Fatal("there is no display: run the window tests under build/display.sh")
	}
	bin, err := binaries()
	if err != nil {
		t.Fatal(err)
	}
	return &stage{t: t, root: openRoot(t), bin: bin}
}

// start starts a window's process with these arguments.
func (s *stage) start(args ...string) *exec.Cmd {
	s.t.Helper()
	cmd := exec.Command(filepath.Join(s.bin, "carrel-desktop"), args...)
	cmd.Env = append(os.Environ(), "CARREL_MODE=bypass", "CARREL_SANDBOX=danger-full-access", "CARREL_ROOT="+s.root.Dir(), "WEBKIT_INSPECTOR_HTTP_SERVER="+s.inspector,
		"NO_AT_BRIDGE=1", "GTK_THEME=Adwaita")
	cmd.Env = append(cmd.Env, s.env...)
	s.stderr = &bytes.Buffer{}
	cmd.Stderr = s.stderr
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	return cmd
}

// open opens the window and waits until its page is one of the core's hosts.
func (s *stage) open(args ...string) {
	s.t.Helper()
	s.launch(args...)
	s.attached()
}

// launch starts the window and waits for nothing.
func (s *stage) launch(args ...string) {
	s.t.Helper()
	s.inspector = freeAddress(s.t)
	s.window = s.start(args...)
	ended, window := make(chan struct{}), s.window
	s.ended = ended
	go func() { defer close(ended); _ = window.Wait() }()
	s.t.Cleanup(func() { _ = window.Process.Kill(); <-ended })
	s.t.Cleanup(func() {
		if s.t.Failed() && !s.pictured {
			s.pictured = true
			s.shot("failed")
			core, _ := os.ReadFile(s.root.Path("logs", "core.log"))
			s.t.Logf("the window said:\n%s\nand the core:\n%s", s.stderr, core)
		}
	})
}

func (s *stage) attached() {
	s.t.Helper()
	s.eventually("the page attaches to the core", func() bool {
		core, err := attach.Find(s.t.Context(), s.root)
		return err == nil && core.Hosts >= 2
	})
}

func (s *stage) eventually(what string, holds func() bool) {
	s.t.Helper()
	began := time.Now()
	defer func() { s.t.Logf("%6.2f s for: %s", time.Since(began).Seconds(), what) }()
	eventually(s.t, what, func() bool {
		select {
		case <-s.ended:
			s.t.Fatalf("the window ended while the test waited for: %s\n%s", what, s.stderr)
		default:
		}
		return holds()
	})
}

// painted waits until the window has drawn a page. Before that the inspector must not be asked: it
// takes the whole process down.
func (s *stage) painted() {
	s.t.Helper()
	s.id()
	s.eventually("the window has drawn something", func() bool {
		m, err := recall(s.root)
		return err == nil && m.Blank == 0
	})
}

// kill kills the window's process and waits for its end.
func (s *stage) kill() {
	s.t.Helper()
	if err := s.window.Process.Kill(); err != nil {
		s.t.Fatal(err)
	}
	<-s.ended
}

func (s *stage) core() attach.Core {
	s.t.Helper()
	core, err := attach.Find(s.t.Context(), s.root)
	if err != nil {
		s.t.Fatal(err)
	}
	return core
}

func (s *stage) killCore() {
	s.t.Helper()
	pid := s.core().PID
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		s.t.Fatal(err)
	}
	eventually(s.t, "the core's end", func() bool { return gone(pid) })
}

// call asks the core; it connects for each call, as the command line does.
func call1[T any](s *stage, name string, in any) T {
	s.t.Helper()
	client, err := wire.Dial(s.t.Context(), wire.ClientOptions{Role: wire.CLI, Find: func(ctx context.Context) (wire.Address, error) {
		core, err := attach.Find(ctx, s.root)
		return wire.Address{URL: core.URL, Token: core.Token}, err
	}})
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	ctx, cancel := context.WithTimeout(s.t.Context(), 60*time.Second)
	defer cancel()
	var out T
	if err := client.Call(ctx, name, in, &out); err != nil {
		s.t.Fatalf("%s: %v", name, err)
	}
	return out
}

func (s *stage) projects() []app.Project { return call1[[]app.Project](s, "projects.list", nil) }

func (s *stage) workspaces() []app.Workspace {
	return call1[[]app.Workspace](s, "workspaces.list", app.ListWorkspaces{})
}

func (s *stage) conversation(id string) app.Conversation {
	return call1[app.Conversation](s, "conversations.open", app.ByID{ID: id})
}

// xdotool does what a person does with mouse and keyboard.
func (s *stage) xdotool(args ...string) string {
	s.t.Helper()
	out, err := exec.Command("xdotool", args...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("xdotool %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (s *stage) key(keys ...string) {
	s.t.Helper()
	s.xdotool(append([]string{"key", "--delay", "20"}, keys...)...)
}

func (s *stage) write(text string) { s.t.Helper(); s.xdotool("type", "--delay", "8", text) }

// id is the window's id on the display.
func (s *stage) id() string {
	s.t.Helper()
	var found string
	s.eventually("the window is on the display", func() bool {
		out, _ := exec.Command("xdotool", "search", "--onlyvisible", "--class", "carrel-desktop").Output()
		ids := strings.Fields(string(out))
		if len(ids) > 0 {
			found = ids[len(ids)-1]
		}
		return found != ""
	})
	return found
}

// focus brings the window to the front, as the start of an application does.
func (s *stage) focus() { s.t.Helper(); s.xdotool("windowactivate", "--sync", s.id()) }

// shot takes a picture of the display, kept where CARREL_SHOTS says, and returns how many colours it
// has.
func (s *stage) shot(name string) int {
	s.t.Helper()
	dir := os.Getenv("CARREL_SHOTS")
	if dir == "" {
		dir = s.t.TempDir()
	}
	path := filepath.Join(dir, strings.ReplaceAll(s.t.Name(), "/", "-")+"-"+name+".png")
	var last []string
	s.eventually("the window has drawn what the page shows", func() bool {
		before := last
		last = s.picture(path)
		return differences(before, last) < len(last)/1000
	})
	colours := map[string]bool{}
	for _, c := range last {
		colours[c] = true
	}
	return len(colours)
}

// picture takes a picture of the screen and gives the colours of every third pixel.
func (s *stage) picture(path string) []string {
	s.t.Helper()
	if out, err := exec.Command("import", "-window", "root", path).CombinedOutput(); err != nil {
		s.t.Fatalf("take a picture: %v\n%s", err, out)
	}
	f, err := os.Open(path)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	img, err := png.Decode(f)
	if err != nil {
		s.t.Fatal(err)
	}
	var colours []string
	for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y += 3 {
		for x := img.Bounds().Min.X; x < img.Bounds().Max.X; x += 3 {
			colours = append(colours, fmt.Sprint(img.At(x, y)))
		}
	}
	return colours
}

// differences counts the pixels that two pictures do not share; a caret blinks meanwhile.
func differences(a, b []string) int {
	if len(a) != len(b) {
		return len(b)
	}
	n := 0
	for i := range a {
		if a[i] != b[i] {
			n++
		}
	}
	return n
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return "127.0.0.1:" + strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}
