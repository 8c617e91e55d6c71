package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"carrel/app"
	"carrel/sandbox"
	"carrel/sandbox/filter"
	"carrel/sandbox/netproxy"
	"carrel/sandbox/policy"
	"carrel/store"
)

const (
	exitCannotRun = 126
	exitNotFound  = 127
)

// cannotEnforce makes an error the one that ends sandbox exec with 125.
func cannotEnforce(err error) error {
	var usage *exitError
	if errors.As(err, &usage) {
		return err
	}
	message := strings.TrimSuffix(err.Error(), ".")
	var c *sandbox.CannotEnforce
	if errors.As(err, &c) && c.Mend != "" {
		message += ". " + c.Mend
	}
	return &exitError{code: exitCannotEnforce, err: &app.Error{Code: "cannot_enforce", Message: message + ".", Cause: err}}
}

// exec runs argv and ends with its code.
func (o *sandboxOptions) exec(ctx context.Context, io IO, asJSON bool, argv []string) error {
	root, err := store.Open("")
	if err != nil {
		return cannotEnforce(err)
	}
	defer func() { _ = root.Close() }()
	private, remove, err := privateFolder(root.Dir())
	if err != nil {
		return cannotEnforce(err)
	}
	defer remove()
	p, err := o.policy(io.Environ, root, private)
	if err != nil {
		return cannotEnforce(err)
	}
	told := &sandboxTeller{io: io, json: asJSON, refused: map[string]bool{}}
	box, err := o.open(ctx, p, newFilter(p, io.Environ, told.decision))
	if err != nil {
		return cannotEnforce(err)
	}
	run := &sandboxRun{io: io, box: box, told: told, quarantine: filepath.Join(root.Dir(), quarantineFolder)}
	exit, err := run.command(ctx, argv)
	looking := box.Close()
	if run.started { // also when nobody knows how it ended
		looking = errors.Join(looking, run.look(context.WithoutCancel(ctx)))
	}
	if looking != nil {
		told.say("scan", fmt.Sprintf("What the command left could not be looked at: %v.", looking), nil)
	}
	for _, lost := range exit.Lost {
		told.say("lost", fmt.Sprintf("%s was replaced from outside while it was guarded; the command was stopped.", lost), map[string]any{"path": lost})
	}
	told.flush()
	if err != nil {
		return err
	}
	if code := exit.Status(); code != 0 {
		return &exitError{code: code}
	}
	return nil
}

// sandboxRun is one command in its box.
type sandboxRun struct {
	io         IO
	box        *sandbox.Box
	told       *sandboxTeller
	quarantine string
	scan       sandboxScan
	started    bool
}

// command starts the command and waits for it. Signals that end a program reach it; the third one ends
// everything.
func (r *sandboxRun) command(ctx context.Context, argv []string) (sandbox.Exit, error) {
	c := sandbox.Command{Argv: argv, Env: r.io.Environ, Stdin: r.io.In, Name: filepath.Base(argv[0])}
	var err error
	if c.Stdout, err = asFile(r.io.Out); err == nil {
		c.Stderr, err = asFile(r.io.Err)
	}
	if err != nil {
		return sandbox.Exit{}, err
	}
	steps, err := r.box.Plan(c)
	if err != nil {
		return sandbox.Exit{}, cannotEnforce(err)
	}
	if err := r.scan.before(ctx, steps); err != nil {
		return sandbox.Exit{}, cannotEnforce(err)
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	defer signal.Stop(signals)
	p, err := r.box.Start(ctx, c)
	if err != nil {
		return sandbox.Exit{}, notStarted(argv[0], err)
	}
	r.started = true
	for n := 0; ; {
		select {
		case s := <-signals:
			if n++; n > 2 {
				p.Kill()
			} else if s, ok := s.(syscall.Signal); ok {
				_ = p.Signal(s)
			}
		case <-p.Done():
			exit, err := p.Wait()
			if err != nil {
				return exit, fmt.Errorf("wait for %q: %w", argv[0], err)
			}
			return exit, nil
		}
	}
}

// notStarted tells a command that does not exist from a sandbox that can't hold.
func notStarted(name string, err error) error {
	code, why := 0, ""
	switch {
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		code, why = exitNotFound, "there is no such command inside the sandbox"
	case errors.Is(err, fs.ErrPermission):
		code, why = exitCannotRun, "it can't be run inside the sandbox"
	}
	var c *sandbox.CannotEnforce
	if code == 0 || errors.As(err, &c) {
		return cannotEnforce(err)
	}
	return &exitError{code: code, err: &app.Error{Code: "not_started", Message: fmt.Sprintf("Run %q: %s.", name, why), Cause: err}}
}

// asFile gives the file behind a stream: a command gets it as it is.
func asFile(w any) (*os.File, error) {
	f, ok := w.(*os.File)
	if !ok {
		return nil, errors.New("pass the command's output on: it is no file")
	}
	return f, nil
}

// privateFolder makes the folder of one command: its temporary files and its layers over the caches.
// It names the process, so that what a crash left is removed by the next one.
func privateFolder(root string) (dir string, remove func(), err error) {
	all := filepath.Join(root, "sandbox")
	if err := os.MkdirAll(all, 0o700); err != nil {
		return "", nil, fmt.Errorf("make a private folder: %w", err)
	}
	entries, err := os.ReadDir(all)
	if err != nil {
		return "", nil, fmt.Errorf("make a private folder: %w", err)
	}
	for _, e := range entries {
		text, ok := strings.CutPrefix(e.Name(), "exec-")
		pid, err := strconv.Atoi(strings.SplitN(text, "-", 2)[0])
		if ok && err == nil && pid != os.Getpid() && gone(pid) {
			_ = os.RemoveAll(filepath.Join(all, e.Name()))
		}
	}
	dir, err = os.MkdirTemp(all, fmt.Sprintf("exec-%d-", os.Getpid()))
	if err != nil {
		return "", nil, fmt.Errorf("make a private folder: %w", err)
	}
	return dir, func() { _ = os.RemoveAll(dir) }, nil
}

// gone reports whether no process has that number.
func gone(pid int) bool {
	p, err := os.FindProcess(pid)
	return err == nil && errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

// newFilter is the filtering proxy of one command. Without hosts in the policy the package registries
// are allowed, and those that this machine's package managers use.
func newFilter(p policy.Policy, environ []string, log func(netproxy.Decision)) *filter.Filter {
	return filter.New(filter.Config{Proxy: netproxy.Config{Log: log}, Policy: func() policy.Policy { return p },
		Configured: policy.Configured(p.Home, environ, readConfig)})
}

// readConfig reads a package manager's file, at most 256 KiB of it.
func readConfig(name string) ([]byte, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // never waits for a pipe's other end
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(io.LimitReader(f, 256<<10))
}

// sandboxTeller says what Carrel has to say beside the command's own output.
type sandboxTeller struct {
	io   IO
	json bool

	mu      sync.Mutex
	refused map[string]bool // hosts that were told of
	lines   []sandboxNote
}

// sandboxNote is one thing to say.
type sandboxNote struct {
	Type    string `json:"type"`
	Message string `json:"message"`
	Detail  any    `json:"detail,omitempty"`
}

// maxNotes bounds what one command can make us say.
const maxNotes = 200

// decision keeps a refusal for when the command has ended: its own output stays in one piece.
func (t *sandboxTeller) decision(d netproxy.Decision) {
	if d.Allowed {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.refused[d.Host] || len(t.lines) >= maxNotes {
		return
	}
	t.refused[d.Host] = true
	message := d.Reason
	if d.Grant != "" {
		message += " To allow it: --allow " + d.Grant
	}
	t.lines = append(t.lines, sandboxNote{"network", message, d})
}

func (t *sandboxTeller) say(kind, message string, detail any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.lines) < maxNotes {
		t.lines = append(t.lines, sandboxNote{kind, message, detail})
	}
}

func (t *sandboxTeller) flush() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, n := range t.lines {
		if t.json {
			_ = printJSON(t.io.Err, n)
			continue
		}
		_, _ = fmt.Fprintln(t.io.Err, "carrel:", line(n.Message))
	}
	t.lines = nil
}
