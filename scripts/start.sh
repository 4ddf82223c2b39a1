#!/bin/sh
# `npm start`: runs the platform, and starts it again when it dies. The database lives on meanwhile. Two shells, because
# they take a megabyte where a Node would take forty: this one watches the platform, the guard outlives it and sees to it
# that nothing is left when it is gone, however it went. See docs/adr/0076.
set -u
cd "$(dirname "$0")/.." || exit 1

CANNOT_START=1
MOST_CRASHES=5 # within
WINDOW_S=60    # and then once in
WAIT_S=30
GRACE_S=12

say() { echo "$*" >&2; }

args_of() {
  if [ -r "/proc/$1/cmdline" ]; then
    tr '\0' ' ' <"/proc/$1/cmdline"
  else
    ps -p "$1" -o args= 2>/dev/null
  fi
}

# runs PID TEXT: whether that process lives and is the one with the text in its command; numbers are used again
runs() {
  [ -n "$1" ] && case "$(args_of "$1")" in *"$2"*) true ;; *) false ;; esac
}

# end SIGNAL PID TEXT: asks a process to end, and waits for it
end() {
  runs "$2" "$3" || return 0
  kill -s "$1" "$2" 2>/dev/null
  tries=$((GRACE_S * 5))
  while runs "$2" "$3" && [ "$tries" -gt 0 ]; do
    sleep 0.2
    tries=$((tries - 1))
  done
}

# Hears the number of each platform; the end of the file is the end of the watcher.
guard() {
  trap '' INT TERM HUP
  platform=
  while read -r line; do platform=$line; done
  end TERM "$platform" "$run/database"
  end KILL "$platform" "$run/database"
  folder=$(cat "$run/database" 2>/dev/null)
  if [ -n "$folder" ]; then
    server=$(head -n 1 "$folder/postmaster.pid" 2>/dev/null)
    end INT "$server" "$folder"
    end QUIT "$server" "$folder"
  fi
  rm -rf "$run"
}

run=
child=
ending=
stop() {
  ending=1
  if [ -n "$child" ]; then kill -s TERM "$child" 2>/dev/null; fi
}

# Runs a command to its end, which a signal to us only asks for; its exit code is in $code.
attend() {
  "$@" 3>&- &
  child=$!
  if [ -n "$run" ]; then echo "$child" 2>/dev/null >&3; fi
  if [ -n "$ending" ]; then stop; fi
  while :; do
    wait "$child"
    code=$?
    # a signal ended the waiting, not the command
    if [ "$code" -le 128 ] || ! kill -s 0 "$child" 2>/dev/null; then break; fi
  done
}

leave() {
  exec 3>&-
  wait "$guard"
  exit "$1"
}

trap stop INT TERM HUP
# a guard that is gone must not take us along
trap '' PIPE

PATH=$PWD/node_modules/.bin:$PATH
# One heap of the C library for all threads, trimmed as it empties: a third less memory under load. See docs/adr/0121.
MALLOC_ARENA_MAX=${MALLOC_ARENA_MAX:-1}
MALLOC_TRIM_THRESHOLD_=${MALLOC_TRIM_THRESHOLD_:-131072}
export PATH MALLOC_ARENA_MAX MALLOC_TRIM_THRESHOLD_

run=$(mktemp -d "${TMPDIR:-/tmp}/troupe.XXXXXX") || exit 1
mkfifo "$run/alive" || exit 1
guard <"$run/alive" &
guard=$!
# held by nobody but us: with our last breath it closes
exec 3>"$run/alive"

first=1
crashes=0
window=0
while :; do
  attend node scripts/start.mjs platform --watched "$run/database"
  if [ -n "$ending" ] || [ "$code" -eq 0 ]; then leave "$code"; fi
  # what has never run would not run the next time either
  if [ -n "$first" ] && [ "$code" -eq "$CANNOT_START" ]; then leave "$code"; fi
  first=
  now=$(date +%s)
  if [ $((now - window)) -gt "$WINDOW_S" ]; then
    window=$now
    crashes=0
  fi
  crashes=$((crashes + 1))
  if [ "$crashes" -ge "$MOST_CRASHES" ]; then
    say "Troupe ended $crashes times within a minute (now with $code): starting it again in $WAIT_S s."
    attend sleep "$WAIT_S"
    if [ -n "$ending" ]; then leave 1; fi
  else
    say "Troupe ended (with $code): starting it again."
  fi
done
