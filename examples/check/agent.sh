#!/bin/sh
# Stands for the agent: reads the wake on its standard input, does its work and saves the hash last.
# With a model: -- claude -p, and the same three steps in the schedule's prompt.
set -eu

hash=$(sed -n 's/^picks changed: \([0-9a-f]\{64\}\)$/\1/p' | head -n 1)
[ -n "$hash" ] || exit 0

echo "New picks:"
rouse doc get "${PICKS_DOCUMENT:-picks/today.md}"

mkdir -p state
echo "$hash" > state/picks
