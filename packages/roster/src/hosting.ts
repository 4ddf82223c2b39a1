import { AppError, type Log, type Outbound } from '@troupe/kernel';
import { agentEnv, platformEnv } from './agent-env.ts';
import type { AgentRow } from './agent.ts';
import type { AllAgents } from './all.ts';

/** The hosting platform (Render's REST shape) as the place of last resort: what it is asked, by web and by the backend. */
export interface HostingDeps {
  settings: {
    HOSTING_API_URL?: string | undefined;
    HOSTING_API_KEY?: string | undefined;
    HOSTING_OWNER_ID?: string | undefined;
    AGENT_IMAGE?: string | undefined;
    AGENTS_DOMAIN: string;
  };
  roster: Pick<AllAgents, 'channelTokens' | 'token' | 'definition'>;
  /** For the operator's own addresses. */
  outbound: Pick<Outbound, 'fetch'>;
  log: Log;
  version: string;
  /** Where the agent finds its models: an address that the hosting platform reaches. */
  platformUrl: string;
  sessionSecret: string;
}

export interface HostedService {
  id: string;
  suspended?: string;
  serviceDetails?: { url?: string };
}

export interface HostingPlatform {
  image: string;
  find: (agentId: string) => Promise<HostedService | undefined>;
  /** Made, or resumed where it was suspended; `deploying`: it does not run yet. */
  start: (agent: AgentRow) => Promise<{ id: string; name: string; image: string; deploying: boolean }>;
  suspend: (agentId: string) => Promise<void>;
  remove: (agentId: string) => Promise<void>;
  /** How the newest deployment of a service went; undefined: it does not say. */
  deployment: (service: HostedService) => Promise<string | undefined>;
}

const TIMEOUT_MS = 15_000;
const MOST_BYTES = 8 * 1024 * 1024;
/** What the agent keeps is on a disk: a deployment, and each new start, begin with the image's own files. */
const DISK = { name: 'data', mountPath: '/data', sizeGB: 1 };
const nameOf = (agentId: string): string => `agent-${agentId}`;
const pathOf = ({ id }: Pick<HostedService, 'id'>): string => `/v1/services/${encodeURIComponent(id)}`;

type Call = (method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown) => Promise<unknown>;

function createCall(base: string, key: string, outbound: HostingDeps['outbound']): Call {
  return async (method, path, body) => {
    const asked = outbound.fetch(`${base}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, accept: 'application/json', 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      timeout: TIMEOUT_MS,
      maxBytes: MOST_BYTES,
    });
    const { status, text } = await asked.then(
      async (response) => ({ status: response.status, text: await response.text() }),
      (cause: unknown) => {
        throw new AppError(500, 'The hosting platform is not available', {}, { cause });
      },
    );
    if (status === 404 && method !== 'POST') return undefined;
    if (status < 200 || status > 299) throw new AppError(500, `The hosting platform answered ${status}`);
    try {
      return text === '' ? {} : JSON.parse(text);
    } catch (cause) {
      throw new AppError(500, 'The hosting platform answered with no JSON', {}, { cause });
    }
  };
}

function createEnv({ settings, roster, platformUrl, sessionSecret }: HostingDeps) {
  async function envOf(agent: AgentRow): Promise<{ key: string; value: string }[]> {
    const own = await agentEnv(roster, sessionSecret, agent);
    const env = {
      ...own,
      ...platformEnv(platformUrl, own),
      PUBLIC_URL: `https://${agent.id}.${settings.AGENTS_DOMAIN}`,
      HOST: '0.0.0.0',
      DATA_DIR: DISK.mountPath,
    };
    return Object.entries(env).map(([name, value]) => ({ key: name, value }));
  }

  return envOf;
}

/** Makes a service; `image` runs where the agent's row names none. */
function createMaking(deps: HostingDeps, call: Call, envOf: ReturnType<typeof createEnv>, image: string) {
  const { settings, log } = deps;
  const ownerId = settings.HOSTING_OWNER_ID;

  /** The service, its environment, its public name, and only then the deployment; all of it, or nothing is left there. */
  async function create(agent: AgentRow): Promise<HostedService> {
    const made = (await call('POST', '/v1/services', {
      type: 'web_service',
      name: nameOf(agent.id),
      ownerId,
      autoDeploy: 'no',
      image: { ownerId, imagePath: agent.image ?? image },
      serviceDetails: { runtime: 'image', plan: 'starter', disk: DISK },
    })) as { service?: HostedService } & Partial<HostedService>;
    const service = made.service ?? made;
    if (typeof service.id !== 'string') throw new AppError(500, 'The hosting platform answered without a service');
    const path = pathOf({ id: service.id });
    try {
      await call('PUT', `${path}/env-vars`, await envOf(agent));
      await call('POST', `${path}/custom-domains`, { name: `${agent.id}.${settings.AGENTS_DOMAIN}` });
      await call('POST', `${path}/deploys`, {});
    } catch (error) {
      await call('DELETE', path).catch((err: unknown) =>
        log.error(
          { err, agentId: agent.id, serviceId: service.id },
          'a service on the hosting platform was left behind',
        ),
      );
      throw error;
    }
    return { ...service, id: service.id };
  }

  return create;
}

/** Undefined: it is not configured. */
export function createHostingPlatform(deps: HostingDeps): HostingPlatform | undefined {
  const { settings, version } = deps;
  const { HOSTING_API_URL: base, HOSTING_API_KEY: key } = settings;
  const image = settings.AGENT_IMAGE ?? `troupe-agent:${version}`;
  if (!base || !key) return undefined;
  const call = createCall(base, key, deps.outbound);

  async function find(agentId: string): Promise<HostedService | undefined> {
    const found = await call('GET', `/v1/services?name=${encodeURIComponent(nameOf(agentId))}&limit=1`);
    const [first] = Array.isArray(found) ? (found as { service?: HostedService }[]) : [];
    return typeof first?.service?.id === 'string' ? first.service : undefined;
  }

  const envOf = createEnv(deps);
  const create = createMaking(deps, call, envOf, image);

  return {
    image,
    find,
    async start(agent) {
      const known = await find(agent.id);
      const service = known ?? (await create(agent));
      const isSuspended = known?.suspended === 'suspended';
      // Its token may be a new one.
      if (isSuspended) await call('PUT', `${pathOf(known)}/env-vars`, await envOf(agent));
      if (isSuspended) await call('POST', `${pathOf(known)}/resume`);
      const deploying = !known || isSuspended;
      return { id: service.id, name: nameOf(agent.id), image: agent.image ?? image, deploying };
    },
    async suspend(agentId) {
      const service = await find(agentId);
      if (service && service.suspended !== 'suspended') await call('POST', `${pathOf(service)}/suspend`);
    },
    async remove(agentId) {
      const service = await find(agentId);
      if (service) await call('DELETE', pathOf(service));
    },
    async deployment(service) {
      const found = await call('GET', `${pathOf(service)}/deploys?limit=1`);
      return Array.isArray(found) ? (found as { deploy?: { status?: string } }[])[0]?.deploy?.status : undefined;
    },
  };
}
