package policy

import (
	"maps"
	"slices"
	"strings"
)

// Environ is the part of an environment (NAME=value) that the policy hands on, sorted. It is a pass
// list: what is not on it never reaches a command. The variables that lead to the person's session
// (agents for keys, the desktop, container daemons) are on nobody's list; SSHAgent alone adds one.
// The system's proxy variables pass only while the network is open, else the sandbox sets its own.
func (p Policy) Environ(environ []string) []string {
	env := map[string]string{}
	for _, v := range environ {
		name, value, ok := strings.Cut(v, "=")
		if ok && p.passes(name) && !strings.ContainsRune(v, 0) {
			env[name] = value
		}
	}
	list := make([]string, 0, len(env))
	for _, name := range slices.Sorted(maps.Keys(env)) {
		list = append(list, name+"="+env[name])
	}
	return list
}

// passes reports whether a variable may be handed on.
func (p Policy) passes(name string) bool {
	switch {
	case name == "":
		return false
	case name == "SSH_AUTH_SOCK":
		return p.SSHAgent
	case session(name):
		return false
	case proxy(name):
		return p.Network == NetworkAllow
	}
	for _, pattern := range p.Env {
		prefix, family := strings.CutSuffix(pattern, "*")
		if !family && name == pattern || family && strings.HasPrefix(name, prefix) && !secret(name) {
			return true
		}
	}
	return false
}

// session reports a variable that leads out of the sandbox; no list can pass it.
func session(name string) bool {
	return slices.Contains([]string{
		"SSH_AGENT_PID", "SSH_ASKPASS_SOCK", "GPG_AGENT_INFO", "GNUPGHOME", "DBUS_SESSION_BUS_ADDRESS", "DBUS_SYSTEM_BUS_ADDRESS",
		"DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET", "XAUTHORITY", "ICEAUTHORITY", "SESSION_MANAGER", "XDG_RUNTIME_DIR",
		"XDG_SESSION_ID", "DOCKER_HOST", "DOCKER_CONTEXT", "CONTAINER_HOST", "CONTAINERD_ADDRESS", "PODMAN_HOST", "KUBECONFIG",
		"TMUX", "TMUX_PANE", "STY", "NVIM", "NVIM_LISTEN_ADDRESS", "EMACS_SOCKET_NAME", "VSCODE_IPC_HOOK", "VSCODE_IPC_HOOK_CLI",
		"VSCODE_GIT_IPC_HANDLE", "PULSE_SERVER", "PIPEWIRE_REMOTE", "I3SOCK", "SWAYSOCK", "HYPRLAND_INSTANCE_SIGNATURE",
		"KITTY_LISTEN_ON", "WEZTERM_UNIX_SOCKET", "ALACRITTY_SOCKET", "GNOME_KEYRING_CONTROL", "KRB5CCNAME", "NOTIFY_SOCKET",
		"LISTEN_FDS", "LISTEN_PID", "INVOCATION_ID", "JOURNAL_STREAM", "LD_PRELOAD", "LD_AUDIT", "BASH_ENV", "ENV",
		"DYLD_INSERT_LIBRARIES", "TMPDIR", "TMP", "TEMP", "TEMPDIR", "TMUX_TMPDIR", "GOTMPDIR",
	}, name)
}

// proxy reports a variable that says how to reach the network.
func proxy(name string) bool {
	return slices.Contains([]string{
		"http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy", "grpc_proxy", "no_grpc_proxy", "npm_config_proxy",
		"npm_config_https_proxy", "npm_config_http_proxy", "npm_config_noproxy", "npm_config_https-proxy", "npm_config_http-proxy",
	}, strings.ToLower(name))
}

// secret reports whether a name says that its value is one. It guards the families only: a name that
// stands on the list alone was meant.
func secret(name string) bool {
	name = strings.ToUpper(name)
	return strings.HasSuffix(name, "KEY") || strings.HasSuffix(name, "PASS") || strings.HasSuffix(name, "PAT") || slices.ContainsFunc(
		[]string{"TOKEN", "SECRET", "PASSW", "AUTH", "CREDENTIAL", "APIKEY", "API_KEY", "PRIVATE", "INDEX_URL", "SESSION", "COOKIE"},
		func(s string) bool { return strings.Contains(name, s) })
}

// families begin the names of whole groups of settings.
func families() []string {
	return []string{
		"LC_*", "CGO_*", "PYTHON*", "CONDA_*", "PIP_*", "UV_*", "PIPX_*", "POETRY_*", "RUBY*", "BUNDLE_*", "RUST*", "CARGO_*",
		"npm_config_*", "NPM_CONFIG_*", "COREPACK_*", "FNM_*", "NVM_*", "NIX_*", "ASDF_*", "MISE_*", "HOMEBREW_*", "CMAKE_*", "DOTNET_*",
		"PLAYWRIGHT_*", "PUPPETEER_*", "CARREL_*", "XUM_*", "MUX_*",
	}
}

// plainNames are single variables.
func plainNames() []string {
	return []string{
		// The person and the machine.
		"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TZ", "LANG", "LANGUAGE", "EMAIL", "HOSTNAME", "HOSTTYPE", "OSTYPE",
		"MANPATH", "INFOPATH", "TERM", "COLORTERM", "TERMINFO", "TERMINFO_DIRS", "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "CI",
		"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_DATA_DIRS", "XDG_CONFIG_DIRS",
		// What keeps programs from asking questions.
		"PAGER", "GIT_PAGER", "MANPAGER", "GH_PAGER", "AWS_PAGER", "SYSTEMD_PAGER", "EDITOR", "VISUAL", "GIT_EDITOR",
		"GIT_SEQUENCE_EDITOR", "GIT_TERMINAL_PROMPT", "GIT_ASKPASS", "SSH_ASKPASS", "SSH_ASKPASS_REQUIRE", "GCM_INTERACTIVE",
		"DEBIAN_FRONTEND",
		// Proxies (see proxy) and TLS roots.
		"http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "ALL_PROXY",
		"NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
		"GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "AWS_CA_BUNDLE",
		// git's identity and configuration, but not which repository it works on.
		"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "GIT_CONFIG_GLOBAL",
		"GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_EXEC_PATH", "GIT_OPTIONAL_LOCKS",
		// Go.
		"GOPATH", "GOROOT", "GOBIN", "GOCACHE", "GOMODCACHE", "GOPROXY", "GONOPROXY", "GOPRIVATE", "GOSUMDB", "GONOSUMDB",
		"GOINSECURE", "GOFLAGS", "GOTOOLCHAIN", "GOOS", "GOARCH", "GOENV", "GOWORK", "GOEXPERIMENT", "GOMAXPROCS",
		// JavaScript.
		"NODE_ENV", "NODE_PATH", "NODE_OPTIONS", "VOLTA_HOME", "PNPM_HOME", "BUN_INSTALL", "DENO_DIR", "DENO_INSTALL", "CHROME_BIN",
		"YARN_CACHE_FOLDER",
		// Python, Ruby, the JVM.
		"VIRTUAL_ENV", "PYENV_ROOT", "PYENV_VERSION", "GEM_HOME", "GEM_PATH", "RBENV_ROOT", "RBENV_VERSION",
		"JAVA_HOME", "JDK_HOME", "JAVA_TOOL_OPTIONS", "MAVEN_HOME", "MAVEN_OPTS", "M2_HOME", "GRADLE_HOME", "GRADLE_OPTS",
		"GRADLE_USER_HOME", "ANDROID_HOME", "ANDROID_SDK_ROOT", "KOTLIN_HOME", "SDKMAN_DIR", "NUGET_PACKAGES", "COMPOSER_CACHE_DIR",
		// C and C++.
		"CC", "CXX", "CPP", "AR", "LD", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "LIBRARY_PATH", "LD_LIBRARY_PATH",
		"DYLD_LIBRARY_PATH", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "PKG_CONFIG_PATH", "PKG_CONFIG", "SDKROOT",
		"DEVELOPER_DIR", "MACOSX_DEPLOYMENT_TARGET", "MAKEFLAGS", "VCPKG_ROOT", "CCACHE_DIR", "SCCACHE_DIR",
	}
}
