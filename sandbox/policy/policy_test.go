package policy

import (
	"encoding/json"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// ada is a valid policy.
func ada() Policy {
	p := Defaults("/home/ada", "/home/ada/.carrel")
	p.Project, p.Private = "/home/ada/p", "/home/ada/.carrel/sandbox/w1"
	return p
}

func TestDefaultsAreValidAndKeepAsJSON(t *testing.T) {
	p := ada()
	if err := p.Validate(); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var back Policy
	if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(p, back) {
		t.Errorf("what comes back is not what was kept: %v", err)
	}
}

// Nothing and everything are two things, also after being kept.
func TestAnEmptyAllowListStaysEmpty(t *testing.T) {
	for _, allowed := range [][]string{nil, {}, {"x.example"}} {
		text, err := json.Marshal(Policy{Allowed: allowed})
		if err != nil {
			t.Fatal(err)
		}
		var back Policy
		if err := json.Unmarshal(text, &back); err != nil || (back.Allowed == nil) != (allowed == nil) || len(back.Allowed) != len(allowed) {
			t.Errorf("%v came back as %v, %v", allowed, back.Allowed, err)
		}
	}
}

// The denials of spec 003, and what best tools add: by the places where the tools keep them.
func TestDefaultsDenyCredentials(t *testing.T) {
	p := ada()
	for what, names := range map[string][]string{
		"SSH keys": {".ssh/id_ed25519", ".ssh/any name"}, "AWS": {".aws/credentials", ".aws/sso/cache/x"}, "gcloud": {".config/gcloud/credentials.db"},
		"GitHub": {".config/gh/hosts.yml", ".config/hub"}, "Docker": {".docker/config.json"}, "Kubernetes": {".kube/config"},
		"npm": {".npmrc"}, "crates": {".cargo/credentials.toml", ".cargo/credentials"}, "1Password": {".config/op/config", ".1password/agent.sock"},
		"netrc": {".netrc"}, "git": {".git-credentials", ".config/git/credentials", ".cache/git/credential/socket"},
		"GPG": {".gnupg/private-keys-v1.d/x.key", ".gnupg/secring.gpg"}, "Carrel": {".carrel/secrets.json", ".carrel/run/core.sock"},
		"Azure": {".azure/x"}, "browsers": {".mozilla/firefox/x", ".config/google-chrome/x", "Library/Cookies/x"}, "keychain": {"Library/Keychains/x"},
		"histories": {".bash_history", ".zsh_history"}, "PyPI": {".pypirc"}, "agents": {".codex/auth.json", ".claude/.credentials.json", ".mux/x", ".xum/x"},
		"sockets":  {".colima/default/docker.sock", ".docker/run/docker.sock"}, // L129
		"keyrings": {".local/share/keyrings/x"}, "databases": {".pgpass"}, "registries": {".config/containers/auth.json"},
	} {
		for _, name := range names {
			if !covered(p.DenyRead, "/home/ada/"+name) {
				t.Errorf("%s: %s can be read", what, name)
			}
		}
	}
	for _, name := range []string{".gitconfig", ".config/git/config", ".bashrc", ".cargo/config.toml", "go/pkg/mod", ".config/pip/pip.conf", ".m2/settings.xml", ".gnupg/pubring.kbx"} {
		if covered(p.DenyRead, "/home/ada/"+name) {
			t.Errorf("%s is denied; tools need it", name)
		}
	}
	for _, name := range []string{".ssh/config", ".ssh/known_hosts", ".ssh/*.pub"} {
		if !slices.Contains(p.AllowRead, "/home/ada/"+name) {
			t.Errorf("%s: git over SSH needs it", name)
		}
	}
}

func covered(list []string, name string) bool {
	return slices.ContainsFunc(list, func(d string) bool { return Within(name, d) })
}

// The caches of spec 003 on Linux and macOS; no toolchain, no installed tool, no setting is one.
func TestDefaultsLayerDownloadCachesAndNothingElse(t *testing.T) {
	p := ada()
	var paths []string
	for _, c := range p.Caches {
		paths = append(paths, c.Path)
		if c.Mode != CacheOverlay {
			t.Errorf("%s is written directly", c.Path)
		}
	}
	for _, name := range []string{
		".cargo/registry", ".cargo/git", ".npm/_cacache", ".npm/_npx", ".m2/repository", ".gradle/caches", "go/pkg", ".bun/install/cache", ".pnpm-store",
		".cache/pip", ".cache/uv", ".cache/pnpm", ".cache/Yarn", ".cache/deno", ".cache/node-gyp", ".cache/go-build", ".cache/Homebrew", ".cache/ms-playwright",
		"Library/Caches/pip", "Library/Caches/uv", "Library/Caches/Yarn", "Library/Caches/go-build", "Library/Caches/Homebrew", "Library/Caches/ms-playwright",
	} {
		if !slices.Contains(paths, "/home/ada/"+name) {
			t.Errorf("%s is no cache", name)
		}
	}
	for _, name := range []string{".cargo/bin", ".cargo/config.toml", ".rustup", ".pyenv", ".local/bin", ".gradle/wrapper", ".gradle/init.d",
		".gradle/gradle.properties", ".m2/settings.xml", ".local/share/uv/python", ".npmrc", ".cache", "Library/Caches", "go/bin"} {
		if covered(paths, "/home/ada/"+name) {
			t.Errorf("%s is in a cache", name)
		}
	}
}

// The guards of spec 003.
func TestDefaultsGuardWhatRunsLater(t *testing.T) {
	p := ada()
	var names []string
	for _, g := range p.Guards {
		names = append(names, g.Name)
	}
	for _, name := range []string{
		".carrel", ".xum", ".mux", ".claude", ".mcp.json", ".husky", ".githooks", ".vscode", ".idea", ".envrc", ".cursor",
		"/home/ada/.bashrc", "/home/ada/.zshenv", "/home/ada/.bash_login", "/home/ada/.profile", "/home/ada/.cargo/bin", "/home/ada/.cargo/config.toml",
		"/home/ada/.rustup", "/home/ada/.pyenv", "/home/ada/.local/share/uv/python", "/home/ada/.local/bin", "/home/ada/.gradle/wrapper",
		"/home/ada/.gradle/init.d", "/home/ada/.gradle/gradle.properties", "/home/ada/.m2/settings.xml", "/home/ada/.gitconfig", "/home/ada/.config/git",
		"/home/ada/.config/systemd", "/home/ada/.config/autostart", "/home/ada/Library/LaunchAgents",
	} {
		if !slices.Contains(names, name) {
			t.Errorf("%s is not guarded", name)
		}
	}
	if doubled := len(names) - len(slices.Compact(slices.Sorted(slices.Values(names)))); doubled > 0 {
		t.Errorf("%d guards are listed twice", doubled)
	}
}

func TestDefaultsListNothingTwiceAndOnlyCleanPaths(t *testing.T) {
	p := ada()
	for what, list := range map[string][]string{"denied": p.DenyRead, "shown": p.AllowRead, "variables": p.Env} {
		seen := map[string]bool{}
		for _, name := range list {
			if seen[name] {
				t.Errorf("%s: %s is listed twice", what, name)
			}
			seen[name] = true
			if what != "variables" && path.Clean(name) != name {
				t.Errorf("%s: %s is not clean", what, name)
			}
		}
	}
}

func TestValidateExplainsWhatCannotBeMeant(t *testing.T) {
	for want, change := range map[string]func(*Policy){
		"no project is set":                    func(p *Policy) { p.Project = "" },
		"no clean absolute path":               func(p *Policy) { p.Project = "p" },
		`the project can't be "/"`:             func(p *Policy) { p.Project = "/" },
		"no private folder is set":             func(p *Policy) { p.Private = "" },
		"zero byte":                            func(p *Policy) { p.Write = []string{"/a\x00b"} },
		`the writable folder "/" leaves`:       func(p *Policy) { p.Write = []string{"/"} },
		`the denied path "/" leaves`:           func(p *Policy) { p.DenyRead = append(p.DenyRead, "/") },
		"both writable and denied":             func(p *Policy) { p.DenyRead = append(p.DenyRead, p.Project) },
		"lies in the sandbox's private folder": func(p *Policy) { p.Write = []string{p.Private + "/tmp"} },
		"commands can write it":                func(p *Policy) { p.Private = p.Project + "/.private" },
		"is Carrel's own data":                 func(p *Policy) { p.DenyRead, p.Write = nil, []string{p.Root} },
		"none of \"overlay\"":                  func(p *Policy) { p.Caches = []Cache{{Path: "/c", Mode: "copy"}} },
		"holds all of the home folder":         func(p *Policy) { p.Caches = []Cache{{Path: "/home", Mode: CacheOverlay}} },
		"no clean path inside a folder":        func(p *Policy) { p.Guards = []Guard{{Name: "../x"}} },
		"stand in for a missing one":           func(p *Policy) { p.Guards = []Guard{{Name: "x", Hold: true}} },
		"lies in one folder only":              func(p *Policy) { p.Guards = []Guard{{Name: "/x", Deep: true}} },
		"neither a name nor a family":          func(p *Policy) { p.Env = []string{"*"} },
		"none of \"allow\"":                    func(p *Policy) { p.Network = "on" },
		"write a name":                         func(p *Policy) { p.Allowed = []string{"*"} },
		"write a name, \"*.\"":                 func(p *Policy) { p.Denied = []string{"http://x.example/"} },
		"is negative":                          func(p *Policy) { p.Limits.Memory = -1 },
		"syntax error in pattern":              func(p *Policy) { p.AllowRead = []string{"/home/ada/.ssh/[x"} },
	} {
		p := ada()
		change(&p)
		if err := p.Validate(); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "check sandbox policy: ") {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// A project may hold Carrel's data, as home does, since what is denied in it hides the private folder.
func TestHomeCanBeTheProject(t *testing.T) {
	p := ada()
	p.Project = "/home/ada"
	if err := p.Validate(); err != nil {
		t.Error(err)
	}
}

func TestExpandMakesPathsAbsolute(t *testing.T) {
	for name, want := range map[string]string{
		"~": "/home/ada", "~/x/../y": "/home/ada/y", "/a//b/": "/a/b", "sub": "/home/ada/p/sub", "~x": "/home/ada/p/~x", "../q": "/home/ada/q",
	} {
		if got := Expand(name, "/home/ada", "/home/ada/p"); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestMovedCachesFollowTheEnvironment(t *testing.T) {
	got := MovedCaches("/home/ada", []string{"GOCACHE=/big/go", "CARGO_HOME=/big/cargo", "GOPATH=/a:/b", "npm_config_cache=/home/ada", "PIP_CACHE_DIR=rel",
		"GOMODCACHE=/", "GRADLE_USER_HOME=", "UV_CACHE_DIR=/home/ada/.cache/uv"})
	var paths []string
	for _, c := range got {
		paths = append(paths, c.Path)
	}
	slices.Sort(paths)
	if want := []string{"/a/pkg", "/big/cargo/git", "/big/cargo/registry", "/big/go"}; !slices.Equal(paths, want) {
		t.Errorf("%v, want %v", paths, want)
	}
}

// Logins stay denied where a variable puts them elsewhere.
func TestMovedLoginsStayDenied(t *testing.T) {
	p := ada().Moved([]string{"AWS_SHARED_CREDENTIALS_FILE=/srv/aws", "KUBECONFIG=/a/k:/b/k:rel", "CARGO_HOME=/big/cargo", "XDG_CONFIG_HOME=/home/ada/conf",
		"HISTFILE=/home/ada/.bash_history", "NETRC=/", "DOCKER_CONFIG=/home", "GNUPGHOME=/keys", "GOCACHE=/big/go"})
	for _, name := range []string{"/srv/aws", "/a/k", "/b/k", "/big/cargo/credentials.toml", "/home/ada/conf/gh/hosts.yml", "/home/ada/conf/gcloud/x", "/keys/private-keys-v1.d/x", "/home/ada/.config/gh"} {
		if !covered(p.DenyRead, name) {
			t.Errorf("%s can be read", name)
		}
	}
	if err := p.Validate(); err != nil {
		t.Error(err)
	}
	if !slices.ContainsFunc(p.Caches, func(c Cache) bool { return c.Path == "/big/go" }) {
		t.Error("the moved cache is none")
	}
	if n := len(ada().DenyRead); n != len(ada().Moved(nil).DenyRead) {
		t.Error("an empty environment moves nothing")
	}
}

// L61, L76 and every secret of a login: families never pass a name that speaks of one, and no list passes
// a way into the session.
func TestEnvironNeverPassesSecretsOrTheSession(t *testing.T) {
	p := ada()
	p.Env = append(p.Env, "SSH_*", "DBUS_*", "DOCKER_*", "XDG_*", "AWS_*", "LD_*", "TMUX*", "BASH_*")
	for _, name := range []string{"SSH_AUTH_SOCK", "SSH_AGENT_PID", "DBUS_SESSION_BUS_ADDRESS", "DOCKER_HOST", "XDG_RUNTIME_DIR", "AWS_SECRET_ACCESS_KEY",
		"AWS_SESSION_TOKEN", "CARGO_REGISTRY_TOKEN", "UV_PUBLISH_PASSWORD", "NPM_CONFIG__AUTH", "LD_PRELOAD", "TMUX", "BASH_ENV", "POETRY_HTTP_BASIC_X_PASSWORD"} {
		if got := p.Environ([]string{name + "=x"}); len(got) != 0 {
			t.Errorf("%v passed", got)
		}
	}
	p.SSHAgent = true
	if got := p.Environ([]string{"SSH_AUTH_SOCK=/a"}); len(got) != 1 {
		t.Error("the agent was allowed")
	}
}

func TestMovedLoginsOfMoreToolsAreDenied(t *testing.T) {
	p := ada().Moved([]string{"RCLONE_CONFIG=/srv/rclone.conf", "BOTO_CONFIG=/srv/boto", "TF_CLI_CONFIG_FILE=/srv/tf", "POETRY_CONFIG_DIR=/srv/poetry", "CURL_HOME=/srv/curl"})
	for _, want := range []string{"/srv/rclone.conf", "/srv/boto", "/srv/tf", "/srv/poetry/auth.toml", "/srv/curl/.netrc"} {
		if !slices.Contains(p.DenyRead, want) {
			t.Errorf("%s can be read", want)
		}
	}
}
