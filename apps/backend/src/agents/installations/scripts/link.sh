#!/bin/sh
# Troupe Link: connects an agent runtime that already runs on this machine to the platform.
#
#   curl -fsS @BACKEND_URL@/link | sh
#
# Reads:  APP_API_KEY     your API key (asked for when unset)
#         AGENT_URL       the running agent, http://127.0.0.1:18789 unless set
#         GATEWAY_TOKEN   its gateway token (read from ~/.troupe/token when unset)
#         TROUPE_HOME     where the heartbeat keeps its files, ~/.troupe unless set
# Safe to run again: the registration is renewed and the heartbeat replaced.
set -eu

BACKEND_URL="${TROUPE_BACKEND_URL:-@BACKEND_URL@}"
HOME_DIR="${TROUPE_HOME:-$HOME/.troupe}"
AGENT_URL="${AGENT_URL:-http://127.0.0.1:18789}"

made_home=0
finished=0
undo() {
  [ "$finished" = 1 ] && return 0
  say 'not finished: undoing what was begun'
  if [ "$made_home" = 1 ]; then rm -rf "$HOME_DIR"; fi
  return 0
}

. ./common.sh

say "looking for the agent at $AGENT_URL"
curl -fsS -o /dev/null "$AGENT_URL/health" || fail "no agent answers at $AGENT_URL: start it, or set AGENT_URL"
TOKEN="${GATEWAY_TOKEN:-}"
if [ -z "$TOKEN" ] && [ -r "$HOME_DIR/token" ]; then TOKEN=$(cat "$HOME_DIR/token"); fi
[ -n "$TOKEN" ] || fail 'set GATEWAY_TOKEN to the gateway token of the agent'

if [ ! -d "$HOME_DIR" ]; then
  made_home=1
  mkdir -p "$HOME_DIR"
fi

say 'registering this installation'
authorized -X POST -H 'Content-Type: application/json' \
  -d "{\"userId\":\"$USER_ID\",\"gatewayToken\":\"$TOKEN\"}" "$BACKEND_URL/api/register-link" >/dev/null ||
  fail 'the platform did not take the registration'

# Says every minute that the agent is alive, as long as it is.
printf '%s' "$KEY" >"$HOME_DIR/key"
cat >"$HOME_DIR/heartbeat" <<RUN
#!/bin/sh
set -eu
while curl -fsS -o /dev/null '$AGENT_URL/health'; do
  printf 'header = "Authorization: Bearer %s"\n' "\$(cat '$HOME_DIR/key')" |
    curl -fsS -K - -o /dev/null -X POST -H 'Content-Type: application/json' -d '{}' '$BACKEND_URL/api/heartbeat' || true
  sleep 60
done
RUN
chmod 700 "$HOME_DIR/heartbeat"
if [ -f "$HOME_DIR/heartbeat.pid" ]; then kill "$(cat "$HOME_DIR/heartbeat.pid")" 2>/dev/null || true; fi
nohup "$HOME_DIR/heartbeat" >"$HOME_DIR/heartbeat.log" 2>&1 </dev/null &
echo "$!" >"$HOME_DIR/heartbeat.pid"

finished=1
say 'done: the agent is linked'
say "stop the heartbeat: kill \$(cat $HOME_DIR/heartbeat.pid)"
