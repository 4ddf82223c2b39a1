#!/usr/bin/env bash
# Makes the programs of a Kubernetes cluster from Debian's packages: its source package of Kubernetes is compiled, the
# rest is installed. It takes some minutes once, and nothing when all of it is there.
#
#   build.sh [FOLDER]    /var/cache/troupe-kubernetes unless said
set -euo pipefail
export LC_ALL=C DEBIAN_FRONTEND=noninteractive
PATH=$PATH:/usr/sbin:/sbin

made=$(realpath -m "${1:-/var/cache/troupe-kubernetes}")
mkdir -p "$made"
# two at once would do the same work twice
exec 9>"$made/lock"
flock 9

# lacking COMMAND:PACKAGE...: the packages whose commands are not here
lacking() {
  local pair
  for pair in "$@"; do command -v "${pair%%:*}" >/dev/null || echo "${pair#*:}"; done
}

# Packages must not start servers of their own; who forbade that before us keeps the say.
fetch_packages() {
  local policy=/usr/sbin/policy-rc.d own='' code=0
  [ $# -gt 0 ] || return 0
  if [ ! -e $policy ]; then
    printf '#!/bin/sh\nexit 101\n' >$policy
    chmod 755 $policy
    own=yes
  fi
  # another may be installing at the same time; a list that cannot be had shows when a package lacks
  apt-get -qq -o DPkg::Lock::Timeout=600 update || true
  apt-get -qq -o DPkg::Lock::Timeout=600 install -y --no-install-recommends "$@" >/dev/null || code=$?
  [ -z "$own" ] || rm -f $policy
  return $code
}

complete() {
  [ -e "$made/pause.tar" ] && [ -x "$made/pause" ] && "$made/kubelet" --version >/dev/null 2>&1
}

mapfile -t packages < <(lacking etcd:etcd-server kubectl:kubernetes-client containerd:containerd runc:runc \
  /usr/lib/cni/bridge:containernetworking-plugins iptables:iptables conntrack:conntrack ip:iproute2 openssl:openssl)
complete || mapfile -t -O ${#packages[@]} packages < <(lacking go:golang-go)
fetch_packages "${packages[@]}"
if complete; then exit 0; fi

room=$(mktemp -d "$made/making.XXXXXX")
trap 'rm -rf "$room"' EXIT
chmod 755 "$room"
chown _apt "$room" # the user as which apt fetches
cd "$room"

# The mirrors that this machine installs from hold the sources, too: asked with lists of our own, the system's stay.
mkdir -p lists/partial cache/archives/partial
# shellcheck disable=SC2016 # apt's own names
apt-get indextargets 'Created-By: Packages' 'Origin: Debian' \
  --format 'deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(REPO_URI) $(RELEASE) $(COMPONENT)' |
  sort -u >sources
own_apt=(apt-get -qq -o "Dir::Etc::SourceList=$room/sources" -o Dir::Etc::SourceParts=/dev/null
  -o "Dir::State::Lists=$room/lists" -o "Dir::Cache=$room/cache")
"${own_apt[@]}" update
"${own_apt[@]}" source --download-only --tar-only kubernetes >/dev/null
[ -n "$(ls /var/lib/apt/lists/*Packages* 2>/dev/null)" ] || apt-get -qq update
apt-get -qq download golang-github-modern-go-reflect2-dev >/dev/null
dpkg-deb --extract golang-github-modern-go-reflect2-dev_*.deb debian

archive=$(echo kubernetes_*.orig.tar.gz)
release=${archive%.orig.tar.gz}
release=${release##*[_a-z]}
case $release in
  1.20.*) ;;
  *) echo "Debian's Kubernetes is $release, and what is changed in it below fits 1.20" >&2; exit 1 ;;
esac
tree=$room/go/src/k8s.io/kubernetes
mkdir -p "$tree"
tar -xzf "$archive" -C "$tree" --strip-components=1
cd "$tree"

# Its own copy of reflect2 ends the API server under Go 1.18 and later; Debian's does not.
rm -r vendor/github.com/modern-go/reflect2
cp -r "$room/debian/usr/share/gocode/src/github.com/modern-go/reflect2" vendor/github.com/modern-go/
# Later kubelets notice within a moment that a pod has ended; this one would look every ten seconds, or every minute.
sed -i 's/syncPeriod = 10 \* time.Second/syncPeriod = time.Second/' pkg/kubelet/status/status_manager.go
sed -i 's/ContainerGCPeriod = time.Minute/ContainerGCPeriod = 2 * time.Second/' pkg/kubelet/kubelet.go

# Without modules, which would have to be downloaded, and with fewer collections of garbage, which saves minutes.
export GO111MODULE=off GOPATH=$room/go GOCACHE=$room/gocache GOTMPDIR=$room CGO_ENABLED=0 GOFLAGS='' GOGC=400

# The description of the API is the one file that is generated and that the source package leaves out.
go build -o "$room/describe" ./vendor/k8s.io/kube-openapi/cmd/openapi-gen
described=$(grep -rl --include='*.go' '+k8s:openapi-gen=' cmd pkg plugin staging/src/k8s.io |
  grep -vE '_test\.go$|/testdata/|/(sample-apiserver|code-generator)/' | xargs -n 1 dirname | sort -u |
  sed -e 's,^staging/src/,vendor/,' -e 's,^,k8s.io/kubernetes/,' | paste -sd,)
"$room/describe" -i "$described" -O zz_generated.openapi -p k8s.io/kubernetes/pkg/generated/openapi \
  -h vendor/k8s.io/code-generator/hack/boilerplate.go.txt -r "$room/report" >/dev/null

# All five processes are one program that goes by its name: most of their code is the same.
mkdir cmd/troupe "$room/pause"
cat >cmd/troupe/main.go <<'GO'
package main

import (
	"math/rand"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/component-base/cli/flag"
	"k8s.io/component-base/logs"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	manager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

func command(name string) *cobra.Command {
	switch name {
	case "kube-apiserver":
		return apiserver.NewAPIServerCommand()
	case "kube-controller-manager":
		return manager.NewControllerManagerCommand()
	case "kube-proxy":
		return proxy.NewProxyCommand()
	case "kube-scheduler":
		return scheduler.NewSchedulerCommand()
	case "kubelet":
		return kubelet.NewKubeletCommand()
	}
	os.Stderr.WriteString("there is no process " + name + "\n")
	os.Exit(2)
	return nil
}

func main() {
	rand.Seed(time.Now().UnixNano())
	pflag.CommandLine.SetNormalizeFunc(flag.WordSepNormalizeFunc)
	logs.InitLogs()
	defer logs.FlushLogs()
	if command(filepath.Base(os.Args[0])).Execute() != nil {
		os.Exit(1)
	}
}
GO

# What holds a pod's network while its containers come and go, and buries processes that nobody waits for.
cat >"$room/pause/main.go" <<'GO'
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	heard := make(chan os.Signal, 8)
	signal.Notify(heard, syscall.SIGCHLD, syscall.SIGINT, syscall.SIGTERM)
	for (<-heard) == syscall.SIGCHLD {
		for {
			if pid, _ := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); pid <= 0 {
				break
			}
		}
	}
}
GO

# No clouds, no Docker as a runtime: nothing here uses them.
named=''
for package in client-go/pkg/version component-base/version; do
  for pair in gitVersion=v$release gitMajor=1 gitMinor=20; do named+=" -X k8s.io/kubernetes/vendor/k8s.io/$package.$pair"; done
done
go build -trimpath -tags dockerless,providerless -ldflags "-s -w$named" -o "$room/kube" ./cmd/troupe
go build -trimpath -ldflags '-s -w' -o "$room/pause/pause" "$room/pause/main.go"

# Its image: an archive as `docker save` writes it.
mkdir "$room/image" "$room/root"
cp "$room/pause/pause" "$room/root/"
tar -cf "$room/image/layer.tar" --owner 0 --group 0 -C "$room/root" .
printf '{"os":"linux","architecture":"%s","config":{"Cmd":["/pause"]},"rootfs":{"type":"layers","diff_ids":["sha256:%s"]}}' \
  "$(dpkg --print-architecture)" "$(sha256sum "$room/image/layer.tar" | cut -c 1-64)" >"$room/image/config.json"
echo '[{"Config":"config.json","RepoTags":["troupe.local/pause:1"],"Layers":["layer.tar"]}]' >"$room/image/manifest.json"
tar -cf "$made/pause.tar" -C "$room/image" manifest.json config.json layer.tar

install -m 755 "$room/kube" "$room/pause/pause" "$made"
for name in kube-apiserver kube-controller-manager kube-proxy kube-scheduler kubelet; do ln -sf kube "$made/$name"; done
