import { sha256Hex } from '@troupe/kernel';
import { AGENT_UID, DATA, NODE, PROGRAM } from '../docker/image.ts';
import { AGENT_LABEL, STOP_SECONDS, TMP_BYTES } from '../docker/spec.ts';
import type { Manifest } from './client.ts';

/** What the cluster is told. Only fields that version 1.20 and today's versions have. */

export { AGENT_LABEL };
/** On the pods of the platform itself: agents let nobody else in, and reach them. */
const PLATFORM_LABEL = 'troupe.platform';
export const PORT = 18_789;
/** Below the volume's own folder: some kinds of disk have files of their own there. */
export const DATA_DIR = `${DATA}/agent`;
const CLAIM_SIZE = '4Gi';
/** What is set aside for one; what it may take is its plan's. */
const REQUESTS = { cpu: '20m', memory: '128Mi' };
/** So long a machine may be silent before its agents are started on another. */
const AWAY_SECONDS = 5;
const NAMEABLE = /^[a-z0-9](?:[a-z0-9-]{0,36}[a-z0-9])?$/;

/** What the names of an agent's objects end with. Kubernetes takes shorter ones than ids may be. */
const keyOf = (agentId: string): string => (NAMEABLE.test(agentId) ? agentId : sha256Hex(agentId).slice(0, 32));
export const nameOf = (agentId: string): string => `troupe-agent-${keyOf(agentId)}`;
export const podOf = (agentId: string): string => `${nameOf(agentId)}-0`;
export const doorOf = (agentId: string): string => `${nameOf(agentId)}-data`;

/** Where the objects of a namespace are. */
export const pathsOf = (namespace: string) => {
  const core = `/api/v1/namespaces/${encodeURIComponent(namespace)}`;
  return {
    pods: `${core}/pods`,
    secrets: `${core}/secrets`,
    claims: `${core}/persistentvolumeclaims`,
    sets: `/apis/apps/v1/namespaces/${encodeURIComponent(namespace)}/statefulsets`,
    policies: `/apis/networking.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/networkpolicies`,
    metrics: `/apis/metrics.k8s.io/v1beta1/namespaces/${encodeURIComponent(namespace)}/pods`,
  };
};
export type Paths = ReturnType<typeof pathsOf>;

/** The agent itself, or the pod that gives its data out: nobody is to find the agent there. */
type Part = 'agent' | 'data';
const PART_LABEL = 'troupe.part';
/** The pods that are agents. */
export const AGENT_PODS = `${PART_LABEL}=agent`;

const chosen = (agentId: string, part: Part) => ({ [AGENT_LABEL]: keyOf(agentId), [PART_LABEL]: part });
const labelsOf = (agentId: string, part: Part) => ({
  'app.kubernetes.io/managed-by': 'troupe',
  ...chosen(agentId, part),
});
const metadata = (name: string, agentId: string, part: Part = 'agent') => ({
  name,
  labels: labelsOf(agentId, part),
  annotations: { [AGENT_LABEL]: agentId },
});

export const secret = (name: string, agentId: string, values: Record<string, string>): Manifest => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: metadata(name, agentId),
  data: Object.fromEntries(Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')])),
});

export const claim = (agentId: string, storageClass: string | undefined): Manifest => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: metadata(nameOf(agentId), agentId),
  spec: {
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage: CLAIM_SIZE } },
    ...(storageClass !== undefined && { storageClassName: storageClass }),
  },
});

interface Running {
  agentId: string;
  image: string;
  secretName: string;
  limits: { cpu: string; memory: string };
}

/**
 * A machine that is cut off goes on with its pods, and starts their programs again, while another one has the agent. So
 * each pod says by its own name in the data itself that it has come; the older one ends, and stays so.
 */
const ONE_WRITER = [
  { name: 'DATA_SHARED', value: 'on' },
  { name: 'DATA_PLACE', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.uid' } } },
];

/** What runs for an agent may nothing but compute: no user of the machine, no file of the image, no right, no API. */
const podSpec = ({ agentId, image, secretName, limits }: Running) => ({
  automountServiceAccountToken: false,
  enableServiceLinks: false,
  terminationGracePeriodSeconds: STOP_SECONDS,
  securityContext: {
    runAsNonRoot: true,
    runAsUser: AGENT_UID,
    runAsGroup: AGENT_UID,
    fsGroup: AGENT_UID,
    seccompProfile: { type: 'RuntimeDefault' },
  },
  tolerations: ['not-ready', 'unreachable'].map((state) => ({
    key: `node.kubernetes.io/${state}`,
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds: AWAY_SECONDS,
  })),
  containers: [
    {
      name: 'agent',
      image,
      imagePullPolicy: 'IfNotPresent',
      command: [NODE, PROGRAM],
      envFrom: [{ secretRef: { name: secretName } }],
      env: ONE_WRITER,
      ports: [{ name: 'gateway', containerPort: PORT, protocol: 'TCP' }],
      readinessProbe: {
        httpGet: { path: '/health', port: PORT, scheme: 'HTTP' },
        periodSeconds: 3,
        timeoutSeconds: 5,
        failureThreshold: 5,
      },
      resources: { limits, requests: REQUESTS },
      securityContext: {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      },
      volumeMounts: [
        { name: 'data', mountPath: DATA },
        { name: 'tmp', mountPath: '/tmp' },
      ],
    },
  ],
  volumes: [
    { name: 'data', persistentVolumeClaim: { claimName: nameOf(agentId) } },
    { name: 'tmp', emptyDir: { medium: 'Memory', sizeLimit: String(TMP_BYTES) } },
  ],
});

export const statefulSet = (running: Running): Manifest => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: metadata(nameOf(running.agentId), running.agentId),
  spec: {
    replicas: 1,
    // Nobody asks for it by a name, so there is no such service.
    serviceName: nameOf(running.agentId),
    revisionHistoryLimit: 1,
    selector: { matchLabels: chosen(running.agentId, 'agent') },
    template: {
      metadata: { labels: labelsOf(running.agentId, 'agent'), annotations: { [AGENT_LABEL]: running.agentId } },
      spec: podSpec(running),
    },
  },
});

/** The pod through which data goes in and out. `beside` the agent while that runs: a volume is on one machine at a time. */
export const doorPod = (running: Running, beside: boolean): Manifest => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: metadata(doorOf(running.agentId), running.agentId, 'data'),
  spec: {
    ...podSpec(running),
    restartPolicy: 'Never',
    ...(beside && {
      affinity: {
        podAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            {
              labelSelector: { matchLabels: chosen(running.agentId, 'agent') },
              topologyKey: 'kubernetes.io/hostname',
            },
          ],
        },
      },
    }),
  },
});

export interface Reachable {
  /** Addresses beside the public ones, with their ports; without: every port. */
  private: readonly { address: string; port?: number }[];
  /** Whether the platform is a pod of the cluster, and all who come in are. */
  inside: boolean;
}

/** Of no agent's business: other machines of the network, the cluster's own, and what a cloud tells its machines. */
const NOT_PUBLIC_4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '224.0.0.0/3',
];
const NOT_PUBLIC_6 = ['::/8', 'fc00::/7', 'fe80::/10', 'ff00::/8'];
const DNS_PORTS = ['UDP', 'TCP'].map((protocol) => ({ protocol, port: 53 }));
const NODE_LOCAL_DNS = '169.254.20.10/32';

/** Names mean nothing to a policy: which of the public ones it may reach, the agent's own program decides. */
export function networkPolicy(agentId: string, { private: own, inside }: Reachable): Manifest {
  const platform = { namespaceSelector: {}, podSelector: { matchLabels: { [PLATFORM_LABEL]: 'true' } } };
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: metadata(nameOf(agentId), agentId),
    spec: {
      podSelector: { matchLabels: { [AGENT_LABEL]: keyOf(agentId) } },
      policyTypes: ['Ingress', 'Egress'],
      ingress: [{ ...(inside && { from: [platform] }), ports: [{ protocol: 'TCP', port: PORT }] }],
      egress: [
        {
          to: [
            { namespaceSelector: {}, podSelector: { matchLabels: { 'k8s-app': 'kube-dns' } } },
            { ipBlock: { cidr: NODE_LOCAL_DNS } },
          ],
          ports: DNS_PORTS,
        },
        { to: [platform] },
        {
          to: [
            { ipBlock: { cidr: '0.0.0.0/0', except: NOT_PUBLIC_4 } },
            { ipBlock: { cidr: '::/0', except: NOT_PUBLIC_6 } },
          ],
        },
        ...own.map(({ address, port }) => ({
          to: [{ ipBlock: { cidr: `${address}/${address.includes(':') ? 128 : 32}` } }],
          ...(port !== undefined && { ports: [{ protocol: 'TCP', port }] }),
        })),
      ],
    },
  };
}
