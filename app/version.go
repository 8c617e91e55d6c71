package app

import "runtime/debug"

// The Makefile sets these with -ldflags -X; nothing else writes them.
var version, commit string

// Version is this build's version, such as 0.1.0, or "dev" for one that the Makefile did not make.
// The core and the window compare it before they talk.
func Version() string {
	if version == "" {
		return "dev"
	}
	return version
}

// Commit is the commit that this build was made from, or "unknown".
func Commit() string {
	if commit != "" {
		return commit
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				return s.Value
			}
		}
	}
	return "unknown"
}
