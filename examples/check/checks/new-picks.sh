#!/bin/sh
# Wakes the agent only when the picks have changed since it last read them.
# No output and exit 0: nobody is woken. Output: it reaches the agent. Another exit: the check failed.
set -eu

document=${PICKS_DOCUMENT:-picks/today.md}

sha256() {
  if command -v sha256sum > /dev/null; then sha256sum; else shasum -a 256; fi | cut -d ' ' -f 1
}

# Apart from the hash, so that a document that cannot be read is a failure and no change.
picks=$(rouse doc get "$document")
hash=$(printf '%s' "$picks" | sha256)

# Read only: the agent's turn saves the hash when it is through, so that a turn that failed is woken again at the next fire.
saved=$(cat state/picks 2> /dev/null || true)
[ "$hash" = "$saved" ] && exit 0

echo "picks changed: $hash"
