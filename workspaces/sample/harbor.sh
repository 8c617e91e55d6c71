#!/bin/sh
# harbor.sh NAME LENGTH says which berth a ship of LENGTH metres gets.
set -eu

name=$1
length=$2

if [ "$length" -le 40 ]; then
	berth=north
elif [ "$length" -le 150 ]; then
	berth=east
else
	berth=roads
fi

echo "$name: $berth"
