package app

import (
	"context"
	"fmt"

	"carrel/workspaces"
)

// Runner is what starts programs in a workspace.
type Runner string

// The runners.
const (
	RunnerAgent    Runner = "agent"    // commands of the agent
	RunnerHook     Runner = "hook"     // the project's hooks, such as the init hook
	RunnerTerminal Runner = "terminal" // terminals of the person
)

// Hold is the policy that holds for what a runner starts.
type Hold struct {
	Runner   Runner `json:"runner"`
	Confined bool   `json:"confined"`
	Text     string `json:"text"` // a sentence
}

// HoldOf says which policy holds for what a runner starts in a workspace.
func (a *App) HoldOf(ctx context.Context, w workspaces.Workspace, r Runner) (Hold, error) {
	switch r {
	case RunnerHook:
		return HookHold(), nil
	case RunnerTerminal:
		return TerminalHold(), nil
	case RunnerAgent:
	}
	h, err := a.boxes.heldNow(ctx, w)
	if err != nil {
		return Hold{}, err
	}
	out := Hold{Runner: RunnerAgent, Confined: h.on, Text: "Not confined: each command that is not known to change nothing asks."}
	if h.on {
		out.Text = fmt.Sprintf("Confined: tier %s, %s, network %s.", h.tier, h.mode, h.policy.Network)
	}
	return out, nil
}

// HookHold says what holds for hooks. They prepare the workspace with the person's tools and logins, which
// the sandbox would keep from them; what allows them is the person's trust in the project.
func HookHold() Hold {
	return Hold{Runner: RunnerHook, Text: "Runs outside of the sandbox: you trusted this project."}
}

// TerminalHold says what holds for terminals: they are the person's own.
func TerminalHold() Hold {
	return Hold{Runner: RunnerTerminal, Text: "Runs outside of the sandbox: it is your own terminal."}
}

// holds are those of all runners of a workspace.
func (a *App) holds(ctx context.Context, w workspaces.Workspace) ([]Hold, error) {
	var out []Hold
	for _, r := range []Runner{RunnerAgent, RunnerHook, RunnerTerminal} {
		h, err := a.HoldOf(ctx, w, r)
		if err != nil {
			return nil, err
		}
		out = append(out, h)
	}
	return out, nil
}
