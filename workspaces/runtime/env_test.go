package runtime_test

import (
	"slices"
	"strings"
	"testing"

	"carrel/workspaces/runtime"
	"carrel/workspaces/runtime/runtimetest"
)

// O-BASH-07
func TestCommandsInheritNoSecrets(t *testing.T) {
	env := runtime.BaseEnv([]string{
		"PATH=/usr/bin:/bin", "HOME=/home/me", "SSH_AUTH_SOCK=/s", "https_proxy=http://p", "SSL_CERT_FILE=/c", "LC_TIME=de_DE", "GOPATH=/g",
		"ANTHROPIC_API_KEY=leak", "OPENAI_API_KEY=leak", "CARREL_TOKEN=leak", "CARREL_ROOT=leak", "FOO_SECRET=leak", "ANYTHING=leak",
		"AWS_SECRET_ACCESS_KEY=leak", "GH_TOKEN=leak", "UV_PUBLISH_TOKEN=leak", "npm_config__authToken=leak", "PIP_INDEX_URL=leak",
		"BASH_ENV=leak", "GIT_DIR=leak", "CARREL_TAG=leak", "FORCE_COLOR=leak", "SSH_ASKPASS=leak", "LESS=leak", "not a variable",
	})
	out, _ := runtimetest.Sh(t, newLocal(t, runtime.Options{Env: env}), "env")
	if strings.Contains(out, "leak") {
		t.Errorf("leaked: %s", out)
	}
	have := runtimetest.Lines(out)
	for _, want := range []string{
		"PATH=/usr/bin:/bin", "HOME=/home/me", "SSH_AUTH_SOCK=/s", "https_proxy=http://p", "SSL_CERT_FILE=/c", "LC_TIME=de_DE", "GOPATH=/g",
		"PAGER=cat", "GIT_PAGER=cat", "GIT_EDITOR=true", "GIT_TERMINAL_PROMPT=0", "TERM=dumb", "NO_COLOR=1", "LANG=C.UTF-8",
	} {
		if !slices.Contains(have, want) {
			t.Errorf("%s is missing", want)
		}
	}
}
