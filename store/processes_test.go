package store_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tailscale/hujson"

	"carrel/store"
)

// The test binary is also the other processes: with this variable set it does that work instead.
const roleVar = "STORE_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleVar) {
	case "":
		os.Exit(m.Run())
	case "edit":
		exit(editSettings())
	case "hold":
		exit(holdLocks())
	case "register":
		exit(register())
	}
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// process starts the test binary in a role on the root and gives what it prints.
func process(t *testing.T, role string, r *store.Root, more ...string) (*exec.Cmd, *bufio.Reader, io.WriteCloser) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), append([]string{roleVar + "=" + role, "CARREL_ROOT=" + r.Dir()}, more...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd, bufio.NewReader(out), in
}

const edits = 500

// editSettings sets one key to 1, 2, 3 and so on, and prints each number once it is saved.
func editSettings() error {
	r, err := store.Open("")
	if err != nil {
		return err
	}
	for n := 1; n <= edits; n++ {
		if err := r.SetSetting([]string{"counts", os.Getenv("KEY")}, n); err != nil {
			return err
		}
		fmt.Println(n)
	}
	return nil
}

func TestEightProcessesEditSettingsWhileSomeAreKilled(t *testing.T) { // O-DATA-03
	r := open(t)
	write(t, r, "settings.jsonc", "{\n  // kept\n  \"theme\": \"dark\",\n}\n")
	saved := make([]chan int, 8)
	for i := range saved {
		saved[i] = make(chan int, 1)
		cmd, out, _ := process(t, "edit", r, fmt.Sprintf("KEY=k%d", i))
		go func() {
			last, killAt := 0, 5+rand.IntN(edits/2)
			for {
				line, err := out.ReadString('\n')
				if err != nil {
					break
				}
				last, _ = strconv.Atoi(strings.TrimSpace(line))
				if i%4 == 0 && last == killAt {
					_ = cmd.Process.Kill()
				}
			}
			saved[i] <- last
		}()
	}
	stop := make(chan struct{})
	broken := make(chan error, 1)
	go func() { broken <- alwaysParses(r.Path("settings.jsonc"), stop) }()
	want := map[string]int{}
	for i := range saved {
		want[fmt.Sprintf("k%d", i)] = <-saved[i]
	}
	close(stop)
	if err := <-broken; err != nil {
		t.Fatal(err)
	}
	verifyCounts(t, r, want)
}

// alwaysParses reads the file again and again until stop, as any other program may.
func alwaysParses(path string, stop chan struct{}) error {
	for {
		select {
		case <-stop:
			return nil
		default:
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if v, err := hujson.Parse(text); err != nil || !strings.Contains(string(v.Pack()), "// kept") {
			return fmt.Errorf("at some moment the file was %q (%v)", text, err)
		}
	}
}

// verifyCounts checks that what each process saw saved is in the file. A killed one may have saved
// one more than it could say.
func verifyCounts(t *testing.T, r *store.Root, want map[string]int) {
	t.Helper()
	if err := r.SetSetting([]string{"theme"}, "light"); err != nil { // also sweeps what the dead left
		t.Fatal(err)
	}
	text := read(t, r.Path("settings.jsonc"))
	for key, last := range want {
		if !strings.Contains(text, fmt.Sprintf("%q: %d", key, last)) && !strings.Contains(text, fmt.Sprintf("%q: %d", key, last+1)) {
			t.Errorf("%s was saved as %d, and the file is\n%s", key, last, text)
		}
	}
	entries, err := os.ReadDir(r.Dir())
	if err != nil || len(r.Problems()) != 0 {
		t.Fatal(err, r.Problems())
	}
	for _, e := range entries {
		if n := e.Name(); n != "run" && n != "settings.jsonc" {
			t.Errorf("left behind: %s", n)
		}
	}
}

// holdLocks takes both locks, says so, and holds them until its input ends.
func holdLocks() error {
	r, err := store.Open("")
	if err != nil {
		return err
	}
	if _, err := r.Lock(); err != nil {
		return err
	}
	if _, err := r.LockSession("abc"); err != nil {
		return err
	}
	fmt.Println("held")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

func TestAKilledProcessLetsGoOfItsLocks(t *testing.T) {
	r := open(t)
	cmd, out, _ := process(t, "hold", r)
	if _, err := out.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Lock(); err == nil || !strings.Contains(err.Error(), strconv.Itoa(cmd.Process.Pid)) {
		t.Fatalf("got %v, want the holder %d named", err, cmd.Process.Pid)
	}
	if _, err := r.LockSession("abc"); err == nil {
		t.Fatal("two processes hold one session")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	for _, take := range []func() (*store.Lock, error){r.Lock, func() (*store.Lock, error) { return r.LockSession("abc") }} {
		l, err := take()
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// register adds a project for each line of its input, and says so.
func register() error {
	r, err := store.Open("")
	if err != nil {
		return err
	}
	d, err := r.DB(context.Background())
	if err != nil {
		return err
	}
	fmt.Println("ready")
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		_, err := d.Exec(`INSERT INTO projects (id, name, path, added_at) VALUES (?1, ?1, ?1, 1)`, lines.Text())
		if err != nil {
			return err
		}
		fmt.Println("added")
	}
	return r.Close()
}

func TestAnotherProcessChangesAreNoticed(t *testing.T) {
	r := open(t)
	addProject(t, db(t, r), "mine")
	_, out, in := process(t, "register", r)
	if _, err := out.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	changed := make(chan struct{}, 16)
	r.Changed(ctx, func() { changed <- struct{}{} })
	wait := func(what string) {
		t.Helper()
		select {
		case <-changed:
		case <-time.After(60 * time.Second):
			t.Fatalf("%s went unnoticed", what)
		}
	}
	for n := range 3 {
		if _, err := fmt.Fprintf(in, "theirs%d\n", n); err != nil {
			t.Fatal(err)
		}
		wait("a row of another process")
	}
	if n := countProjects(t, db(t, r)); n != 4 {
		t.Fatalf("%d projects", n)
	}
	write(t, r, "settings.jsonc", `{"theme": "dark"}`)
	wait("a saved settings file")
	if err := os.Remove(r.Path("settings.jsonc")); err != nil {
		t.Fatal(err)
	}
	wait("a removed settings file")
	cancel()
	for n := range 8 {
		write(t, r, "settings.jsonc", strings.Repeat(" ", n))
	}
	if err := r.Close(); err != nil { // returns when the watcher has ended
		t.Fatal(err)
	}
	if len(changed) != 0 {
		t.Fatal("called after the end of its context")
	}
}
