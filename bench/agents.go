package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"carrel/agent/model/fakewire"
)

const (
	// agentShare is what carrel run may take of the fastest other agent's time.
	agentShare = 0.2
	// slowAgent is from when on an agent gets fewer rounds.
	slowAgent = 3 * time.Second
)

// agent is another agent's command. It gets the same model server, in the format that it speaks.
type agent struct {
	name string
	argv func(url string) []string
	env  func(url string) []string
	call fakewire.Call // of its tool for commands; %q in its input is the command
}

var agents = []agent{
	{name: "claude", call: fakewire.Call{Name: "Bash", Input: `{"command":%q,"description":"Look around"}`},
		argv: func(string) []string { return []string{"-p", runTask, "--model", "sonnet", "--allowedTools", "Bash"} },
		env: func(url string) []string {
			return []string{"ANTHROPIC_BASE_URL=" + url, "ANTHROPIC_API_KEY=bench", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1"}
		}},
	{name: "codex", call: fakewire.Call{Name: "exec_command", Input: `{"cmd":%q}`},
		argv: func(url string) []string {
			return []string{"exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "-m", "gpt-5.1-codex",
				"-c", `model_provider="bench"`, "-c", fmt.Sprintf(`model_providers.bench={name="bench",base_url=%q,env_key="BENCH_KEY",wire_api="responses"}`, url+"/v1"), runTask}
		},
		env: func(string) []string { return []string{"BENCH_KEY=bench"} }},
	{name: "opencode", call: fakewire.Call{Name: "bash", Input: `{"command":%q,"description":"Look around"}`},
		argv: func(string) []string { return []string{"run", "--auto", "-m", "anthropic/claude-sonnet-4-5", runTask} },
		env: func(url string) []string {
			return []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_CONFIG_CONTENT=" +
				fmt.Sprintf(`{"share":"disabled","autoupdate":false,"provider":{"anthropic":{"options":{"baseURL":%q,"apiKey":"bench"}}}}`, url+"/v1")}
		}},
}

// measureAgents gives the task of the row run to other agents too, those that are in PATH or in the folder
// of -agents, in a small repository: they are measured, and not grep.
func measureAgents(ctx context.Context, b *bench) (lines []line, err error) {
	repo := b.path("agents-repo")
	if err := b.repo(ctx, repo, size{40, 4}); err != nil {
		return nil, err
	}
	carrel, err := b.carrel(ctx)
	if err != nil {
		return nil, err
	}
	server, err := fakewire.Start("127.0.0.1:0", runScript())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	ours := command{argv: []string{carrel, "run", "--dir", repo, "--model", runModel, runTask}, dir: repo,
		env: b.env("CARREL_ROOT="+b.path("agents-root"), "ANTHROPIC_API_KEY=bench", "ANTHROPIC_BASE_URL="+server.URL)}
	fastest := line{}
	for _, a := range agents {
		path, err := b.agent(a.name)
		if err != nil {
			continue
		}
		p, err := b.beside(ctx, a, path, repo, ours)
		if err != nil {
			return lines, fmt.Errorf("%s: %w", a.name, err)
		}
		l := p.ratio("carrel run, six steps; "+a.name, 1)
		peak := func(all []sample) int64 { return slices.Max(each(all, func(s sample) int64 { return s.peak })) >> 20 }
		l.note = fmt.Sprintf("peak memory %d MiB; %d MiB", peak(p.ours), peak(p.base))
		lines = append(lines, l)
		if l.value > fastest.value {
			fastest = l
			fastest.work, fastest.limit, fastest.note = "the same beside the fastest of them, "+a.name, agentShare, ""
		}
	}
	if len(lines) == 0 {
		return nil, fmt.Errorf("%w: none of claude, codex and opencode is in PATH or below -agents", errSkipped)
	}
	return append(lines, fastest), nil
}

// agent finds another agent's command.
func (b *bench) agent(name string) (string, error) {
	if b.agents == "" {
		return exec.LookPath(name)
	}
	path := filepath.Join(b.agents, "node_modules", ".bin", name)
	_, err := os.Stat(path)
	return path, err
}

// beside lets an agent and us take turns.
func (b *bench) beside(ctx context.Context, a agent, path, repo string, ours command) (pair, error) {
	server, err := fakewire.Start("127.0.0.1:0", a.script())
	if err != nil {
		return pair{}, err
	}
	defer func() { _ = server.Close() }()
	server.AcceptAnything() // what it asks is not our business
	home := b.path("agents-" + a.name)
	if err := os.MkdirAll(home, 0o700); err != nil {
		return pair{}, err
	}
	its := command{argv: append([]string{path}, a.argv(server.URL)...), dir: repo, env: append(b.env(a.env(server.URL)...), "HOME="+home)}
	base := func(ctx context.Context) (sample, error) {
		ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
		defer cancel()
		s, err := its.run(ctx)
		if n := results(server.Last().Raw); err == nil && n < len(runCommands) {
			err = fmt.Errorf("its last request has only %d results", n)
		}
		return s, err
	}
	first, err := base(ctx)
	if err != nil {
		return pair{}, err
	}
	rounds := 12
	if first.wall > slowAgent {
		rounds = 3
	}
	return alternate(ctx, rounds, base, ours.run)
}

// results counts the results of calls in a request of any format.
func results(raw []byte) int {
	return bytes.Count(raw, []byte(`"type":"tool_result"`)) + bytes.Count(raw, []byte(`"type":"function_call_output"`))
}

// script is that of the row run with the agent's own tool. A request without that tool, such as for a
// title, gets a word.
func (a agent) script() fakewire.Script {
	return func(r fakewire.Request) fakewire.Reply {
		n := results(r.Raw)
		switch {
		case !bytes.Contains(r.Raw, []byte(`"name":"`+a.call.Name+`"`)):
			return fakewire.Reply{Text: "Files"}
		case n < len(runCommands):
			return fakewire.Reply{Text: "I look.", Calls: []fakewire.Call{{ID: fmt.Sprint("call_", n), Name: a.call.Name, Input: fmt.Sprintf(a.call.Input, runCommands[n])}}}
		}
		return fakewire.Reply{Text: "It holds text files."}
	}
}
