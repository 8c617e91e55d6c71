// Bench measures what Carrel promises about speed, and prints each measure beside its limit.
//
// Limits are ratios: our work and a baseline that does the same without us take turns in one run, so
// that a slow or busy machine changes both. The table has, for each line, the medians of both, their
// ratio, the ratio of the shortest runs (the machine at its quietest), the ratio of CPU time used,
// and the verdict, by the ratio of medians. A few lines are absolute and have no baseline.
//
//	go run ./bench              every row, about ten minutes
//	go run ./bench -list        the names of the rows
//	go run ./bench -run NAME    the rows named, separated by commas
//	go run ./bench -run agents -agents FOLDER
//	                            beside other agents that "npm install --prefix FOLDER" put there
//	go run ./bench -long        the streams and the waiting for ten minutes instead of twenty seconds
//
// It exits with 1 when a limit is missed, with 2 when it could not measure. It needs git, curl and
// bash; the rows of the window also need bin/carrel-desktop (make window) and a display, or Xvfb and
// openbox, and are skipped, and say so, without them. It is no part of make check: a machine that
// does something else meanwhile would fail it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"
)

// row measures one kind of work.
type row struct {
	name, about string
	measure     func(ctx context.Context, b *bench) ([]line, error)
}

// rows are in the order of the table.
func rows() []row {
	return []row{
		{"run", "carrel run beside a shell loop with curl", measureRun},
		{"agents", "carrel run beside other agents' commands, where they are installed", measureAgents},
		{"start", "carrel --version beside a hello-world program", measureStart},
		{"workspace", "creating and deleting workspaces beside git worktree", measureWorkspace},
		{"refresh", "the git state of 50 worktrees beside git status", measureRefresh},
		{"conversation", "20,000 messages beside 200", measureConversation},
		{"steps", "from a step to the next request, 200,000 tokens beside 2,000", measureSteps},
		{"hundred", "100 conversations that stream beside one", measureHundred},
		{"counting", "counting the tokens of 200,000 letters beside 1 MB of text", measureCounting},
		{"history", "a conversation in 1 GB of history beside 10 MB; searching it beside grep", measureHistory},
		{"sandbox", "starting a command in the sandbox beside a bare exec, bubblewrap and npm's sandbox-runtime", measureSandboxStart},
		{"inside", "git status, a build and npm ci in the sandbox beside outside", measureSandboxWork},
		{"tunnels", "a thousand tunnels through the filtering proxy; one beside a bare relay", measureTunnels},
		{"wire", "calls and events in the window beside a bare WebSocket", measureWire},
		{"streams", "six streams of 200 events a second", measureStreams},
		{"waiting", "CPU of core and window while a command sleeps in a long session", measureWaiting},
	}
}

// errSkipped says that this machine lacks what a row needs.
var errSkipped = errors.New("skipped")

func main() {
	launched() // does not return in a launcher
	served()   // nor in a model server
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	code, err := run(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
	}
	stop()
	os.Exit(code)
}

func run(ctx context.Context) (code int, err error) {
	only := flag.String("run", "", "the `names` of the rows to measure, separated by commas (default: all)")
	list := flag.Bool("list", false, "print the names of the rows")
	long := flag.Bool("long", false, "measure the streams, and what waits, for ten minutes")
	host := flag.String("host", "window", "what shows the page of the rows wire and streams: window, chromium or none")
	window := flag.String("window", "bin/carrel-desktop", "`path` of the window's binary")
	agents := flag.String("agents", "", "`folder` into which npm installed other agents, for the row agents (default: they are in PATH)")
	flag.Parse()
	if *list {
		for _, r := range rows() {
			fmt.Printf("%-14s%s\n", r.name, r.about)
		}
		return 0, nil
	}
	chosen, err := choose(*only)
	if err != nil {
		return 2, err
	}
	b, err := newBench()
	if err != nil {
		return 2, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	b.long, b.host, b.window, b.agents = *long, *host, *window, *agents
	var t table
	failed := false
	t.head()
	for _, r := range chosen {
		began := time.Now()
		lines, err := r.measure(ctx, b)
		for _, l := range lines {
			t.print(l)
		}
		switch {
		case ctx.Err() != nil:
			return 2, ctx.Err()
		case errors.Is(err, errSkipped):
			t.note(r.name, err.Error())
		case err != nil:
			failed = true
			t.note(r.name, "could not be measured: "+err.Error())
		}
		fmt.Fprintf(os.Stderr, "%s took %s\n", r.name, time.Since(began).Round(time.Second))
	}
	t.foot()
	switch {
	case failed:
		return 2, nil
	case t.missed > 0:
		return 1, nil
	}
	return 0, nil
}

func choose(names string) ([]row, error) {
	all := rows()
	if names == "" {
		return all, nil
	}
	var out []row
	for _, name := range strings.Split(names, ",") {
		i := slices.IndexFunc(all, func(r row) bool { return r.name == strings.TrimSpace(name) })
		if i < 0 {
			return nil, fmt.Errorf("there is no row %q; see -list", name)
		}
		out = append(out, all[i])
	}
	return out, nil
}
