package runtime

import "strings"

// StartedFor gives the workspace for which a command with that environment was started, "" when it is no
// command of a workspace or has dropped the mark.
func StartedFor(environ []string) string { return workspaceOf(lookup(environ, tagVar)) }

// ProcessOf is StartedFor for a running process. It is "" too when the system does not show the process's
// environment.
func ProcessOf(pid int) string { return workspaceOf(tagOf(pid)) }

func workspaceOf(tag string) string {
	workspace, rest, ok := strings.Cut(tag, "/")
	if !ok || rest == "" {
		return ""
	}
	return workspace
}
