package scan

import "strings"

// Kind is what a finding is about.
type Kind string

// The kinds.
const (
	Hook     Kind = "hook"     // git runs it
	GitConf  Kind = "config"   // git's configuration, with keys that run programs
	Redirect Kind = "redirect" // sends git to another folder
	Agent    Kind = "agent"    // settings of a coding agent that carry commands
	Editor   Kind = "editor"   // settings of an editor that carry commands
	Shell    Kind = "shell"    // read by a shell or a debugger that starts in the folder
	Tool     Kind = "tool"     // read by a tool that people start often, such as a package manager
	Hidden   Kind = "hidden"   // a folder that can't be looked into
)

// Action is what should happen with a finding.
type Action string

// The actions.
const (
	// Move into quarantine at once: something runs it without being asked.
	Move Action = "move"
	// Ask a person: there are good reasons to write it.
	Ask Action = "ask"
)

// rule says what a watched name is.
type rule struct {
	kind   Kind
	action Action
	why    string   // completes "NAME is new: "
	only   []string // of a folder: the names in it that matter, lower case; a trailing slash means all below, a star in front all that end so
}

// fold gives a name in lower case, as file systems that don't tell the cases apart compare it: a long s is an s.
func fold(name string) string { return strings.ReplaceAll(strings.ToLower(name), "ſ", "s") }

// watchedFile knows the files that matter in every folder. The name is in lower case: some file
// systems don't tell the cases apart.
func watchedFile(name string) (rule, bool) {
	switch name {
	case ".mcp.json", "opencode.json", "opencode.jsonc", ".aider.conf.yml", ".cursorrules.json", ".carrelhooks", ".claude.json",
		"crush.json", ".crush.json":
		return rule{kind: Agent, action: Move, why: "coding agents start the programs that it names"}, true
	case ".devcontainer.json":
		return rule{kind: Editor, action: Move, why: "editors run its initializeCommand on the host"}, true
	case ".envrc", ".autoenv.zsh", ".env.fish", ".in", ".out", ".autoenv", ".autoenv_leave":
		return rule{kind: Shell, action: Move, why: "shells run it on entering the folder"}, true
	case ".exrc", ".vimrc", ".lvimrc", ".nvimrc", ".nvim.lua", ".gvimrc", ".dir-locals.el", ".dir-locals-2.el",
		".netrwhist", ".sublime-project", ".lazy.lua":
		return rule{kind: Editor, action: Move, why: "editors run it when they open the folder"}, true
	case ".gdbinit", ".lldbinit", ".cdbinit", ".pythonstartup", ".irbrc", ".pryrc", ".rprofile", ".bashrc", ".zshrc",
		".zshenv", ".profile", ".bash_profile", ".pdbrc", ".perldb", ".octaverc", ".ghci", ".iex.exs", ".ocamlinit", ".byebugrc",
		".rdbgrc", ".phpdbginit":
		return rule{kind: Shell, action: Move, why: "a shell, debugger or interpreter that starts here runs it"}, true
	case "lefthook.yml", "lefthook.yaml", ".lefthook.yml", "lefthook-local.yml", ".overcommit.yml",
		".pre-commit-config.yaml", ".lintstagedrc", ".simple-git-hooks.json":
		return rule{kind: Hook, action: Ask, why: "where its tool is installed, git runs what it names"}, true
	case ".yarnrc.yml", ".yarnrc", ".npmrc", ".pnpmfile.cjs", ".pnpmfile.mjs", "pip.conf", "mise.toml", ".mise.toml", "mise.local.toml",
		".mise.local.toml", ".tool-versions", "sitecustomize.py", "usercustomize.py", ".jvmopts", ".mvnrc",
		".latexmkrc", "latexmkrc", ".bazelrc", "rust-toolchain.toml", "rust-toolchain", "bunfig.toml":
		return rule{kind: Tool, action: Ask, why: "tools that start here obey it"}, true
	}
	if strings.HasSuffix(name, ".code-workspace") || strings.HasSuffix(name, ".sublime-project") {
		return rule{kind: Editor, action: Move, why: "editors take settings and tasks from it"}, true
	}
	return rule{}, false
}

// watchedFolder knows the folders that matter in every folder.
func watchedFolder(name string) (rule, bool) {
	agent := func(only ...string) (rule, bool) {
		return rule{kind: Agent, action: Move, why: "coding agents run what it names", only: only}, true
	}
	editor := func(only ...string) (rule, bool) {
		return rule{kind: Editor, action: Move, why: "editors run what it names", only: only}, true
	}
	switch name {
	case ".claude":
		return agent("settings.json", "settings.local.json", "hooks/", "plugins/", ".mcp.json")
	case ".carrel", ".xum", ".mux":
		return agent("init", "archive", "delete", "tool_pre", "tool_post", "tool_env", "mcp.jsonc", "mcp.json",
			"settings.jsonc", "hooks/", "plugins/", "sandbox.jsonc")
	case ".cursor":
		return agent("mcp.json", "hooks.json", "hooks/", "environment.json", "sandbox.json", "cli.json", "worktrees.json")
	case ".codex", ".gemini", ".qwen", ".kiro", ".amazonq", ".opencode", ".roo", ".kilocode", ".windsurf", ".continue",
		".crush", ".goose", ".factory", ".agents", ".copilot", ".augment", ".junie", ".trae", ".void", ".cline":
		return agent("mcp.json", ".mcp.json", "config.toml", "config.json", "config.yaml", "settings.json",
			"settings.local.json", "hooks.json", "opencode.json", "hooks/", "plugins/", "plugin/", "mcpservers/", "extensions/")
	case ".clinerules", ".github":
		return agent("hooks/")
	case ".vscode":
		return editor("settings.json", "tasks.json", "launch.json", "mcp.json", "extensions.json")
	case ".zed":
		return editor("settings.json", "tasks.json", "debug.json")
	case ".vs":
		return editor("tasks.vs.json", "launch.vs.json", "mcp.json")
	case ".run":
		return editor("*.run.xml")
	case ".hg", ".jj":
		return rule{kind: Hook, action: Move, why: "version control runs the hooks, extensions and programs that it names",
			only: []string{"hgrc", "hgrc-not-shared", "sharedpath", "repo/config.toml"}}, true
	case ".cargo", ".bundle":
		return rule{kind: Tool, action: Ask, why: "tools that start here obey it", only: []string{"config", "config.toml", "plugin/"}}, true
	case ".idea", ".fleet", ".vim", ".nvim", ".devcontainer", ".sublime", ".theia", ".nova", ".helix":
		return editor()
	case ".husky", ".githooks", ".git-hooks", ".lefthook", ".git_hooks", ".hooks":
		return rule{kind: Hook, action: Move, why: "git is often told to take its hooks from there"}, true
	case ".direnv", ".mise", ".yarn":
		return rule{kind: Tool, action: Ask, why: "tools that start here load it", only: []string{"releases/", "plugins/", "config.toml"}}, true
	}
	return rule{}, false
}

// matters reports whether a file below a watched folder does. rel is its path below the folder.
func (r rule) matters(rel string) bool {
	if len(r.only) == 0 {
		return true
	}
	rel = fold(rel)
	for _, o := range r.only {
		suffix, star := strings.CutPrefix(o, "*")
		if rel == o || strings.HasSuffix(o, "/") && strings.HasPrefix(rel, o) || star && strings.HasSuffix(rel, suffix) {
			return true
		}
	}
	return false
}
