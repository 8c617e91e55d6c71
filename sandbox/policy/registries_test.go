package policy

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestConfiguredRegistriesComeFromThePersonsFiles(t *testing.T) {
	files := map[string]string{
		"/home/ada/.npmrc":               "//npm.corp.example/:_authToken=SECRET\nregistry=https://npm.corp.example/api/\n@corp:registry = https://scoped.example\nproxy=http://proxy.example:8080\nhttps-proxy=http://proxy2.example\n",
		"/home/ada/.config/pip/pip.conf": "[global]\nindex-url = https://user:SECRET@pip.example:8443/simple\nextra-index-url =\n    https://one.example/simple\n    https://two.example/simple\nproxy = http://proxy.example\ntrusted-host = x\n",
		"/home/ada/.config/go/env":       "GOPROXY=https://go1.example|https://go2.example/x,direct\nGOSUMDB=sum.example+key https://sum.example\nGOFLAGS=-mod=mod\nHTTPS_PROXY=http://proxy.example\n",
		"/home/ada/.cargo/config.toml":   "[source.mirror]\nregistry = \"sparse+https://cargo.example/index/\"\n[registries.own]\nindex = \"https://own.example/git\"\n[http]\nproxy = \"http://proxy.example\"\n",
		"/home/ada/.m2/settings.xml":     "<settings><mirrors>\n<mirror>\n<url>https://maven.example/repo</url>\n</mirror></mirrors>\n<proxies><proxy><host>proxy.example</host></proxy></proxies></settings>",
		"/home/ada/.gemrc":               "---\n:sources:\n- https://gems.example/\n:update_sources: true\n",
		"/home/ada/.yarnrc.yml":          "npmRegistryServer: \"https://yarn.example\"\nhttpProxy: \"http://proxy.example\"\n",
		"/home/ada/.yarnrc":              "registry \"https://yarn1.example/\"\n",
		"/home/ada/p/.npmrc":             "registry=https://attacker.example\n",
		"/home/ada/.config/uv/uv.toml":   "[[index]]\nurl = \"https://uv.example/simple\"\n",
	}
	got := Configured("/home/ada", []string{"PIP_INDEX_URL=https://env.example/simple", "HTTPS_PROXY=http://proxy.example", "CARGO_REGISTRIES_A_INDEX=sparse+https://a.example/"},
		func(name string) ([]byte, error) {
			if text, ok := files[name]; ok {
				return []byte(text), nil
			}
			return nil, errors.New("absent")
		})
	want := []string{"a.example", "cargo.example", "env.example", "gems.example", "go1.example", "go2.example", "maven.example", "npm.corp.example",
		"one.example", "own.example", "pip.example:8443", "scoped.example", "sum.example", "two.example", "uv.example", "yarn.example", "yarn1.example"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if strings.Contains(strings.Join(got, " "), "SECRET") {
		t.Error("a password came along")
	}
}

func TestAllowedHostsAreTheRegistriesUnlessThePersonNamesSome(t *testing.T) {
	p := Policy{}
	if got := p.AllowedHosts([]string{"npm.corp.example"}); !slices.Contains(got, "npm.corp.example") || !slices.Contains(got, "*.npmjs.org") {
		t.Errorf("defaults: %v", got)
	}
	p.Allowed = []string{}
	if got := p.AllowedHosts([]string{"npm.corp.example"}); len(got) != 0 {
		t.Errorf("an empty list permits nothing, not %v", got)
	}
}

func FuzzConfigured(f *testing.F) {
	f.Add("registry=https://x.example\n", "GOPROXY=https://y.example")
	f.Fuzz(func(t *testing.T, text, variable string) {
		hosts := Configured("/home/ada", []string{variable}, func(string) ([]byte, error) { return []byte(text), nil })
		for _, h := range hosts {
			if h == "" || strings.ContainsAny(h, "*/@ \t\n") || h != strings.ToLower(h) {
				t.Errorf("host %q", h)
			}
		}
	})
}
