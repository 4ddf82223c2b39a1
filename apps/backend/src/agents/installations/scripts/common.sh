#!/bin/sh
# What both scripts begin with: it is put in where they name it. They have set BACKEND_URL and HOME_DIR, and say with
# undo what to take away when they do not get to their end.

say() { printf 'troupe: %s\n' "$*"; }
fail() { printf 'troupe: %s\n' "$*" >&2; exit 1; }

trap undo EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

command -v curl >/dev/null 2>&1 || fail 'curl is needed: install it, then run this again'

# The key, and whose it is.
KEY="${APP_API_KEY:-}"
if [ -z "$KEY" ]; then
  [ -r /dev/tty ] || fail 'set APP_API_KEY to your API key (dashboard, Settings, Keys)'
  printf 'troupe: your API key: ' >/dev/tty
  stty -echo </dev/tty 2>/dev/null || true
  read -r KEY </dev/tty
  stty echo </dev/tty 2>/dev/null || true
  printf '\n' >/dev/tty
fi
case "$KEY" in
  sk_*) ;;
  *) fail 'that is no API key: it starts with sk_' ;;
esac

# Keys travel in a file, not in the arguments that every user of this machine can read.
umask 077
authorized() { printf 'header = "Authorization: Bearer %s"\n' "$KEY" | curl -fsS -K - "$@"; }
# The value of a string field of a flat JSON object.
field() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }

say "checking the key at $BACKEND_URL"
answer=$(authorized -X POST "$BACKEND_URL/api/validate-key") || fail 'the key was not accepted, or the platform does not answer'
USER_ID=$(printf '%s' "$answer" | field userId)
[ -n "$USER_ID" ] || fail 'the platform did not say whose key it is'
