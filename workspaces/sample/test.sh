#!/bin/sh
# Runs harbor.sh against what it should say.
set -eu
cd "$(dirname "$0")"

failed=0
check() {
	got=$(sh harbor.sh "$1" "$2")
	[ "$got" = "$3" ] && return
	echo "harbor.sh $1 $2 says \"$got\", not \"$3\"" >&2
	failed=1
}

check Wren 12 "Wren: north"
check Aurora 120 "Aurora: east"
check Titan 290 "Titan: roads"

[ "$failed" = 0 ] && echo "all is well"
exit "$failed"
