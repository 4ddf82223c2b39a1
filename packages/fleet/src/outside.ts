import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { RunStats, Verify } from '@troupe/agent';
import type { AgentDefinition } from '@troupe/domain';
import { AppError, type Log } from '@troupe/kernel';
import { agentEnv, platformEnv, type AgentRow, type AllAgents } from '@troupe/roster';
import { boundedJson } from './bounded.ts';
import { askContainer } from './container-fetch.ts';
import { DriverError, type Driver } from './driver.ts';
import { createProxy, ownCredentials } from './proxy.ts';

/** Agents in containers, whatever runs these: what they are told, how they are asked, how others reach them. */

export interface OutsideDeps {
  roster: AllAgents;
  log: Log;
  version: string;
  verify: Verify;
  sessionSecret: string;
  healthMs?: number;
}

/** What an agent that was told to run is found to be. */
export interface Found {
  /** Where it listens; undefined: it does not run at this moment. */
  address: string | undefined;
  /** How often it was started again without us. */
  restarts: number;
  /** Why it will never run as it was told to. */
  problem?: string | undefined;
  /** What it waits for, which may or may not come. */
  waitsFor?: string | undefined;
}
export type Look = (agentId: string) => Promise<Found | undefined>;

/** A machine that starts many at once takes its time; one that ends again and again is noticed by its restarts. */
const HEALTH_MS = 90_000;
const MOST_RESTARTS = 2;
const CALL_MS = 10_000;

export interface EnvDeps {
  roster: AllAgents;
  sessionSecret: string;
  /** Hosts of the own network that agents may reach. */
  privateHosts: readonly string[];
}

/** The environment of an agent's program. */
export async function environmentOf(
  { roster, sessionSecret, privateHosts }: EnvDeps,
  agent: AgentRow,
  place: { platform: string | undefined; dataDir: string; host: string; port: number },
): Promise<Record<string, string>> {
  const own = await agentEnv(roster, sessionSecret, agent);
  return {
    ...own,
    ...(place.platform && platformEnv(place.platform, own)),
    ...(privateHosts.length > 0 && { AGENT_PRIVATE_HOSTS: privateHosts.join(',') }),
    DATA_DIR: place.dataDir,
    HOST: place.host,
    PORT: String(place.port),
  };
}

/** Asks agents in containers. */
export function createCalls({ roster, version, healthMs = HEALTH_MS }: OutsideDeps, look: Look) {
  async function call(agentId: string, method: string, at: string, body?: unknown, token?: string): Promise<Response> {
    const address = (await look(agentId))?.address;
    if (address === undefined) throw new AppError(502, 'Agent is not running');
    return askContainer(address, at, {
      ms: CALL_MS,
      method,
      headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  }

  async function asOwner(agent: AgentRow, method: string, at: string, body?: unknown): Promise<Response> {
    const response = await call(agent.id, method, at, body, await roster.token(agent));
    if (!response.ok) throw new DriverError(`The agent answered ${response.status} on ${at}`);
    return response;
  }

  /** Answers the version that serves; throws when it does not within the time. */
  async function healthy(agentId: string): Promise<string> {
    const deadline = Date.now() + healthMs;
    const before = (await look(agentId))?.restarts ?? 0;
    for (;;) {
      const answer = await call(agentId, 'GET', '/health').catch(() => undefined);
      if (answer?.ok) return ((await boundedJson(answer)) as { version?: string }).version ?? version;
      const found = await look(agentId);
      if (found?.problem !== undefined) throw new DriverError(found.problem);
      if (found && found.restarts - before > MOST_RESTARTS)
        throw new DriverError('The agent’s container ends as soon as it starts');
      if (Date.now() > deadline) throw new DriverError(found?.waitsFor ?? 'The agent did not become healthy in time');
      await delay(200);
    }
  }

  /** What was changed while it did not run: of its environment it reads the definition at its very first start only. */
  async function catchUp(agent: AgentRow): Promise<void> {
    const wanted = await roster.definition(agent);
    const { definition } = (await boundedJson(await asOwner(agent, 'GET', '/definition'))) as {
      definition: AgentDefinition;
    };
    if (!isDeepStrictEqual(definition, wanted)) await asOwner(agent, 'PUT', '/definition', wanted);
  }

  /** What it says of its runs; null: it says nothing. */
  const work = (agent: AgentRow): Promise<RunStats | null> =>
    asOwner(agent, 'GET', '/stats')
      .then(async (response) => ((await boundedJson(response)) as { stats: RunStats }).stats)
      .catch(() => null);

  return { asOwner, healthy, catchUp, work };
}
export type Calls = ReturnType<typeof createCalls>;

type Passing = Pick<
  Driver,
  'holdsToken' | 'reset' | 'configure' | 'handle' | 'upgrade' | 'cut' | 'recover' | 'disconnect'
>;

/** The parts of a driver that only ask the agent, or pass on to it what others ask. */
export function passingOn(
  deps: OutsideDeps,
  { asOwner }: Calls,
  addressOf: (agentId: string) => Promise<string | undefined>,
): Passing {
  const { roster, log, verify } = deps;
  const { handle, upgrade, cut, disconnect } = createProxy({
    log,
    where: async (agentId) => {
      const address = await addressOf(agentId);
      return address === undefined ? undefined : new URL(address);
    },
    exists: async (agentId) => (await roster.find(agentId)) !== undefined,
    verify,
    credentials: ownCredentials(deps),
  });
  return {
    holdsToken: true,
    reset: async (agent) => void (await asOwner(agent, 'POST', '/reset', {})),
    configure: async (agent, definition) => void (await asOwner(agent, 'PUT', '/definition', definition)),
    handle,
    upgrade,
    cut,
    // Each container goes on with its own unfinished work when it starts.
    recover: async () => 0,
    disconnect,
  };
}
