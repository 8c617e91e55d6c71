package git

import (
	"path/filepath"
	"strings"
)

// Variables of git that say who the user is and how he reaches the network. Every other GIT_* variable
// is dropped: most bind a child to one repository, as hooks export them, and some run programs.
var keptVars = map[string]bool{
	"GIT_AUTHOR_NAME": true, "GIT_AUTHOR_EMAIL": true,
	"GIT_COMMITTER_NAME": true, "GIT_COMMITTER_EMAIL": true,
	"GIT_CONFIG_GLOBAL": true, "GIT_CONFIG_SYSTEM": true, "GIT_CONFIG_NOSYSTEM": true,
	"GIT_EXEC_PATH": true, "GIT_SSH": true, "GIT_SSH_COMMAND": true, "GIT_SSH_VARIANT": true,
	"GIT_SSL_CAINFO": true, "GIT_SSL_CAPATH": true, "GIT_SSL_NO_VERIFY": true, "GIT_SSL_CERT": true, "GIT_SSL_KEY": true,
	"GIT_PROXY_SSL_CAINFO": true, "GIT_HTTP_PROXY_AUTHMETHOD": true, "GIT_ALLOW_PROTOCOL": true,
}

// Variables that are not git's but could open a prompt, a pager or an editor, or translate messages.
var droppedVars = map[string]bool{
	"LC_ALL": true, "LANGUAGE": true, "PAGER": true, "EDITOR": true, "VISUAL": true,
	"SSH_ASKPASS": true, "SSH_ASKPASS_REQUIRE": true, "TERM": true, "LESS": true,
}

// cleanEnv is the environment that every git child gets.
func cleanEnv(environ []string) []string {
	env := make([]string, 0, len(environ)+12)
	ssh := ""
	for _, pair := range environ {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || droppedVars[name] || strings.HasPrefix(name, "GIT_") && !keptVars[name] {
			continue
		}
		switch name {
		case "GIT_SSH_COMMAND":
			ssh = value
			continue
		case "GIT_SSH":
			if ssh == "" {
				ssh = "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
			}
		}
		env = append(env, pair)
	}
	return append(env,
		"LC_ALL=C", "TERM=dumb", "PAGER=cat", "GIT_PAGER=cat",
		"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=", "SSH_ASKPASS_REQUIRE=never",
		"EDITOR=:", "VISUAL=:", "GIT_EDITOR=:", "GIT_SEQUENCE_EDITOR=:", "GIT_MERGE_AUTOEDIT=no",
		"GIT_SSH_COMMAND="+batchSSH(ssh))
}

// batchSSH makes ssh fail instead of asking. Another program than OpenSSH's is left as it is.
func batchSSH(command string) string {
	if command == "" {
		return "ssh -oBatchMode=yes"
	}
	program := strings.Trim(strings.Fields(command + " x")[0], `'"`)
	if filepath.Base(program) != "ssh" {
		return command
	}
	return command + " -oBatchMode=yes"
}

// setEnv replaces or adds one variable, never sharing the given slice's memory.
func setEnv(env []string, pairs ...string) []string {
	out := make([]string, 0, len(env)+len(pairs))
	for _, pair := range env {
		name, _, _ := strings.Cut(pair, "=")
		replaced := false
		for _, p := range pairs {
			replaced = replaced || strings.HasPrefix(p, name+"=")
		}
		if !replaced {
			out = append(out, pair)
		}
	}
	return append(out, pairs...)
}
