import path from 'node:path';
import {
  createPgNews,
  createPgStore,
  createShelf,
  createToolkit,
  KeptAgent,
  keptMeant,
  personsWorkspace,
  pgKnowledge,
  pgSkills,
  type ToolkitDeps,
  wakeAgent,
  type Agent,
  type AgentDeps,
  type Kept,
  type Peer,
  type Peers,
  type PgNews,
  type ProgramShelf,
  type Sandbox,
  type StoreSource,
} from '@troupe/agent';
import type { Database, Listener } from '@troupe/db';
import { createPassageSearch, type Meaning } from '@troupe/knowledge';
import { AppError, type Log, type Outbound, type WorkerPool } from '@troupe/kernel';
import { createLogins, type AgentRow } from '@troupe/roster';
import type { AgentFiles } from './agent-files.ts';
import { createMcpKeeping, pinKeeping, type Whose } from './mcp-keeping.ts';

export type Thinker = Pick<AgentRow, 'id' | 'user_id' | 'plan' | 'ai_provider' | 'provider_key'>;
export type Thinking = Pick<AgentDeps, 'model' | 'onTool' | 'onRun' | 'traced'>;

export interface AwakeDeps {
  db: Database;
  /** Hears what other processes store; without it they are asked for again and again. */
  listener?: Listener;
  log: Log;
  /** Workspaces, or copies of them, are in it. */
  dataDir: string;
  sandbox: Sandbox;
  outbound: Outbound;
  /** How commands and programs of agents reach the domains that they may reach. */
  egress?: ToolkitDeps['egress'];
  /** Seals what opens other servers. */
  sealKey?: string;
  /** Where programs of MCP servers that are npm packages are; left out: they cannot be had. */
  programs?: ProgramShelf;
  /** Where people look at what agents cite. */
  dashboard?: string;
  /** How questions about documents and memories become numbers; left out: they are searched by words. */
  meaning?: ((userId: string) => Meaning) | undefined;
  /** Memory stores of sessions; left out: there are none. */
  stores?: ((whose: Whose) => StoreSource) | undefined;
  /** The model on the account of the agent's owner. */
  thinking: (agent: Thinker) => Thinking;
  /** An agent that nobody talks to for so long goes to sleep. */
  idleMs?: number;
  leaseMs?: number;
}

interface Awake {
  agent: Agent;
  userId: string;
  usedAt: number;
  /** From the next call on it thinks as this row says. */
  think: (row: Thinker) => void;
}

const IDLE_MS = 60_000;

const rowOf = (db: Database, agentId: string) =>
  db.system
    .selectFrom('agents')
    .select(['id', 'user_id', 'team_id', 'plan', 'status', 'ai_provider', 'provider_key'])
    .where('id', '=', agentId)
    .executeTakeFirst();

/** What an agent thinks with, as it is at each call: its owner's plan or key may have changed. */
const switched = (now: () => Thinking): Thinking => ({
  model: {
    chat: (...args) => now().model.chat(...args),
    stream: (...args) => now().model.stream(...args),
  },
  onTool: (record) => now().onTool?.(record),
  onRun: (record) => now().onRun?.(record),
  traced: now().traced,
});

/** What an agent's tools run in and reach others by. */
export function createWaysOut(
  {
    db,
    dataDir,
    sandbox,
    outbound,
    log,
    egress,
    sealKey,
    programs,
    dashboard = '/dashboard',
    meaning,
    stores,
  }: Omit<AwakeDeps, 'listener' | 'idleMs' | 'leaseMs'>,
  pool: WorkerPool,
) {
  const shelf = createShelf({ root: path.join(dataDir, 'skills'), log });
  const search = createPassageSearch();
  const logins = sealKey === undefined ? undefined : createLogins({ db, sealKey });
  const mcp = sealKey === undefined ? undefined : createMcpKeeping(db, sealKey);
  return (whose: Whose) => ({
    owner: whose.userId,
    pool,
    sandbox,
    outbound,
    log,
    skills: { shelf, source: pgSkills({ db, userId: whose.userId }) },
    knowledge: pgKnowledge({ db, userId: whose.userId, search, meaning: meaning?.(whose.userId), dashboard }),
    ...(meaning && { meaning: keptMeant(meaning(whose.userId).vector) }),
    ...(stores && { stores: stores(whose) }),
    ...(egress && { egress }),
    ...(logins && {
      logins: { list: () => logins.list(whose), open: (name: string) => logins.open(whose, name) },
    }),
    ...mcp?.(whose),
    ...(programs && { programs: { shelf: programs, pins: pinKeeping(db, whose) } }),
  });
}

/** Agents of this process that somebody talked to lately: woken when they are asked for, put to sleep when nobody does. */
export class AwakeAgents {
  readonly #deps: AwakeDeps;
  readonly #files: AgentFiles;
  readonly #pool: WorkerPool;
  readonly #news: PgNews | undefined;
  readonly #waysOut: ReturnType<typeof createWaysOut>;
  readonly #idleMs: number;
  readonly #sweeper: NodeJS.Timeout;
  readonly #awake = new Map<string, Promise<Awake | undefined>>();
  #closed = false;

  constructor(deps: AwakeDeps, files: AgentFiles, pool: WorkerPool) {
    this.#deps = deps;
    this.#news = deps.listener && createPgNews({ db: deps.db, listener: deps.listener, log: deps.log });
    this.#files = files;
    this.#pool = pool;
    this.#waysOut = createWaysOut(deps, pool);
    this.#idleMs = deps.idleMs ?? IDLE_MS;
    this.#sweeper = setInterval(() => {
      this.#sweep().catch((err: unknown) => deps.log.error({ err }, 'agents could not be put to sleep'));
    }, this.#idleMs / 2).unref();
  }

  get size(): number {
    return this.#awake.size;
  }

  /** The agent itself; undefined: there is none, throws 502 when it is stopped. */
  async get(agentId: string): Promise<Agent | undefined> {
    return (await this.#awaken(agentId))?.agent;
  }

  /** What it has kept, to be read whether it runs or not; undefined: there is none. Nobody is woken for that. */
  async kept(agentId: string): Promise<Kept | undefined> {
    if (this.#closed) throw new AppError(503, 'The platform is stopping');
    const found = await this.#found(agentId);
    if (found) {
      found.usedAt = Date.now();
      return found.agent;
    }
    const { db } = this.#deps;
    const row = await rowOf(db, agentId);
    if (!row) return undefined;
    const { user_id: userId, team_id: teamId } = row;
    const store = createPgStore({ db, userId, agentId, ...(teamId !== null && { teamId }) });
    const workspace = () => personsWorkspace({ ...this.#files.of(agentId, userId), pool: this.#pool, owner: userId });
    return new KeptAgent({ agentId, owner: userId, store, workspace, isStopped: row.status !== 'running' });
  }

  /** Its sessions that are worked on here; it is not woken for that. */
  async busy(agentId: string): Promise<number> {
    const found = await this.#found(agentId);
    return found?.agent.busy() ?? 0;
  }

  /** Forgets what this process knows of an agent, and stops its work here. */
  async evict(agentId: string): Promise<void> {
    const waking = this.#found(agentId);
    this.#awake.delete(agentId);
    const found = await waking;
    await found?.agent.sleep();
  }

  /** Stops what it has in the background, whether it is awake, running, or about to go. */
  async halt(agentId: string): Promise<void> {
    const { db } = this.#deps;
    const busy = await db.system
      .selectFrom('agent_background')
      .select('id')
      .where('agent_id', '=', agentId)
      .where('status', '=', 'running')
      .executeTakeFirst();
    if (!busy) return;
    const found = await this.#found(agentId);
    const row = found ? undefined : await rowOf(db, agentId);
    const agent = found?.agent ?? (row && this.#wake(row).agent);
    await agent?.stopTasks('owner');
    if (!found) await agent?.sleep();
  }

  /** Its row has another plan or provider. */
  async rethink(agentId: string): Promise<void> {
    const found = await this.#found(agentId);
    const row = found && (await rowOf(this.#deps.db, agentId));
    if (row) found.think(row);
  }

  /** An MCP server of theirs is another one, or none: what runs with it ends. */
  async forgetServer(userId: string, name: string): Promise<void> {
    const forget = async (agentId: string): Promise<void> => {
      const found = await this.#found(agentId);
      if (found?.userId !== userId) return;
      found.agent.mcp?.inherited.stale();
      await found.agent.mcp?.forget(name);
    };
    await Promise.all([...this.#awake.keys()].map(forget));
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#sweeper);
    await Promise.all([...this.#awake.keys()].map((agentId) => this.evict(agentId)));
    await this.#news?.close();
  }

  #found(agentId: string): Promise<Awake | undefined> | undefined {
    return this.#awake.get(agentId)?.catch(() => undefined);
  }

  async #awaken(agentId: string): Promise<Awake | undefined> {
    if (this.#closed) throw new AppError(503, 'The platform is stopping');
    const known = this.#awake.get(agentId);
    const waking = known ?? this.#load(agentId);
    if (!known) this.#awake.set(agentId, waking);
    try {
      const found = await waking;
      if (found) found.usedAt = Date.now();
      else this.#awake.delete(agentId);
      return found;
    } catch (error) {
      if (this.#awake.get(agentId) === waking) this.#awake.delete(agentId);
      throw error;
    }
  }

  async #load(agentId: string): Promise<Awake | undefined> {
    const row = await rowOf(this.#deps.db, agentId);
    if (!row) return undefined;
    if (row.status !== 'running') throw new AppError(502, 'Agent is not running');
    return this.#wake(row);
  }

  #wake(row: Thinker & Pick<AgentRow, 'team_id'>): Awake {
    const { db, log, thinking, leaseMs } = this.#deps;
    const { id: agentId, user_id: userId, team_id: teamId } = row;
    let now = thinking(row);
    const place = this.#files.of(agentId, userId);
    const hears = place.copy && { onFiles: place.copy.heard };
    const store = createPgStore({ db, userId, agentId, ...(teamId !== null && { teamId }), ...hears });
    const peers: Peers = (member) => this.#peer(userId, member.agentId);
    const toolkit = createToolkit({
      store,
      ...place,
      ...this.#waysOut({ userId, agentId }),
      peers,
    });
    const agent = wakeAgent({
      agentId,
      owner: userId,
      store,
      ...toolkit,
      log,
      onSleep: toolkit.close,
      ...switched(() => now),
      ...(this.#news && { news: this.#news }),
      ...(leaseMs !== undefined && { leaseMs, renewMs: Math.ceil(leaseMs / 4) }),
    });
    const think = (changed: Thinker): void => {
      now = thinking(changed);
    };
    return { agent, userId, usedAt: Date.now(), think };
  }

  /** Another agent of the same owner. One that is stopped can still be told to stop, so that it does not go on later. */
  async #peer(userId: string, agentId: string): Promise<Agent | Peer | undefined> {
    const { db } = this.#deps;
    const row = await rowOf(db, agentId);
    if (row?.user_id !== userId) return undefined;
    if (row.status === 'running') return (await this.#awaken(agentId))?.agent;
    const store = createPgStore({ db, userId, agentId });
    return {
      ask: async () => {
        throw new AppError(502, 'Agent is not running');
      },
      async stop(key, channel) {
        const found = await store.deliver({ to: { channel, key }, events: [] });
        if (!found || found.session.status === 'idle') return;
        await store.deliver({ to: { id: found.session.id }, events: [{ type: 'cancel_requested', by: channel }] });
      },
    };
  }

  async #sweep(): Promise<void> {
    for (const [agentId, waking] of this.#awake) {
      const found = await waking.catch(() => undefined);
      if (!found || !found.agent.idle() || Date.now() - found.usedAt < this.#idleMs) continue;
      this.#awake.delete(agentId);
      await found.agent.sleep();
    }
  }
}
