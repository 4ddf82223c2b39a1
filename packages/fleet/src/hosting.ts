import type { RunStats, Verify } from '@troupe/agent';
import { AppError, type Log } from '@troupe/kernel';
import { agentEnv, platformEnv } from './agent-env.ts';
import { boundedJson, boundedText } from './bounded.ts';
import { DriverError, type Driver } from './driver.ts';
import { createProxy, ownCredentials } from './proxy.ts';
import type { AgentRow, Registry } from './registry.ts';

/** An agent as a service of its own on a hosting platform (Render's REST shape), where no backend can take it. */
export interface HostingDeps {
  settings: {
    HOSTING_API_URL?: string | undefined;
    HOSTING_API_KEY?: string | undefined;
    HOSTING_OWNER_ID?: string | undefined;
    AGENT_IMAGE?: string | undefined;
    AGENTS_DOMAIN: string;
  };
  registry: Registry;
  log: Log;
  version: string;
  /** Where the agent finds its models: an address that the hosting platform reaches. */
  platformUrl: string;
  sessionSecret: string;
  verify: Verify;
}

interface Service {
  id: string;
  suspended?: string;
  serviceDetails?: { url?: string };
}

const TIMEOUT_MS = 15_000;
/** What the agent keeps is on a disk: a deployment, and each new start, begin with the image's own files. */
const DISK = { name: 'data', mountPath: '/data', sizeGB: 1 };
const FAILED = /_failed$|^canceled$|^deactivated$/;
const nameOf = (agentId: string): string => `agent-${agentId}`;
/** The platform's interface knows services, settings, names and deployments; nothing of it reaches into a disk. */
const noCopies = async (): Promise<never> => {
  throw new AppError(
    409,
    'The hosting platform gives no way to copy an agent’s data: it cannot be backed up, restored or updated there',
  );
};

/** Undefined: it is not configured. */
export function createHosting(deps: HostingDeps): Driver | undefined {
  const { settings, registry, log, version, platformUrl, sessionSecret } = deps;
  const { HOSTING_API_URL: base, HOSTING_API_KEY: key, HOSTING_OWNER_ID: ownerId } = settings;
  const image = settings.AGENT_IMAGE ?? `troupe-agent:${version}`;
  if (!base || !key) return undefined;

  async function call(method: string, path: string, body?: unknown): Promise<unknown> {
    const response = await fetch(`${base}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, accept: 'application/json', 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }).catch((error: unknown) => {
      throw new DriverError('The hosting platform is not available', error);
    });
    const text = await boundedText(response);
    if (response.status === 404 && method !== 'POST') return undefined;
    if (!response.ok) throw new DriverError(`The hosting platform answered ${response.status}`);
    try {
      return text === '' ? {} : JSON.parse(text);
    } catch (error) {
      throw new DriverError('The hosting platform answered with no JSON', error);
    }
  }

  async function find(agentId: string): Promise<Service | undefined> {
    const found = await call('GET', `/v1/services?name=${encodeURIComponent(nameOf(agentId))}&limit=1`);
    const [first] = Array.isArray(found) ? (found as { service?: Service }[]) : [];
    return typeof first?.service?.id === 'string' ? first.service : undefined;
  }
  const pathOf = ({ id }: Pick<Service, 'id'>): string => `/v1/services/${encodeURIComponent(id)}`;

  async function envOf(agent: AgentRow): Promise<{ key: string; value: string }[]> {
    const own = await agentEnv(registry, sessionSecret, agent);
    const env = {
      ...own,
      ...platformEnv(platformUrl, own),
      PUBLIC_URL: `https://${agent.id}.${settings.AGENTS_DOMAIN}`,
      HOST: '0.0.0.0',
      DATA_DIR: DISK.mountPath,
    };
    return Object.entries(env).map(([name, value]) => ({ key: name, value }));
  }

  /** The service, its environment, its public name, and only then the deployment; all of it, or nothing is left there. */
  async function create(agent: AgentRow): Promise<Service> {
    const made = (await call('POST', '/v1/services', {
      type: 'web_service',
      name: nameOf(agent.id),
      ownerId,
      autoDeploy: 'no',
      image: { ownerId, imagePath: agent.image ?? image },
      serviceDetails: { runtime: 'image', plan: 'starter', disk: DISK },
    })) as { service?: Service } & Partial<Service>;
    const service = made.service ?? made;
    if (typeof service.id !== 'string') throw new DriverError('The hosting platform answered without a service');
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

  /** How its newest deployment went, once that is known. */
  async function settle(agent: AgentRow): Promise<void> {
    const service = await find(agent.id);
    const found = service && (await call('GET', `${pathOf(service)}/deploys?limit=1`));
    const status = Array.isArray(found) ? (found as { deploy?: { status?: string } }[])[0]?.deploy?.status : undefined;
    if (status === 'live') {
      // What was changed while it did not run: of its environment it reads the definition at its first start only.
      await asOwner(agent, 'PUT', '/definition', await registry.definition(agent));
      await registry.change(agent.id, { status: 'running', failure: null, started_at: new Date() });
    } else if (!service || FAILED.test(status ?? ''))
      await registry.change(agent.id, {
        status: 'error',
        failure: 'The hosting platform could not deploy the agent',
      });
  }

  async function urlOf(agentId: string): Promise<URL | undefined> {
    const url = (await find(agentId))?.serviceDetails?.url;
    return url === undefined ? undefined : new URL(url);
  }

  async function asOwner(agent: AgentRow, method: string, path: string, body?: unknown): Promise<Response> {
    const url = await urlOf(agent.id);
    if (!url) throw new AppError(502, 'Agent is not running');
    const response = await fetch(new URL(path, url), {
      method,
      headers: { authorization: `Bearer ${await registry.token(agent)}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
      // Its token is for the agent alone, wherever that may point.
      redirect: 'error',
    }).catch((error: unknown) => {
      throw new DriverError('The agent does not answer on the hosting platform', error);
    });
    if (!response.ok) throw new DriverError(`The agent answered ${response.status} on ${path}`);
    return response;
  }

  const proxy = createProxy({
    log,
    where: urlOf,
    exists: async (agentId) => (await registry.find(agentId)) !== undefined,
    verify: deps.verify,
    credentials: ownCredentials(deps),
  });

  return {
    name: 'hosting',
    image,
    holdsToken: true,
    async start(agent) {
      const known = await find(agent.id);
      const service = known ?? (await create(agent));
      const isSuspended = known?.suspended === 'suspended';
      // Its token may be a new one.
      if (isSuspended) await call('PUT', `${pathOf(known)}/env-vars`, await envOf(agent));
      if (isSuspended) await call('POST', `${pathOf(known)}/resume`);
      const deploying = !known || isSuspended;
      const container = { id: service.id, name: nameOf(agent.id), status: deploying ? 'deploying' : 'running' };
      return { version, image: agent.image ?? image, container, deploying };
    },
    async stop({ id }) {
      const service = await find(id);
      if (service && service.suspended !== 'suspended') await call('POST', `${pathOf(service)}/suspend`);
    },
    async remove({ id }) {
      const service = await find(id);
      if (service) await call('DELETE', pathOf(service));
    },
    configure: async (agent, definition) => void (await asOwner(agent, 'PUT', '/definition', definition)),
    backup: noCopies,
    restore: noCopies,
    reset: async (agent) => void (await asOwner(agent, 'POST', '/reset', {})),
    async stats(agent) {
      const work = await asOwner(agent, 'GET', '/stats')
        .then(async (response) => ((await boundedJson(response)) as { stats: RunStats }).stats)
        .catch(() => null);
      return { cpu: null, memory: null, memoryPercent: null, network: null, pids: null, work };
    },
    handle: proxy.handle,
    upgrade: proxy.upgrade,
    cut: proxy.cut,
    recover: async () => {
      const waiting = await registry.deploying();
      for (const agent of waiting)
        await settle(agent).catch((err: unknown) => log.warn({ err, agentId: agent.id }, 'a deployment does not tell'));
      return waiting.length;
    },
    disconnect: proxy.disconnect,
    close: async () => {},
  };
}

/** The platform's own driver, and the hosting platform for the agents that were put there. */
export function withHosting(main: Driver, hosting: Driver, registry: Registry): Driver {
  const of = (agent: AgentRow): Driver => (agent.driver === 'hosting' ? hosting : main);
  const at = async (agentId: string): Promise<Driver> => {
    const agent = await registry.find(agentId);
    return agent ? of(agent) : main;
  };
  return {
    ...main,
    start: (agent) => of(agent).start(agent),
    stop: (agent) => of(agent).stop(agent),
    async remove(agent) {
      await main.remove(agent);
      // Without its row nobody knows where it was.
      if (!('driver' in agent) || agent.driver === 'hosting') await hosting.remove(agent);
    },
    backup: (agent, file) => of(agent).backup(agent, file),
    restore: (agent, file) => of(agent).restore(agent, file),
    reset: (agent) => of(agent).reset(agent),
    configure: (agent, definition) => of(agent).configure(agent, definition),
    stats: (agent) => of(agent).stats(agent),
    handle: async (request, response, target) => (await at(target.agentId)).handle(request, response, target),
    upgrade: async (request, socket, head, target) => (await at(target.agentId)).upgrade(request, socket, head, target),
    recover: async () => (await main.recover()) + (await hosting.recover()),
    cut(principalId) {
      for (const driver of [main, hosting]) driver.cut(principalId);
    },
    async disconnect() {
      for (const driver of [main, hosting]) await driver.disconnect();
    },
  };
}
