package attack

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// buildHome makes the user's home and projects, and a copy that each run starts from.
func buildHome() error {
	for name, text := range homeFiles() {
		if err := put(filepath.Join(home, name), text); err != nil {
			return err
		}
	}
	if err := os.Chmod(filepath.Join(home, ".local/bin/tool"), 0o755); err != nil {
		return err
	}
	if err := chownAll(home); err != nil {
		return err
	}
	script := `set -e
git init -q -b main ` + project + `; cd ` + project + `
mkdir -p .git/hooks .vscode vendor src .git/modules/sm
echo '{"version": "2.0.0"}' > .vscode/tasks.json
printf 'package a\n' > src/a.go; printf 'all:\n\ttrue\n' > Makefile
git add -A; git commit -q -m first
git init -q -b main vendor/sub; mkdir -p vendor/sub/.git/hooks
echo sub > vendor/sub/file; git -C vendor/sub add file; git -C vendor/sub commit -q -m sub
echo 'ref: refs/heads/main' > .git/modules/sm/HEAD; printf '[core]\n\tbare = false\n' > .git/modules/sm/config
mkdir -p .git/modules/sm/objects .git/modules/sm/refs
git worktree add -q -b wt ` + worktree + `
`
	if out, err := asUser("bash", "-c", script).CombinedOutput(); err != nil {
		return fmt.Errorf("make the projects: %w: %s", err, out)
	}
	return os.CopyFS(template, os.DirFS(home))
}

// homeFiles are the files of the home. Whatever must not be read has SECRET in it.
func homeFiles() map[string]string {
	const key = "-----BEGIN OPENSSH PRIVATE KEY-----\nSECRET-KEY\n-----END OPENSSH PRIVATE KEY-----\n"
	return map[string]string{
		".bashrc": "# mine\n", ".profile": "# mine\n", ".config/fish/config.fish": "# mine\n",
		".gitconfig":      "[user]\n\tname = User\n\temail = user@example.org\n[init]\n\tdefaultBranch = main\n",
		".ssh/id_ed25519": key, ".ssh/config": "Host *\n", ".ssh/known_hosts": "",
		".aws/credentials": "[default]\naws_secret_access_key = SECRET-AWS\n", ".netrc": "machine x login y password SECRET-NETRC\n",
		".config/agentapp/token": "SECRET-TOKEN\n", ".config/gh/hosts.yml": "oauth_token: SECRET-GH\n",
		".config/gcloud/credentials.db": "SECRET-GCLOUD\n", ".docker/config.json": `{"auths":{"x":{"auth":"SECRET-DOCKER"}}}`,
		".kube/config": "token: SECRET-KUBE\n", ".npmrc": "//registry.test/:_authToken=SECRET-NPM\n",
		".cargo/credentials.toml": "token = \"SECRET-CARGO\"\n", ".cargo/bin/cargo-tool": "#!/bin/sh\n", ".cargo/config.toml": "# mine\n",
		".gnupg/private-keys-v1.d/a.key": "SECRET-GPG\n", ".git-credentials": "https://u:SECRET-GIT@x.test\n",
		".config/git/credentials": "https://u:SECRET-XDGGIT@x.test\n", ".config/op/config": "SECRET-OP\n", ".pypirc": "password = SECRET-PYPI\n",
		".local/bin/tool": "#!/bin/sh\necho tool\n", ".config/autostart/x.desktop": "[Desktop Entry]\n", ".config/systemd/user/x.service": "[Unit]\n",
		"go/pkg/mod/example.org/x@v1.0.0/x.go": "package x\n", ".cache/pip/http/x": "cached\n", ".npm/_cacache/index": "cached\n",
		".colima/default/readme": "", ".crontab": "", "notes.txt": "mine\n",
		"code/outside/victim.txt": "victim\n", "code/outside/sub/file": "file\n", "code/other/.git/HEAD": "ref: refs/heads/main\n",
		".claude/settings.json": "{}\n", ".mozilla/firefox/x/logins.json": "SECRET-LOGINS\n", ".bash_history": "export T=SECRET-HISTORY\n",
	}
}

func put(file, text string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if strings.Contains(text, "SECRET") {
		mode = 0o600
	}
	return os.WriteFile(file, []byte(text), mode)
}

func chownAll(dir string) error {
	return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, uid, uid))
	})
}

// reset gives the home, /tmp and the logs back their first state.
func (m *machine) reset() error {
	entries, err := os.ReadDir(home)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(home, e.Name())); err != nil {
			return err
		}
	}
	if err := os.CopyFS(home, os.DirFS(template)); err != nil {
		return err
	}
	// CopyFS keeps no owner and no mode but for execution.
	err = filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		was, err := os.Lstat(template + strings.TrimPrefix(path, home))
		if err != nil {
			return err
		}
		return errors.Join(os.Lchown(path, uid, uid), os.Chmod(path, was.Mode().Perm()))
	})
	if err != nil {
		return err
	}
	if err := listenUnix(home + "/.colima/default/docker.sock"); err != nil {
		return err
	}
	return m.services.resetTmp()
}

// user is who everything under attack runs as.
func user() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
}

func asUser(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.SysProcAttr = user()
	cmd.Env = environment()
	cmd.Dir = home
	return cmd
}

// environment is what the application under test is started with: a person's, secrets included.
func environment() []string {
	return []string{
		"HOME=" + home, "PATH=" + rigBin + ":" + home + "/.local/bin:/usr/local/go/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
		"LANG=C.UTF-8", "GOCACHE=" + goCache, "TERM=xterm", "USER=user", "LOGNAME=user", "SHELL=/bin/bash", "CARREL_ROOT=" + dataRoot, "XDG_RUNTIME_DIR=/run/user/1000",
		"SSH_AUTH_SOCK=/tmp/ssh-agent/agent.1", "DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/1000/bus", "DISPLAY=:0",
		"AWS_SECRET_ACCESS_KEY=SECRET-ENV-AWS", "GITHUB_TOKEN=SECRET-ENV-GITHUB", "ANTHROPIC_API_KEY=SECRET-ENV-MODEL",
		"NPM_TOKEN=SECRET-ENV-NPM", "DATABASE_URL=postgres://u:SECRET-ENV-DB@localhost/x",
	}
}
