package policy

import "path"

// treeGuards are the names inside a project that tools outside of the sandbox obey: settings of agents
// and editors that carry hooks and tasks, and hooks kept in the tree. What git itself obeys (its
// folder, hooks, configuration, those of worktrees, submodules and nested repositories) is found by
// package plan, since it depends on what the tree holds.
func treeGuards() []Guard {
	held := []string{".carrel", ".xum", ".mux", ".claude", ".vscode", ".idea", ".husky", ".githooks"}
	dirs := []string{
		".cursor", ".gemini", ".codex", ".copilot", ".windsurf", ".continue", ".roo", ".clinerules", ".kiro", ".opencode",
		".zed", ".fleet", ".vs", ".run", ".nova", ".jj",
	}
	files := []string{
		".mcp.json", "mcp.json", ".envrc", ".claude.json", "opencode.json", "crush.json", ".crush.json", ".aider.conf.yml",
		".exrc", ".nvimrc", ".nvim.lua", ".vimrc", ".lvimrc", ".dir-locals.el", ".dir-locals-2.el", ".lazy.lua",
		".carrelignore", ".xumignore", ".muxignore", ".code-workspace",
	}
	var list []Guard
	for _, name := range held {
		list = append(list, Guard{Name: name, Dir: true, Deep: true, Hold: true})
	}
	for _, name := range dirs {
		list = append(list, Guard{Name: name, Dir: true, Deep: true})
	}
	for _, name := range files {
		list = append(list, Guard{Name: name, Deep: true})
	}
	return list
}

// homeGuards count where a write root or a cache covers a part of home: what shells, sessions and
// desktops start, programs on the search path, toolchains and their settings.
func homeGuards(home string) []Guard {
	var list []Guard
	for _, name := range startup() {
		list = append(list, Guard{Name: path.Join(home, name)})
	}
	for _, name := range toolFiles() {
		list = append(list, Guard{Name: path.Join(home, name)})
	}
	for _, name := range toolFolders() {
		list = append(list, Guard{Name: path.Join(home, name), Dir: true})
	}
	return list
}

// startup: files that a shell, a session or a tool reads by itself.
func startup() []string {
	return []string{
		".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc", ".zshenv",
		".zprofile", ".zlogin", ".zlogout", ".kshrc", ".mkshrc", ".cshrc", ".tcshrc", ".login", ".logout", ".inputrc",
		".xprofile", ".xinitrc", ".xsession", ".xsessionrc", ".Xresources", ".pam_environment", ".tmux.conf", ".screenrc",
		".gitconfig", ".gitattributes", ".hgrc", ".vimrc", ".gvimrc", ".exrc", ".emacs", ".nanorc", ".gdbinit", ".lldbinit",
		".pythonrc", ".pystartup", ".irbrc", ".pryrc", ".Rprofile", ".ghci", ".curlrc", ".wgetrc", ".editrc", ".psqlrc", ".sqliterc",
		".ssh/config", ".ssh/rc", ".ssh/authorized_keys", ".ssh/environment", ".direnvrc",
	}
}

// toolFiles: settings that decide what a tool runs or downloads.
func toolFiles() []string {
	return []string{
		".npmrc", ".yarnrc", ".yarnrc.yml", ".bunfig.toml", ".cargo/config", ".cargo/config.toml", ".cargo/env",
		".gradle/gradle.properties", ".gradle/init.gradle", ".gradle/init.gradle.kts", ".m2/settings.xml", ".m2/settings-security.xml",
		".m2/toolchains.xml", ".mavenrc", ".m2/extensions.xml", ".gemrc", ".condarc", ".pip/pip.conf", ".tool-versions",
		".default-npm-packages", ".asdfrc", ".claude.json", ".docker/config.json", ".config/starship.toml",
	}
}

// toolFolders: programs, toolchains, services and settings.
func toolFolders() []string {
	return []string{
		"bin", ".local/bin", ".local/lib", ".local/share/applications", ".local/share/systemd", ".local/share/dbus-1",
		".config/autostart", ".config/systemd", ".config/environment.d", ".config/plasma-workspace", ".config/git", ".config/fish",
		".config/zsh", ".config/bash", ".config/nushell", ".config/direnv", ".config/mise", ".config/pip", ".config/uv", ".config/pnpm",
		".config/go", ".config/nvim", ".config/emacs", ".config/tmux", ".config/Code/User", ".config/zed", ".config/JetBrains",
		".cargo/bin", ".rustup", ".pyenv", ".local/share/uv/python", ".local/share/uv/tools", ".local/share/pipx", ".local/pipx",
		".nvm", ".fnm", ".local/share/fnm", ".volta", ".asdf", ".local/share/mise", ".local/share/rtx", ".sdkman", ".jenv", ".rbenv",
		".rvm", ".gem", ".local/share/gem", ".nodenv", ".goenv", ".go/bin", "go/bin", "sdk", ".bun/bin", ".deno/bin", ".local/share/pnpm",
		".npm-global", ".npm/bin", ".yarn/bin", ".config/yarn/global", ".composer/vendor", ".config/composer/vendor", ".dotnet",
		".nuget/plugins", ".opam", ".ghcup", ".cabal/bin", ".stack", ".juliaup", ".elan", ".zvm", ".gradle/init.d", ".gradle/wrapper",
		".gradle/jdks", ".m2/wrapper", ".vim", ".emacs.d", ".oh-my-zsh", ".zsh", ".bash_completion.d", ".docker/cli-plugins", ".kube",
		".krew", ".config/helm/plugins", ".local/share/helm", ".ssh", ".gnupg", ".claude", ".codex", ".gemini", ".cursor", ".vscode",
		".vscode-server", "Library/LaunchAgents", "Library/Application Support/Code/User", "Library/Python", "Library/Services",
		"Library/QuickLook", "Library/Scripts", "Library/Application Scripts", "Library/pnpm", "Applications",
	}
}
