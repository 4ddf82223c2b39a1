#!/usr/bin/env bash
# Ends the cluster that up.sh started in FOLDER, and removes the folder. Its addresses and rules go with its network.
#
#   down.sh FOLDER
set -euo pipefail
folder=$(realpath -m "$1")

born() { awk '$3 != "Z" { print $22 }' "/proc/$1/stat" 2>/dev/null; }
for file in "$folder"/run/*.pid; do
  [ -e "$file" ] || continue
  read -r pid at <"$file"
  # another process may have that number by now; each leads a group of its own, or is the first of a node
  if [ "$(born "$pid")" = "$at" ]; then kill -KILL -- "-$pid" 2>/dev/null || kill -KILL "$pid" 2>/dev/null || true; fi
done
sleep 1
find /sys/fs/cgroup -depth -type d -path "*/$(basename "$folder")*" -exec rmdir {} + 2>/dev/null || true
rmdir /var/lib/cni /var/lib/kubelet /var/log/containers /var/log/pods 2>/dev/null || true
# what a killed node had mounted is gone with it; a moment later nothing writes there any more
for _ in 1 2 3 4 5; do rm -rf "$folder" 2>/dev/null && exit 0; sleep 1; done
rm -rf "$folder"
