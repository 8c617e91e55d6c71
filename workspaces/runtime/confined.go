package runtime

import (
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"carrel/sandbox"
)

// Hold says how the sandbox holds a command.
type Hold string

// The holds. The zero value is for what the person wrote or does: hooks, terminals, our own git.
const (
	HoldNot      Hold = ""          // not at all
	HoldPolicy   Hold = "policy"    // as the workspace's policy says
	HoldReadOnly Hold = "read-only" // likewise, but nothing of the project is written
)

// Boxed is what holds a command.
type Boxed struct {
	Box *sandbox.Box
	// Watch, when not nil, is called before a command starts, and what it gives once it has ended.
	Watch func(ctx context.Context, c sandbox.Command) (Look, error)
}

// Look tells in sentences what a command left that people should know of.
type Look func() []string

// Boxes gives what holds a command: nil when nothing is to. An error means that the command must not run.
type Boxes func(ctx context.Context, h Hold) (*Boxed, error)

// confine starts a command in the sandbox. There it ends with everything that it started.
func (l *local) confine(ctx context.Context, box *Boxed, c Command, dir, tag string) (Process, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer func() { _ = write.Close() }()
	var input *os.File
	feed := feed{}
	if c.Stdin != nil {
		if feed.read, feed.write, err = os.Pipe(); err != nil {
			_ = read.Close()
			return nil, err
		}
		feed.from, input = c.Stdin, feed.read
	}
	start := time.Now()
	confined := sandbox.Command{Argv: c.Argv, Dir: dir, Env: l.env, Extra: l.extra(c, dir, tag),
		Stdin: input, Stdout: write, Stderr: write, Name: spoken(c.Argv)}
	look := Look(func() []string { return nil })
	if box.Watch != nil {
		look, err = box.Watch(ctx, confined)
	}
	var held *sandbox.Process
	if err == nil {
		held, err = box.Box.Start(ctx, confined)
	}
	if err != nil {
		_ = read.Close()
		feed.drop()
		return nil, fmt.Errorf("start %q: %w", c.Argv[0], err)
	}
	p := &process{delivered: make(chan struct{}), done: make(chan struct{})}
	feed.run()
	go p.deliver(read, c.Output)
	go p.follow(ctx, held, start, read, func() { feed.drop(); p.exit.Notes = look() })
	return p, nil
}

// maxSpoken is how many bytes of a script people are shown where it is only named.
const maxSpoken = 100

// spoken is what people recognise a command by: the first line of a shell's script, else its words.
func spoken(argv []string) string {
	text := strings.Join(argv, " ")
	if len(argv) == 3 && argv[1] == "-c" {
		text = argv[2]
	}
	line, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	line = strings.TrimRight(line, " \t\r")
	switch {
	case len(line) > maxSpoken:
		line = strings.ToValidUTF8(line[:maxSpoken], "") + "..."
	case strings.TrimSpace(rest) != "":
		line += " ..."
	}
	return line
}

// extra are the variables that a confined command gets whatever the policy lets through: ours.
func (l *local) extra(c Command, dir, tag string) []string {
	var out []string
	for name, value := range fixed() {
		out = append(out, name+"="+value)
	}
	for _, v := range l.env {
		if strings.HasPrefix(v, "CARREL_") || strings.HasPrefix(v, "XUM_") || strings.HasPrefix(v, "MUX_") {
			out = append(out, v)
		}
	}
	return append(append(out, c.Env...), "PWD="+dir, tagVar+"="+tag)
}

// follow waits for a confined command and for its output.
func (p *process) follow(ctx context.Context, held *sandbox.Process, start time.Time, read *os.File, after func()) {
	end, err := held.Wait()
	p.exit = Exit{Code: end.Status(), Took: time.Since(start), Lost: end.Lost,
		Killed: ctx.Err() != nil && (err != nil || end.Signal == syscall.SIGKILL)}
	if !p.exit.Killed {
		p.err = err
	}
	_ = read.SetReadDeadline(time.Now().Add(drainTime))
	<-p.delivered
	after()
	close(p.done)
}
