import { readFile, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parse } from 'yaml';
import type { ThisCluster } from './cluster.ts';

const ROLE = path.resolve(import.meta.dirname, '../../../../deploy/kubernetes/agents.yaml');
const HOURS = 2;

/** A namespace with what deploy/kubernetes says, and a folder as the platform's own pod would find it there. */
export async function platformAccount({ folder, kubectl, kubeconfig }: ThisCluster, namespace: string) {
  await kubectl(['create', 'namespace', namespace]);
  await kubectl(['--namespace', namespace, 'apply', '-f', ROLE]);
  const at = `/api/v1/namespaces/${namespace}/serviceaccounts/troupe/token`;
  const asked = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { expirationSeconds: HOURS * 3600 },
  };
  const { status } = JSON.parse(await kubectl(['create', '--raw', at, '-f', '-'], JSON.stringify(asked))) as {
    status: { token: string };
  };
  const { clusters } = parse(await readFile(kubeconfig, 'utf8')) as {
    clusters: { cluster: { server: string; 'certificate-authority-data': string } }[];
  };
  const { cluster } = clusters[0]!;
  const account = path.join(folder, `account-${namespace}`);
  await mkdir(account);
  await writeFile(path.join(account, 'token'), status.token);
  await writeFile(path.join(account, 'namespace'), namespace);
  await writeFile(path.join(account, 'ca.crt'), Buffer.from(cluster['certificate-authority-data'], 'base64'));
  const { hostname, port } = new URL(cluster.server);
  return { account, settings: { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: Number(port) } };
}
