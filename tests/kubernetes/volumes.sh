#!/usr/bin/env bash
# Gives every claim of the cluster in FOLDER a folder below FOLDER/volumes, which all its nodes reach, as a disk of a
# cloud can be had by one machine after the other; takes it away with the claim.
#
#   volumes.sh FOLDER
set -euo pipefail
folder=$1
kube() { kubectl --kubeconfig "$folder/kubeconfig" "$@"; }

until kube apply -f - <<'END'; do sleep 1; done
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: folders, annotations: {storageclass.kubernetes.io/is-default-class: "true"}}
provisioner: troupe.local/folders
volumeBindingMode: WaitForFirstConsumer
END

# follow KIND FIELDS: a line for each, and another whenever it changes; begun again when the API server was away
follow() {
  while :; do
    kube get "$1" --all-namespaces --watch -o "jsonpath=$2{\"\n\"}" || true
    sleep 1
  done
}

give() {
  follow persistentvolumeclaims '{.status.phase}|{.metadata.annotations.volume\.kubernetes\.io/selected-node}|{.metadata.namespace}|{.metadata.name}|{.metadata.uid}' |
    while IFS='|' read -r phase node namespace name uid; do
      # one that has no place yet waits for its pod
      if [ "$phase" != Pending ] || [ -z "$node" ]; then continue; fi
      mkdir -p "$folder/volumes/$uid"
      kube apply -f - <<END || true
apiVersion: v1
kind: PersistentVolume
metadata: {name: "$uid", annotations: {pv.kubernetes.io/provisioned-by: troupe.local/folders}}
spec:
  storageClassName: folders
  capacity: {storage: 8Gi}
  accessModes: [ReadWriteOnce]
  persistentVolumeReclaimPolicy: Delete
  claimRef: {apiVersion: v1, kind: PersistentVolumeClaim, namespace: "$namespace", name: "$name", uid: "$uid"}
  local: {path: "$folder/volumes/$uid"}
  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/os, operator: In, values: [linux]}]}]}}
END
    done
}
take_away() {
  follow persistentvolumes '{.status.phase}|{.metadata.name}' |
    while IFS='|' read -r phase name; do
      [ "$phase" = Released ] || continue
      rm -rf "${folder:?}/volumes/$name"
      kube delete persistentvolume "$name" --wait=false || true
    done
}
give &
take_away
