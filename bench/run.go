package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"carrel/agent/model/fakewire"
)

const (
	runModel = "anthropic:claude-sonnet-5-5"
	runTask  = "Find out what this repository holds, and say it in a few words."
)

// The commands of the five calls: what agents run to look around.
var runCommands = []string{
	"git log --oneline -5 && git status --short",
	"ls -la && ls part-00 | head -20",
	"grep -rn 'merge commit' --include='*.txt' . | head -20",
	"find . -name 'file-001*' -not -path './.git/*' | sort | head",
	"head -20 file-1.txt && wc -l *.txt",
}

// measureRun gives one task to carrel run, which takes six requests and five commands, and lets a
// shell loop send the same requests with curl and run the same commands.
func measureRun(ctx context.Context, b *bench) (_ []line, err error) {
	carrel, err := b.carrel(ctx)
	if err != nil {
		return nil, err
	}
	repo := b.path("run-repo")
	if err := b.repo(ctx, repo, size{400, 40}); err != nil {
		return nil, err
	}
	server, err := fakewire.Start("127.0.0.1:0", runScript())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	// The loop confines nothing, so what is compared with it does not either. What the sandbox takes is
	// measured by its own rows, and told here.
	run := func(more ...string) command {
		return command{
			argv: slices.Concat([]string{carrel, "run", "--dir", repo, "--model", runModel}, more, []string{runTask}), dir: repo,
			env: b.env("CARREL_ROOT="+b.path("run-root"), "ANTHROPIC_API_KEY=bench", "ANTHROPIC_BASE_URL="+server.URL),
		}
	}
	ours := run("--sandbox", "danger-full-access")
	if _, err := ours.run(ctx); err != nil {
		return nil, err
	}
	script, err := b.shellLoop(server)
	if err != nil {
		return nil, err
	}
	base := command{argv: []string{"bash", script}, dir: repo, env: b.env()}
	p, err := alternate(ctx, 20, base.run, ours.run)
	if err != nil {
		return nil, err
	}
	confined, err := alternate(ctx, 10, base.run, run("--sandbox", "workspace-write").run)
	if err != nil {
		return nil, err
	}
	var peak int64
	for _, s := range slices.Concat(p.ours, confined.ours) {
		peak = max(peak, s.peak)
	}
	const mib = 1 << 20
	free := p.ratio("carrel run, six steps with five bash calls; a shell loop with curl", 1.5)
	free.note = "in the sandbox, whose helper starts meanwhile, it takes " + show(median(wall(confined.ours)))
	return []line{
		free,
		{work: "carrel run, peak memory", value: float64(peak) / mib, limit: 64, unit: "MiB"},
	}, nil
}

func runScript() fakewire.Script {
	says := strings.Repeat("I look at the repository a little more before I say anything. ", 5)
	var steps []fakewire.Reply
	for _, c := range runCommands {
		steps = append(steps, fakewire.Reply{Text: says, Calls: []fakewire.Call{
			{Name: "bash", Input: fmt.Sprintf(`{"script":%q,"timeout_secs":30,"display_name":"Look around"}`, c)},
		}})
	}
	return fakewire.Steps(append(steps, fakewire.Reply{Text: says + "It holds text files."})...)
}

// shellLoop writes the baseline: the requests that a run has sent, byte by byte, and its commands.
func (b *bench) shellLoop(server *fakewire.Server) (string, error) {
	sent := server.Requests()
	if len(sent) != len(runCommands)+1 {
		return "", fmt.Errorf("carrel run sent %d requests, not %d", len(sent), len(runCommands)+1)
	}
	dir := b.path("loop")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	script := "set -eu\nfor i in 0 1 2 3 4 5; do\n" +
		"  curl -sS --fail -o " + dir + "/answer-$i -H 'content-type: application/json' -H 'x-api-key: bench' " +
		"-H 'anthropic-version: 2023-06-01' --data-binary @" + dir + "/body-$i " + server.URL + sent[0].Path + "\n" +
		"  [ $i -eq 5 ] || bash -c \"$(cat " + dir + "/command-$i)\" >" + dir + "/output-$i 2>&1 </dev/null\ndone\n"
	files := map[string]string{"loop.sh": script}
	for i, r := range sent {
		files[fmt.Sprint("body-", i)] = string(r.Raw)
		if i < len(runCommands) {
			files[fmt.Sprint("command-", i)] = runCommands[i]
		}
	}
	for name, text := range files {
		if err := os.WriteFile(b.path("loop", name), []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	return b.path("loop", "loop.sh"), nil
}
