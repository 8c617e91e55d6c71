#!/bin/sh
# Runs a command on a display of its own, with a window manager and a D-Bus session, all of which
# end with it. On macOS the command uses the display that is there.
set -eu
if [ "$(uname -s)" = Darwin ]; then
	exec "$@"
fi
# shellcheck disable=SC2016 # the inner shell expands these
exec xvfb-run -a -s '-screen 0 1440x900x24 -nolisten tcp' dbus-run-session -- sh -c '
	openbox >/dev/null 2>&1 &
	manager=$!
	status=0
	"$@" || status=$?
	kill "$manager" 2>/dev/null || true
	exit "$status"' display "$@"
