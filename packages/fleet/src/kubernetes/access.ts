import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { createSecureContext } from 'node:tls';
import { StartError } from '@troupe/kernel';

/** Where a cluster's API server is, and what shows it who we are. */
export interface Access {
  server: URL;
  tls: { ca?: string; cert?: string; key?: string; servername?: string; rejectUnauthorized?: boolean };
  /** Asked for again and again: tokens of pods are exchanged while these run. */
  token: () => Promise<string | undefined>;
  namespace: string;
  /** Whether we are a pod ourselves. */
  inside: boolean;
}

export interface AccessSettings {
  KUBECONFIG?: string | undefined;
  KUBERNETES_NAMESPACE?: string | undefined;
  KUBERNETES_SERVICE_HOST?: string | undefined;
  KUBERNETES_SERVICE_PORT: number;
}

/** Where a pod finds what Kubernetes gives it. */
const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Throws a StartError that says in one sentence what is wrong. */
export async function readAccess(settings: AccessSettings, account = ACCOUNT): Promise<Access> {
  const { KUBECONFIG: file, KUBERNETES_SERVICE_HOST: host } = settings;
  if (file !== undefined) return fromFile(file, settings.KUBERNETES_NAMESPACE);
  if (host !== undefined) return fromAccount(account, host, settings);
  throw new StartError(
    'AGENT_DRIVER is "kubernetes", but this is no pod of a cluster and KUBECONFIG names no file: set KUBECONFIG to the path of a kubeconfig.',
  );
}

async function fromAccount(account: string, host: string, settings: AccessSettings): Promise<Access> {
  const read = (name: string): Promise<string> =>
    readFile(path.join(account, name), 'utf8').catch((cause: unknown) => {
      throw new StartError(
        `This pod has no ${path.join(account, name)}: give it a service account (automountServiceAccountToken), or set KUBECONFIG.`,
        { cause },
      );
    });
  await read('token');
  return {
    server: new URL(`https://${host.includes(':') ? `[${host}]` : host}:${settings.KUBERNETES_SERVICE_PORT}`),
    tls: { ca: await read('ca.crt') },
    token: async () => (await readFile(path.join(account, 'token'), 'utf8')).trim(),
    namespace: settings.KUBERNETES_NAMESPACE ?? (await read('namespace')).trim(),
    inside: true,
  };
}

type Fields = Readonly<Record<string, unknown>>;

const fields = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

type Wrong = (what: string, cause?: unknown) => never;

/** What the file says of where to go and who to be. */
async function chosenIn(file: string, wrong: Wrong): Promise<{ context: Fields; cluster: Fields; user: Fields }> {
  // Loaded only where it is used.
  const { parse } = await import('yaml');
  const said = await readFile(file, 'utf8').catch((cause: unknown) => wrong('which cannot be read', cause));
  let all: Fields = {};
  try {
    all = fields(parse(said, { maxAliasCount: 0 }));
  } catch (cause) {
    wrong('which is no YAML', cause);
  }
  const named = (list: string, one: string, name: string | undefined): Fields => {
    const entries: unknown[] = Array.isArray(all[list]) ? all[list] : [];
    const found = entries.map(fields).find((entry) => entry['name'] === name);
    return found ? fields(found[one]) : wrong(`which has no ${one} "${name ?? ''}": choose one with current-context`);
  };
  const context = named('contexts', 'context', text(all['current-context']));
  const cluster = named('clusters', 'cluster', text(context['cluster']));
  const user = named('users', 'user', text(context['user']));
  if (user['exec'] || user['auth-provider'])
    wrong('whose user signs in by a program: make a kubeconfig with a token or a certificate, as docs/deploy.md says');
  return { context, cluster, user };
}

async function tlsOf(file: string, cluster: Fields, user: Fields, wrong: Wrong): Promise<Access['tls']> {
  /** A value of the file, or of a file that it names relative to itself. */
  const held = async (from: Fields, key: string): Promise<string | undefined> => {
    const data = text(from[`${key}-data`]);
    if (data !== undefined) return Buffer.from(data, 'base64').toString('utf8');
    const at = text(from[key]);
    if (at === undefined) return undefined;
    return readFile(path.resolve(path.dirname(file), at), 'utf8').catch((cause: unknown) =>
      wrong(`whose ${key} names a file that cannot be read`, cause),
    );
  };
  const ca = await held(cluster, 'certificate-authority');
  const cert = await held(user, 'client-certificate');
  const key = await held(user, 'client-key');
  try {
    createSecureContext({ ca, cert, key });
  } catch (cause) {
    wrong('which holds a certificate or a key that cannot be used', cause);
  }
  const servername = text(cluster['tls-server-name']);
  return {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    ...(servername !== undefined && { servername }),
    ...(cluster['insecure-skip-tls-verify'] === true && { rejectUnauthorized: false }),
  };
}

async function fromFile(file: string, namespace: string | undefined): Promise<Access> {
  const wrong: Wrong = (what, cause) => {
    throw new StartError(`KUBECONFIG is "${file}", ${what}.`, { cause });
  };
  const { context, cluster, user } = await chosenIn(file, wrong);
  const tls = await tlsOf(file, cluster, user, wrong);
  const url = text(cluster['server']) ?? '';
  if (!URL.canParse(url) || !/^https?:/.test(url)) wrong('whose cluster has no address in "server"');
  const tokenFile = text(user['tokenFile']);
  return {
    server: new URL(url),
    tls,
    token: async () =>
      tokenFile === undefined
        ? text(user['token'])
        : (await readFile(path.resolve(path.dirname(file), tokenFile), 'utf8')).trim(),
    namespace: namespace ?? text(context['namespace']) ?? 'default',
    inside: false,
  };
}
