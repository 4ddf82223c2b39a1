#!/usr/bin/env bash
# Starts a Kubernetes cluster, or what of it does not run, in this network: a namespace of its own, whose loopback is up.
#
#   up.sh FOLDER NODE...    all that it keeps is in FOLDER; FOLDER/kubeconfig is its administrator's
#
# FOLDER/run/NAME.pid is the process of that name, FOLDER/logs/NAME.log what it said. The process called like a node
# holds the node: who kills it with -9 kills its kubelet, its containerd and all its containers.
set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin

bin=/var/cache/troupe-kubernetes
folder=$(realpath -m "$1")
shift
here=$(dirname "$(realpath "$0")")
# nobody else is in this network, so the addresses can be fixed
net=10.90
server=$net.0.1
group=$(basename "$folder")
mkdir -p "$folder"/{keys,logs,nodes,run,volumes}
cd "$folder/keys"

fail() {
  echo "up.sh: $*" >&2
  exit 1
}

# --- processes

born() { awk '$3 != "Z" { print $22 }' "/proc/$1/stat" 2>/dev/null; }
runs() {
  local pid at
  read -r pid at 2>/dev/null <"$folder/run/$1.pid" && [ "$(born "$pid")" = "$at" ]
}
keep() { echo "$2 $(born "$2")" >"$folder/run/$1.pid"; }
# begin NAME COMMAND...
begin() {
  local name=$1
  shift
  if runs "$name"; then return; fi
  setsid "$@" >>"$folder/logs/$name.log" 2>&1 </dev/null &
  keep "$name" $!
}
# begin_inner NAME COMMAND...: of a command that has another one do the work, that one is kept
begin_inner() {
  local name=$1 outer inner=''
  shift
  if runs "$name"; then return; fi
  setsid "$@" >>"$folder/logs/$name.log" 2>&1 </dev/null &
  outer=$!
  while [ -z "$inner" ]; do
    [ -e "/proc/$outer" ] || fail "$name ended: $(tail -n 3 "$folder/logs/$name.log")"
    inner=$(cut -d ' ' -f 1 "/proc/$outer/task/$outer/children")
    sleep 0.05
  done
  keep "$name" "$inner"
}
# wait_for SECONDS COMMAND...
wait_for() {
  local until=$((SECONDS + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    [ $SECONDS -lt $until ] || fail "gave up waiting for: $*"
    sleep 0.2
  done
}
kube() { kubectl --kubeconfig "$folder/kubeconfig" "$@"; }

# --- keys: two authorities, a certificate for each process, a kubeconfig for those who call the API

cat >openssl.cnf <<'END'
[req]
distinguished_name = empty
[empty]
[authority]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign, digitalSignature
subjectKeyIdentifier = hash
[other]
basicConstraints = critical, CA:FALSE
extendedKeyUsage = serverAuth, clientAuth
subjectAltName = ${ENV::names}
END
# key NAME SUBJECT [AUTHORITY [NAMES]]
key() {
  local signed=(-extensions authority)
  if [ -e "$1.crt" ]; then return; fi
  if [ $# -gt 2 ]; then signed=(-extensions other -CA "$3.crt" -CAkey "$3.key"); fi
  names=${4:-DNS:nobody} openssl req -x509 -config openssl.cnf -nodes -days 30 -subj "$2" -newkey ec \
    -pkeyopt ec_paramgen_curve:P-256 -keyout "$1.key" -out "$1.crt" "${signed[@]}" 2>/dev/null
}
# access FILE NAME: a kubeconfig of who has that key
access() {
  if [ -e "$1" ]; then return; fi
  (umask 077 && cat >"$1") <<END
apiVersion: v1
kind: Config
clusters: [{name: troupe, cluster: {server: "https://$server:6443", certificate-authority-data: $(base64 -w 0 ca.crt)}}]
users: [{name: me, user: {client-certificate-data: $(base64 -w 0 "$2.crt"), client-key-data: $(base64 -w 0 "$2.key")}}]
contexts: [{name: troupe, context: {cluster: troupe, user: me}}]
current-context: troupe
END
}
key ca /CN=cluster
key etcd-ca /CN=store
key etcd /CN=etcd etcd-ca "IP:$server"
key kube-apiserver /CN=kube-apiserver ca "IP:$server,IP:$net.8.1,DNS:kubernetes.default.svc"
key admin /O=system:masters/CN=admin ca
access "$folder/kubeconfig" admin
for name in kube-controller-manager kube-scheduler kube-proxy; do
  key $name /CN=system:$name ca
  access $name.yaml $name
done
[ -e accounts.key ] || openssl ecparam -name prime256v1 -genkey -noout -out accounts.key

# --- the control plane

echo 1 >/proc/sys/net/ipv4/ip_forward
ip address replace $server/32 dev lo
# services, for those who ask from the machine itself
ip route replace $net.8.0/21 dev lo src $server
begin etcd etcd --name troupe --data-dir "$folder/etcd" --unsafe-no-fsync \
  --listen-client-urls https://$server:2379 --advertise-client-urls https://$server:2379 \
  --listen-peer-urls http://$server:2380 --initial-advertise-peer-urls http://$server:2380 \
  --initial-cluster troupe=http://$server:2380 \
  --client-cert-auth --trusted-ca-file etcd-ca.crt --cert-file etcd.crt --key-file etcd.key
begin kube-apiserver $bin/kube-apiserver --bind-address $server --advertise-address $server \
  --etcd-servers https://$server:2379 --etcd-cafile etcd-ca.crt --etcd-certfile etcd.crt --etcd-keyfile etcd.key \
  --tls-cert-file kube-apiserver.crt --tls-private-key-file kube-apiserver.key --client-ca-file ca.crt \
  --anonymous-auth=false --authorization-mode Node,RBAC --enable-admission-plugins NodeRestriction \
  --kubelet-client-certificate admin.crt --kubelet-client-key admin.key --kubelet-certificate-authority ca.crt \
  --kubelet-preferred-address-types InternalIP --service-cluster-ip-range $net.8.0/21 --allow-privileged \
  --service-account-issuer https://kubernetes.default.svc --service-account-key-file accounts.key \
  --service-account-signing-key-file accounts.key --feature-gates BoundServiceAccountTokenVolume=true
wait_for 300 kube get --raw /readyz
# a machine that says nothing for 30 seconds counts as gone; Kubernetes itself waits for 40
begin kube-controller-manager $bin/kube-controller-manager --kubeconfig kube-controller-manager.yaml \
  --bind-address $server --port 0 --cert-dir "$folder/run" --leader-elect=false --use-service-account-credentials \
  --service-account-private-key-file accounts.key --root-ca-file ca.crt --controllers '*' \
  --feature-gates BoundServiceAccountTokenVolume=true --node-monitor-grace-period 30s
begin kube-scheduler $bin/kube-scheduler --kubeconfig kube-scheduler.yaml \
  --bind-address $server --port 0 --cert-dir "$folder/run" --leader-elect=false
begin kube-proxy $bin/kube-proxy --kubeconfig kube-proxy.yaml --bind-address $server --cluster-cidr $net.0.0/16 \
  --healthz-bind-address $server:10256 --metrics-bind-address $server:10249 --oom-score-adj 0 \
  --conntrack-max-per-core 0 --conntrack-tcp-timeout-established 0 --conntrack-tcp-timeout-close-wait 0
begin volumes "$here/volumes.sh" "$folder"

# --- nodes: each with its own mounts and process ids, a containerd and a kubelet

# What a node writes in places of the machine goes into its folder; settings of the kernel that a kubelet insists on
# are shown to it as it wants them, and stay as they are.
# shellcheck disable=SC2016 # for the shell inside
inside='
set -e
mount --make-rshared /
mount -t proc proc /proc
mount -t tmpfs tmpfs /run
for place in /var/lib/cni /var/lib/kubelet /var/log/containers /var/log/pods; do
  mkdir -p $place "$1$place"
  mount --bind "$1$place" $place
done
for setting in vm/overcommit_memory=1 vm/panic_on_oom=0 kernel/panic=10 kernel/panic_on_oops=1 \
  kernel/keys/root_maxkeys=1000000 kernel/keys/root_maxbytes=25000000; do
  shown=/run/$(echo ${setting%=*} | tr / .)
  echo ${setting#*=} >$shown
  mount --bind $shown /proc/sys/${setting%=*}
done
exec "$2"'

# Where its containers are counted, in either version of control groups.
make_groups() {
  local root=/sys/fs/cgroup controllers
  if [ -e $root/cgroup.controllers ]; then
    mkdir -p "$root/$group/$1"
    for controllers in "$root" "$root/$group"; do
      sed 's/[^ ]*/+&/g' "$controllers/cgroup.controllers" >"$controllers/cgroup.subtree_control"
    done
  else
    for controllers in "$root"/*/; do mkdir -p "$controllers$group/$1" 2>/dev/null || true; done
  fi
}

start_node() {
  local node=$1 number=${1##*-} own=$folder/nodes/$1 address snapshots=overlayfs pid
  address=$net.0.$((10 + number))
  mkdir -p "$own/cni"
  ip address replace "$address/32" dev lo
  key "$node" "/O=system:nodes/CN=system:node:$node" ca "IP:$address"
  access "$node.yaml" "$node"
  # an overlay cannot lie on another one
  if [ "$(stat -f -c %T "$folder")" = overlayfs ]; then snapshots=native; fi
  make_groups "$node"
  cat >"$own/containerd.toml" <<END
version = 2
root = "$own/containerd"
state = "/run/containerd"
[grpc]
address = "$own/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "troupe.local/pause:1"
restrict_oom_score_adj = true
[plugins."io.containerd.grpc.v1.cri".containerd]
snapshotter = "$snapshots"
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "/usr/lib/cni"
conf_dir = "$own/cni"
END
  cat >"$own/cni/pods.conflist" <<END
{"cniVersion": "0.4.0", "name": "pods", "plugins": [{"type": "bridge", "bridge": "pods-$number", "isGateway": true,
  "hairpinMode": true, "ipam": {"type": "host-local", "dataDir": "/run/addresses",
  "routes": [{"dst": "0.0.0.0/0"}], "ranges": [[{"subnet": "$net.$((100 + number)).0/24"}]]}}]}
END
  cat >"$own/kubelet.yaml" <<END
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: $address
healthzBindAddress: $address
authentication: {anonymous: {enabled: false}, webhook: {enabled: true}, x509: {clientCAFile: $folder/keys/ca.crt}}
authorization: {mode: Webhook}
tlsCertFile: $folder/keys/$node.crt
tlsPrivateKeyFile: $folder/keys/$node.key
cgroupDriver: cgroupfs
cgroupRoot: /$group/$node
failSwapOn: false
oomScoreAdj: 0
volumePluginDir: $own/plugins
imageGCHighThresholdPercent: 100
evictionHard: {memory.available: 100Mi, nodefs.available: 500Mi, imagefs.available: 500Mi}
END
  begin_inner "$node" unshare --mount --propagation slave --pid --fork --kill-child -- sh -c "$inside" sh "$own" $bin/pause
  read -r pid _ <"$folder/run/$node.pid"
  wait_for 20 test "/proc/$pid/exe" -ef $bin/pause
  begin_inner "$node-containerd" nsenter --target "$pid" --mount --pid -- containerd --config "$own/containerd.toml"
  wait_for 60 ctr --address "$own/containerd.sock" --namespace k8s.io images import $bin/pause.tar
  # a group of its own, so that rules of the firewall can name it
  begin_inner "$node-kubelet" nsenter --target "$pid" --mount --pid -- setpriv --regid "900$number" --clear-groups \
    $bin/kubelet --config "$own/kubelet.yaml" \
    --kubeconfig "$folder/keys/$node.yaml" --hostname-override "$node" --node-ip "$address" \
    --container-runtime remote --container-runtime-endpoint "unix://$own/containerd.sock"
}

for node in "$@"; do start_node "$node"; done
for node in "$@"; do
  wait_for 300 kube get --raw "/api/v1/nodes/$node/proxy/healthz"
  kube wait --for condition=Ready --timeout 120s "node/$node" >/dev/null
done
wait_for 60 kube get serviceaccount default
