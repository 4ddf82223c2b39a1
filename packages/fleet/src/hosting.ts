import type { RunStats, Verify } from '@troupe/agent';
import { AppError, type Log, type Outbound, type OutboundResponse } from '@troupe/kernel';
import type { AgentRow, AllAgents, HostingPlatform } from '@troupe/roster';
import { DriverError, type Driver } from './driver.ts';
import { RUNNING } from './life.ts';
import { createProxy, ownCredentials } from './proxy.ts';

/** An agent as a service of its own on the hosting platform, where no backend could take it. */
export interface HostingDriverDeps {
  platform: HostingPlatform;
  roster: AllAgents;
  /** For the operator's own addresses. */
  outbound: Pick<Outbound, 'fetch'>;
  log: Log;
  version: string;
  sessionSecret: string;
  verify: Verify;
}

const TIMEOUT_MS = 15_000;
const MOST_BYTES = 8 * 1024 * 1024;
const FAILED = /_failed$|^canceled$|^deactivated$/;
/** The platform's interface knows services, settings, names and deployments; nothing of it reaches into a disk. */
const noCopies = async (): Promise<never> => {
  throw new AppError(
    409,
    'The hosting platform gives no way to copy an agent’s data: it cannot be backed up, restored or updated there',
  );
};

/** Asks a hosted agent, as its owner. */
function createAsking({ platform, roster, outbound }: HostingDriverDeps) {
  async function urlOf(agentId: string): Promise<URL | undefined> {
    const url = (await platform.find(agentId))?.serviceDetails?.url;
    return url === undefined ? undefined : new URL(url);
  }

  async function asOwner(
    agent: AgentRow,
    method: 'GET' | 'PUT' | 'POST',
    path: string,
    body?: unknown,
  ): Promise<OutboundResponse> {
    const url = await urlOf(agent.id);
    if (!url) throw new AppError(502, 'Agent is not running');
    const asked = outbound.fetch(new URL(path, url), {
      method,
      headers: { authorization: `Bearer ${await roster.token(agent)}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      timeout: TIMEOUT_MS,
      maxBytes: MOST_BYTES,
      // Its token is for the agent alone, wherever that may point.
      redirects: 0,
    });
    const response = await asked.catch((error: unknown) => {
      throw new DriverError('The agent does not answer on the hosting platform', error);
    });
    if (response.status >= 200 && response.status <= 299) return response;
    response.cancel();
    throw new DriverError(`The agent answered ${response.status} on ${path}`);
  }

  const tell = async (...given: Parameters<typeof asOwner>): Promise<void> => (await asOwner(...given)).cancel();

  return { urlOf, asOwner, tell };
}

function createSettle({ platform, roster }: HostingDriverDeps, tell: ReturnType<typeof createAsking>['tell']) {
  /** How its newest deployment went, once that is known. */
  async function settle(agent: AgentRow): Promise<void> {
    const service = await platform.find(agent.id);
    const status = service && (await platform.deployment(service));
    if (status === 'live') {
      // What was changed while it did not run: of its environment it reads the definition at its first start only.
      await tell(agent, 'PUT', '/definition', await roster.definition(agent));
      await roster.change(agent.id, { ...RUNNING, started_at: new Date() });
    } else if (!service || FAILED.test(status ?? ''))
      await roster.change(agent.id, {
        status: 'error',
        failure: 'The hosting platform could not deploy the agent',
      });
  }

  return settle;
}

export function createHosting(deps: HostingDriverDeps): Driver {
  const { platform, roster, log, version } = deps;
  const asking = createAsking(deps);
  const { urlOf, asOwner, tell } = asking;

  const settle = createSettle(deps, tell);
  const proxy = createProxy({
    log,
    where: urlOf,
    exists: async (agentId) => (await roster.find(agentId)) !== undefined,
    verify: deps.verify,
    credentials: ownCredentials(deps),
  });

  return {
    name: 'hosting',
    image: platform.image,
    holdsToken: true,
    async start(agent) {
      const { id, name, image, deploying } = await platform.start(agent);
      const container = { id, name, status: deploying ? 'deploying' : 'running' };
      return { version, image, container, deploying };
    },
    stop: ({ id }) => platform.suspend(id),
    remove: ({ id }) => platform.remove(id),
    configure: (agent, definition) => tell(agent, 'PUT', '/definition', definition),
    backup: noCopies,
    restore: noCopies,
    reset: (agent) => tell(agent, 'POST', '/reset', {}),
    async stats(agent) {
      const work = await asOwner(agent, 'GET', '/stats')
        .then(async (response) => ((await response.json()) as { stats: RunStats }).stats)
        .catch(() => null);
      return { cpu: null, memory: null, memoryPercent: null, network: null, pids: null, work };
    },
    handle: proxy.handle,
    upgrade: proxy.upgrade,
    cut: proxy.cut,
    recover: async () => {
      const waiting = await roster.deploying();
      for (const agent of waiting)
        await settle(agent).catch((err: unknown) => log.warn({ err, agentId: agent.id }, 'a deployment does not tell'));
      return waiting.length;
    },
    disconnect: proxy.disconnect,
    close: async () => {},
  };
}

/** The platform's own driver, and the hosting platform for the agents that were put there. */
export function withHosting(main: Driver, hosting: Driver, roster: AllAgents): Driver {
  const of = (agent: AgentRow): Driver => (agent.driver === 'hosting' ? hosting : main);
  const at = async (agentId: string): Promise<Driver> => {
    const agent = await roster.find(agentId);
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
