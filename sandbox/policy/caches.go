package policy

import (
	"path"
	"slices"
	"strings"
)

// caches lists the folders of downloads and build results. Toolchains, installed programs and settings
// are not among them.
func caches(home string) []Cache {
	var list []Cache
	for _, name := range freshCaches() {
		list = append(list, Cache{Path: path.Join(home, name), Mode: CacheOverlay, Fresh: true})
	}
	for _, name := range knownCaches() {
		list = append(list, Cache{Path: path.Join(home, name), Mode: CacheOverlay})
	}
	return list
}

// freshCaches are offered even while they do not exist, so that the first download works.
func freshCaches() []string {
	return []string{
		"go/pkg", ".cache/go-build", ".npm/_cacache", ".npm/_logs", ".cache/pip", ".cache/uv", ".cargo/registry", ".cargo/git",
		".m2/repository", ".cache/yarn", ".local/share/pnpm/store", ".cache/pnpm",
	}
}

// knownCaches count where they exist.
func knownCaches() []string {
	names := []string{
		".npm/_npx", ".gradle/caches", ".gradle/daemon", ".gradle/native", ".gradle/notifications", ".gradle/.tmp",
		".bun/install/cache", ".pnpm-store", ".yarn/berry/cache", ".nuget/packages", ".ivy2/cache", ".sbt/boot",
		".hex/packages", ".conan2/p", ".pub-cache/hosted", ".bundle/cache", ".ccache", ".deno",
		"Library/pnpm/store", "Library/Application Support/deno",
	}
	entries := []string{
		"Homebrew", "Yarn", "deno", "node", "node-gyp", "ms-playwright", "ms-playwright-go", "Cypress", "puppeteer",
		"electron", "electron-builder", "pypoetry", "pipenv", "pdm", "hatch", "mypy", "ruff", "composer", "coursier",
		"golangci-lint", "staticcheck", "gopls", "typescript", "turbo", "ccache", "sccache", "bazel", "bazelisk", "zig",
		"vcpkg", "meson", "NuGet", "esbuild", "JNA", "julia", "R", "rebar3",
	}
	for _, e := range entries {
		names = append(names, ".cache/"+e)
	}
	for _, e := range append(entries, "pip", "uv", "pnpm", "go-build") {
		names = append(names, "Library/Caches/"+e)
	}
	return names
}

// MovedCaches are the caches that an environment (NAME=value) puts elsewhere than Defaults expects.
// Values that name no folder of their own, such as "/" or home itself, are left out.
func MovedCaches(home string, environ []string) []Cache {
	moves := []struct {
		variable string
		entries  []string
	}{
		{"GOMODCACHE", nil}, {"GOCACHE", nil}, {"GOPATH", []string{"pkg"}}, {"CARGO_HOME", []string{"registry", "git"}},
		{"npm_config_cache", nil}, {"NPM_CONFIG_CACHE", nil}, {"PIP_CACHE_DIR", nil}, {"UV_CACHE_DIR", nil},
		{"GRADLE_USER_HOME", []string{"caches", "daemon", "native", "notifications", ".tmp"}}, {"YARN_CACHE_FOLDER", nil},
		{"BUN_INSTALL", []string{"install/cache"}}, {"DENO_DIR", nil}, {"NUGET_PACKAGES", nil}, {"CCACHE_DIR", nil},
		{"SCCACHE_DIR", nil}, {"PLAYWRIGHT_BROWSERS_PATH", nil}, {"COMPOSER_CACHE_DIR", nil}, {"POETRY_CACHE_DIR", nil},
	}
	var list []Cache
	known := map[string]bool{}
	for _, c := range caches(home) {
		known[c.Path] = true
	}
	if moved := lookup(environ, "XDG_CACHE_HOME"); path.IsAbs(moved) && !Within(home, path.Clean(moved)) {
		for _, c := range caches(home) {
			if rest, ok := strings.CutPrefix(c.Path, path.Join(home, ".cache")+"/"); ok {
				list = add(list, known, Cache{Path: path.Join(moved, rest), Mode: CacheOverlay, Fresh: c.Fresh})
			}
		}
	}
	for _, m := range moves {
		value := lookup(environ, m.variable)
		if m.variable == "GOPATH" {
			value, _, _ = strings.Cut(value, ":")
		}
		if !path.IsAbs(value) {
			continue
		}
		entries := m.entries
		if entries == nil {
			entries = []string{"."}
		}
		for _, e := range entries {
			if c := (Cache{Path: path.Join(value, e), Mode: CacheOverlay}); c.Path != "/" && !Within(home, c.Path) {
				list = add(list, known, c)
			}
		}
	}
	return list
}

// add appends a cache that is not known yet.
func add(list []Cache, known map[string]bool, c Cache) []Cache {
	if !known[c.Path] {
		known[c.Path] = true
		list = append(list, c)
	}
	return list
}

// lookup finds a variable; the last one counts.
func lookup(environ []string, name string) string {
	for _, v := range slices.Backward(environ) {
		if n, value, ok := strings.Cut(v, "="); ok && n == name {
			return value
		}
	}
	return ""
}

// Within reports whether a clean absolute path is dir or lies in it.
func Within(name, dir string) bool {
	return name == dir || dir == "/" || strings.HasPrefix(name, dir) && len(name) > len(dir) && name[len(dir)] == '/'
}
