package app

import (
	"path"
	"slices"
	"strings"

	"carrel/sandbox/policy"
)

// guardViews lists what commands can't change inside of what they can write, by the reason.
func guardViews(p policy.Policy) []SandboxGuard {
	out := []SandboxGuard{
		{Why: "what git runs and obeys, here, in worktrees, submodules and nested repositories",
			Names: []string{".git/hooks", ".git/config", ".git/config.worktree", ".git/commondir", ".git/info", ".git/modules", ".git/worktrees"}},
		{Why: "hooks that are kept in the tree"},
		{Why: "settings of agents, which can name commands to run"},
		{Why: "settings of editors, which can name tasks and programs to run"},
		{Why: "what shells run when they enter a folder"},
		{Why: "what your shells, tools and desktop start, where a folder that can be written covers it"},
	}
	const hooks, agents, editors, shells, home = 1, 2, 3, 4, 5
	for _, g := range p.Guards {
		at := editors
		switch name := strings.TrimPrefix(g.Name, "."); {
		case path.IsAbs(g.Name):
			at = home
		case name == "husky" || name == "githooks":
			at = hooks
		case name == "envrc":
			at = shells
		case slices.Contains(strings.Fields(agentGuards), name):
			at = agents
		}
		out[at].Names = append(out[at].Names, short(g.Name))
	}
	for i := range out {
		out[i].Names = listed(out[i].Names)
	}
	return slices.DeleteFunc(out, func(g SandboxGuard) bool { return len(g.Names) == 0 })
}

// agentGuards are the names, without the dot before them, that agents and Carrel obey.
const agentGuards = "carrel xum mux claude cursor gemini codex copilot windsurf continue roo clinerules kiro opencode mcp.json claude.json " +
	"opencode.json crush.json aider.conf.yml carrelignore xumignore muxignore"
