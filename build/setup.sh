#!/bin/sh
# Installs what building, running or testing Carrel needs and this machine lacks.
#
#   build/setup.sh run    what `make build` and `make run` need
#   build/setup.sh test   that, and what the tests and the benchmark drive
#
# As root it installs Debian and Ubuntu packages; on macOS Homebrew does, as you. Otherwise it
# prints the command for you to type and stops with an error. It never asks for another user's
# rights by itself. When nothing is missing it takes a moment and asks no network.
set -eu
cd "$(dirname "$0")/.."

purpose=${1:-}
case $purpose in
run | test) ;;
*)
	echo "usage: build/setup.sh run|test" >&2
	exit 2
	;;
esac

say() { printf '%s\n' "$*" >&2; }
have() { command -v "$1" >/dev/null 2>&1; }

# a|b means: either will do; the first that the package lists know is installed.
run_packages='gcc libc6-dev pkg-config libgtk-3-dev libwebkit2gtk-4.1-dev'
test_packages='xvfb xauth openbox xdotool xclip imagemagick x11-utils dbus dbus-x11
	chromium|chromium-browser fonts-dejavu-core curl hyperfine
	python3 make strace tmux openssl openssh-client openssh-server bubblewrap'

# The toolchains come from you: which Go and Node a machine has is not ours to change.
toolchains() {
	missing=
	have git || missing="$missing git"
	have go || missing="$missing Go-1.26"
	have node && have npm || missing="$missing Node-20-with-npm"
	if [ -n "$missing" ]; then
		say "Carrel is built with Go 1.26, Node 20 (with npm) and git. Missing here:$missing"
		exit 1
	fi
	node -e 'const [a, b] = process.versions.node.split(".").map(Number);
		process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' || {
		say "Node $(node --version) is too old: the page is built with Node 20.19 or newer."
		exit 1
	}
}

installed() { [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

known() { apt-cache show "$1" >/dev/null 2>&1; }

# satisfied a|b: is one of them here already, as a package or, for a browser, from elsewhere?
satisfied() {
	for name in $(echo "$1" | tr '|' ' '); do
		installed "$name" && return 0
	done
	case $1 in
	chromium*) have chromium ;;
	*) return 1 ;;
	esac
}

# choose a|b: the one to install.
choose() {
	for name in $(echo "$1" | tr '|' ' '); do
		known "$name" && echo "$name" && return
	done
	echo "${1%%|*}"
}

debian() {
	wanted=$run_packages
	[ "$purpose" = test ] && wanted="$wanted $test_packages"
	absent=
	for package in $wanted; do
		satisfied "$package" || absent="$absent $package"
	done
	[ -z "$absent" ] && return
	if [ "$(id -u)" -ne 0 ]; then
		names=
		for package in $absent; do names="$names $(choose "$package")"; done
		say "These packages are missing. Install them as root, then run make again:"
		say ""
		say "    apt-get update && apt-get install -y --no-install-recommends$names"
		exit 1
	fi
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -qq
	names=
	for package in $absent; do names="$names $(choose "$package")"; done
	say "installing$names"
	# shellcheck disable=SC2086 # a list of names
	apt-get install -y -qq --no-install-recommends $names >&2
}

macos() {
	if ! xcode-select -p >/dev/null 2>&1; then
		say "The window needs Apple's command line tools. Run: xcode-select --install"
		exit 1
	fi
	[ "$purpose" = run ] && return
	have hyperfine && have chromium && return
	if ! have brew; then
		say "The tests need hyperfine and chromium; Homebrew installs them. Install Homebrew first."
		exit 1
	fi
	have hyperfine || brew install hyperfine
	have chromium || brew install --cask chromium
}

# The page's packages, again only when the lock file has changed since the last time.
page() {
	[ -f frontend/package-lock.json ] || return 0
	cmp -s frontend/package-lock.json frontend/node_modules/.installed-lock && return
	say "installing the packages of the page"
	(cd frontend && npm ci --no-audit --no-fund)
	cp frontend/package-lock.json frontend/node_modules/.installed-lock
}

toolchains
case $(uname -s) in
Darwin) macos ;;
Linux)
	if have apt-get; then
		debian
	elif [ "$purpose" = test ] || ! pkg-config --exists webkit2gtk-4.1 gtk+-3.0 2>/dev/null; then
		say "This script knows Debian, Ubuntu and macOS. Install with your package manager what"
		say "these Debian packages hold, then go on with make build: $run_packages"
		[ "$purpose" = test ] && say "and for the tests: $test_packages"
		exit 1
	fi
	;;
*)
	say "Carrel runs on Linux and macOS."
	exit 1
	;;
esac
page
