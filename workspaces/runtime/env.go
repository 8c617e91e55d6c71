package runtime

import (
	"maps"
	"slices"
	"strings"
)

// BaseEnv is the part of an environment that commands may inherit, plus what keeps programs from
// asking questions on a terminal that is not there. It is a pass list: a variable that is not on
// it, such as the key of a model provider, a token of ours or any other secret, is never handed
// on. What a project's commands need beyond it is the project's own setting.
//
// Passed on are passedNames and the variables that begin with one of passedPrefixes, except those
// whose name says that they hold a secret. The values of fixed are set over both.
func BaseEnv(environ []string) []string {
	env := map[string]string{}
	for _, v := range environ {
		name, value, ok := strings.Cut(v, "=")
		if ok && passes(name) {
			env[name] = value
		}
	}
	if env["PATH"] == "" {
		env["PATH"] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	}
	if env["LANG"] == "" && env["LC_ALL"] == "" && env["LC_CTYPE"] == "" {
		env["LANG"] = "C.UTF-8"
	}
	maps.Copy(env, fixed())
	list := make([]string, 0, len(env))
	for _, name := range slices.Sorted(maps.Keys(env)) {
		list = append(list, name+"="+env[name])
	}
	return list
}

// passes reports whether a variable may be handed on.
func passes(name string) bool {
	if slices.Contains(passedNames(), name) {
		return true
	}
	if secret(name) {
		return false
	}
	return slices.ContainsFunc(passedPrefixes(), func(p string) bool { return strings.HasPrefix(name, p) })
}

// secret reports whether a name says that its value is one. It only guards the prefixes.
func secret(name string) bool {
	name = strings.ToUpper(name)
	return strings.HasSuffix(name, "KEY") || slices.ContainsFunc(
		[]string{"TOKEN", "SECRET", "PASSW", "AUTH", "CREDENTIAL", "APIKEY", "API_KEY", "PRIVATE", "INDEX_URL"},
		func(s string) bool { return strings.Contains(name, s) })
}

// fixed are the variables that every command gets.
func fixed() map[string]string {
	return map[string]string{
		// A pager would wait for a key.
		"PAGER": "cat", "GIT_PAGER": "cat", "MANPAGER": "cat", "GH_PAGER": "cat", "AWS_PAGER": "cat", "SYSTEMD_PAGER": "cat",
		// An editor that leaves the text as it is: `git commit` without a message fails with
		// "empty commit message", `git rebase --continue` and `--amend` keep the message.
		"EDITOR": "true", "VISUAL": "true", "GIT_EDITOR": "true", "GIT_SEQUENCE_EDITOR": "true",
		// No questions, neither on a terminal nor in a window. The empty GIT_ASKPASS also
		// overrides core.askPass.
		"GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "", "SSH_ASKPASS": "", "SSH_ASKPASS_REQUIRE": "never",
		"GCM_INTERACTIVE": "never", "DEBIAN_FRONTEND": "noninteractive",
		// Plain text.
		"TERM": "dumb", "NO_COLOR": "1",
	}
}

// passedPrefixes begin the names of whole families of settings.
func passedPrefixes() []string {
	return []string{
		"LC_", "XDG_", "CGO_", "PYTHON", "CONDA_", "PIP_", "UV_", "PIPX_", "POETRY_", "RUBY", "BUNDLE_", "RUST", "CARGO_",
		"npm_config_", "NPM_CONFIG_", "COREPACK_", "FNM_", "NVM_", "NIX_", "ASDF_", "MISE_", "HOMEBREW_", "CMAKE_", "DOTNET_",
		"PLAYWRIGHT_", "PUPPETEER_", "WSL",
	}
}

// passedNames are single variables.
func passedNames() []string {
	return []string{
		// The person and the machine.
		"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TMP", "TEMP", "TZ", "LANG", "LANGUAGE", "EMAIL",
		"HOSTNAME", "HOSTTYPE", "OSTYPE", "MANPATH", "INFOPATH", "TERMINFO", "TERMINFO_DIRS",
		// The session: agents for keys, displays for programs under test.
		"SSH_AUTH_SOCK", "SSH_AGENT_PID", "GNUPGHOME", "GPG_AGENT_INFO", "DBUS_SESSION_BUS_ADDRESS",
		"DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY",
		// Proxies.
		"http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy",
		"HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "ALL_PROXY", "NO_PROXY",
		// TLS roots.
		"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
		"GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "AWS_CA_BUNDLE",
		// git's identity and configuration, but not which repository it works on.
		"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "GIT_CONFIG_GLOBAL",
		"GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_EXEC_PATH",
		// Go.
		"GOPATH", "GOROOT", "GOBIN", "GOCACHE", "GOMODCACHE", "GOPROXY", "GONOPROXY", "GOPRIVATE", "GOSUMDB", "GONOSUMDB",
		"GOINSECURE", "GOFLAGS", "GOTOOLCHAIN", "GOOS", "GOARCH", "GOENV", "GOWORK", "GOEXPERIMENT", "GOMAXPROCS", "GOTMPDIR",
		// JavaScript.
		"NODE_ENV", "NODE_PATH", "NODE_OPTIONS", "VOLTA_HOME", "PNPM_HOME", "BUN_INSTALL", "DENO_DIR", "DENO_INSTALL", "CHROME_BIN",
		// Python, Ruby, the JVM.
		"VIRTUAL_ENV", "PYENV_ROOT", "PYENV_VERSION", "GEM_HOME", "GEM_PATH", "RBENV_ROOT", "RBENV_VERSION",
		"JAVA_HOME", "JDK_HOME", "JAVA_TOOL_OPTIONS", "MAVEN_HOME", "MAVEN_OPTS", "M2_HOME", "GRADLE_HOME", "GRADLE_OPTS",
		"GRADLE_USER_HOME", "ANDROID_HOME", "ANDROID_SDK_ROOT", "KOTLIN_HOME", "SDKMAN_DIR",
		// C and C++.
		"CC", "CXX", "CPP", "AR", "LD", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "LIBRARY_PATH", "LD_LIBRARY_PATH",
		"DYLD_LIBRARY_PATH", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "PKG_CONFIG_PATH", "PKG_CONFIG", "SDKROOT",
		"DEVELOPER_DIR", "MACOSX_DEPLOYMENT_TARGET", "MAKEFLAGS", "VCPKG_ROOT",
		// Containers and clusters: where they are, not who may use them.
		"DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "CONTAINERS_CONF", "KUBECONFIG",
	}
}
