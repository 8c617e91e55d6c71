package policy

import (
	"net"
	"net/url"
	"path"
	"slices"
	"strings"
)

// Registries are the patterns of the hosts that packages come from, for a policy that names none of its
// own. A name and its end stand apart, since which registry a machine uses is its own business: a source
// that names one breaks behind a mirror.
func Registries() []string {
	table := []struct{ name, end string }{
		{"github", "com"}, {"*.github", "com"}, {"*.githubusercontent", "com"},
		{"*.npmjs", "org"}, {"*.yarnpkg", "com"},
		{"pypi", "org"}, {"*.pypi", "org"}, {"*.pythonhosted", "org"},
		{"crates", "io"}, {"*.crates", "io"},
		{"golang", "org"}, {"*.golang", "org"},
		{"*.maven", "org"}, {"*.maven.apache", "org"},
		{"rubygems", "org"}, {"*.rubygems", "org"},
	}
	list := make([]string, len(table))
	for i, host := range table {
		list[i] = host.name + "." + host.end
	}
	return list
}

// AllowedHosts are the patterns that hold in allowlist mode: the policy's own, or where it has none the
// registries and those that the machine is configured for.
func (p Policy) AllowedHosts(configured []string) []string {
	if p.Allowed != nil {
		return p.Allowed
	}
	return slices.Concat(Registries(), configured)
}

// source is a file that tells where packages come from.
type source struct {
	path string
	// key reports a name whose values count. Everything else in the file, proxies above all, does not.
	key func(string) bool
}

// Configured are the hosts that the machine's package managers are told to use, lower case and sorted,
// from an environment (NAME=value) and the person's and the system's files. Nothing inside a project
// counts, since commands write there. read returns a whole file; one that it refuses is skipped.
func Configured(home string, environ []string, read func(name string) ([]byte, error)) []string {
	var values []string
	for _, v := range environ {
		if name, value, ok := strings.Cut(v, "="); ok && registryVariable(name) {
			values = append(values, value)
		}
	}
	for _, s := range sources(home, environ) {
		if text, err := read(s.path); err == nil {
			values = append(values, settings(string(text), s.key)...)
		}
	}
	var hosts []string
	for _, v := range values {
		hosts = append(hosts, hostsIn(v)...)
	}
	slices.Sort(hosts)
	return slices.Compact(hosts)
}

// registryVariable reports a variable that names registries.
func registryVariable(name string) bool {
	switch strings.ToUpper(name) {
	case "GOPROXY", "GOSUMDB", "NPM_CONFIG_REGISTRY", "YARN_NPM_REGISTRY_SERVER", "YARN_REGISTRY", "BUN_CONFIG_REGISTRY",
		"PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "UV_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX", "UV_EXTRA_INDEX_URL",
		"RUBYGEMS_HOST", "HOMEBREW_BOTTLE_DOMAIN", "HOMEBREW_API_DOMAIN", "RUSTUP_DIST_SERVER", "RUSTUP_UPDATE_ROOT":
		return true
	}
	return strings.HasPrefix(name, "CARGO_REGISTRIES_") && strings.HasSuffix(name, "_INDEX")
}

// sources are the files.
func sources(home string, environ []string) []source {
	has := func(parts ...string) func(string) bool {
		return func(key string) bool {
			return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(key, p) })
		}
	}
	var list []source
	add := func(key func(string) bool, names ...string) {
		for _, name := range names {
			if path.IsAbs(name) {
				list = append(list, source{name, key})
			}
		}
	}
	add(has("goproxy", "gosumdb"), append(below(home, ".config/go/env", "Library/Application Support/go/env"),
		lookup(environ, "GOENV"), path.Join(lookup(environ, "GOROOT"), "go.env"), "/usr/local/go/go.env", "/usr/lib/go/go.env")...)
	add(has("registry"), append(below(home, ".npmrc", ".config/pnpm/rc", ".yarnrc", ".yarnrc.yml", ".bunfig.toml"),
		lookup(environ, "NPM_CONFIG_USERCONFIG"), lookup(environ, "npm_config_userconfig"), "/etc/npmrc", "/usr/etc/npmrc", "/usr/local/etc/npmrc")...)
	add(has("index", "find-links"), append(below(home, ".config/pip/pip.conf", ".pip/pip.conf", "Library/Application Support/pip/pip.conf"),
		lookup(environ, "PIP_CONFIG_FILE"), "/etc/pip.conf", "/etc/xdg/pip/pip.conf")...)
	add(has("index", "url"), append(below(home, ".config/uv/uv.toml"), "/etc/uv/uv.toml")...)
	add(has("registry", "index"), append(below(home, ".cargo/config.toml", ".cargo/config"),
		path.Join(lookup(environ, "CARGO_HOME"), "config.toml"))...)
	add(has("<url"), append(below(home, ".m2/settings.xml"), "/etc/maven/settings.xml", "/usr/share/maven/conf/settings.xml")...)
	add(has("source", "mirror"), below(home, ".gemrc", ".bundle/config", ".config/gem/gemrc")...)
	add(has("url", "maven"), below(home, ".gradle/init.gradle", ".gradle/init.gradle.kts")...)
	return list
}

// maxValues bounds what one file can add.
const maxValues = 200

// settings finds the values of the keys that count: KEY = value, KEY: value, KEY "value", <key>value, and
// indented lines that go on with the value of the line before, as in lists.
func settings(text string, counts func(string) bool) []string {
	var list []string
	going := false
	for line := range strings.Lines(text) {
		plain := strings.TrimSpace(line)
		if plain == "" || plain[0] == '#' || plain[0] == ';' || strings.HasPrefix(plain, "//") && !strings.Contains(plain, "=") {
			continue
		}
		switch key := keyOf(plain); {
		case key != "":
			going = counts(key)
		case line[0] != ' ' && line[0] != '\t' && line[0] != '-':
			going = false
		}
		if going && len(list) < maxValues {
			list = append(list, plain)
		}
	}
	return list
}

// keyOf is what stands before the address of a line, or before the sign after its first word; lower case.
// A line that goes on with a list has none.
func keyOf(line string) string {
	line = strings.ToLower(line)
	if at := strings.Index(line, "http"); at >= 0 {
		return strings.Trim(line[:at], " \t\"'-=:>,|")
	}
	word := strings.TrimLeft(line, ":- ")
	if cut := strings.IndexAny(word, "=: \t>"); cut >= 0 {
		return word[:cut]
	}
	return ""
}

// hostsIn finds the hosts of the web addresses in a value; the names and passwords in them are dropped.
func hostsIn(value string) []string {
	var hosts []string
	for _, field := range strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(" \t,|\"'<>()[]", r) }) {
		at := strings.Index(strings.ToLower(field), "http")
		if at < 0 {
			continue
		}
		u, err := url.Parse(field[at:])
		if err != nil || u.Scheme != "http" && u.Scheme != "https" {
			continue
		}
		host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
		if host == "" || strings.ContainsAny(host, "*/@ %") {
			continue
		}
		if port := u.Port(); port != "" && port != "80" && port != "443" { // an entry without one covers these two
			host = net.JoinHostPort(host, port)
		}
		hosts = append(hosts, host)
	}
	return hosts
}
