import { mkdir } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import {
  createGateway,
  createSandbox,
  createShelf,
  createSqliteStore,
  createToolkit,
  remotePeer,
  wakeAgent,
  withTeamStore,
  type Agent,
  type Cited,
  type GatewayPrincipal,
  type KnowledgeSource,
  type StoreSource,
  type SkillSource,
  type SqliteStore,
  type ToolkitDeps,
} from '@troupe/agent';
import {
  channelWebhook,
  createChannel,
  kindOf,
  readSettings as readChannelSettings,
  sendersIn,
  type Channel,
} from '@troupe/channels';
import { createAi, providersFrom, type Ai } from '@troupe/ai';
import { backend, type TeamStoreCall, type TypesOf } from '@troupe/contract';
import { BUILT_IN_CATALOGUE } from '@troupe/domain';
import {
  AppError,
  boundConnections,
  closeAll,
  connectionBounds,
  createOutbound,
  createWorkerPool,
  readSettings,
  REQUEST_TIMES,
  sameSecret,
  VERSION,
  type Log,
  type Outbound,
  type WorkerPool,
} from '@troupe/kernel';
import { createFacts } from './facts.ts';
import { createMeaning } from './meaning.ts';
import { ownersOf, programsOf } from './owners.ts';
import { firstDefinition, type AgentSettings } from './settings.ts';

/** One agent as a program of its own: what containers and Home installs run. */

export interface StandaloneAgent {
  url: string;
  agent: Agent;
  close: () => Promise<void>;
}

export interface StandaloneOptions {
  settings: AgentSettings;
  log: Log;
  /** Tests talk to stand-ins on this machine. */
  outbound?: Outbound;
  channelUrls?: Partial<Record<Channel['kind'], string>>;
  /** How often its memory is looked after, and how long a conversation rests before. */
  care?: { everyMs: number; restSeconds: number; onTurn?: (of: 'meanings' | 'facts') => void };
}

const MINUTE_MS = 60_000;
const TEAM_STORE_MS = 10_000;
/** So long an idle agent may hold a server that its owner has removed. */
const LOOK_MS = 30_000;
const SKILL_MS = 30_000;
const SKILL_ANSWER_BYTES = 16 * 1024 * 1024;
const BOUNDS = { MAX_CONNECTIONS: 1000, MAX_CONNECTIONS_PER_ADDRESS: 1000 };

export async function startAgent({
  settings,
  log,
  outbound = createOutbound({ privateHosts: settings.AGENT_PRIVATE_HOSTS }),
  channelUrls = {},
  care,
}: StandaloneOptions): Promise<StandaloneAgent> {
  const { AGENT_ID: agentId, TEAM_ID: teamId, DATA_DIR: dataDir } = settings;
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  // The operator named the platform's address: it may well be a private one.
  const platform = createOutbound({ allowPrivate: true, allowLoopback: true });
  const own = createSqliteStore({ file: path.join(dataDir, 'agent.db'), agentId, ...(teamId && { teamId }) });
  const store = shared(own, settings, platform);
  if (!(await store.definition())) await store.saveDefinition(firstDefinition(settings));
  const ai = thinking(settings, log);
  const pool = createWorkerPool();
  const { meaning, tending } = memoryCare({ store, ai, log, isShared: store !== own, ...care });
  const { programs, ...installing } = programsOf(settings, pool, log);
  const toolkit = toolkitFor(settings, platform, { store, programs, meaning, pool, outbound, log });
  const agent = wakeAgent({ agentId, store, model: ai, ...toolkit, log, onSleep: toolkit.close });
  const channels = await channelsOf(settings, { agent, outbound, pool, log, urls: channelUrls });

  const { server, gateway } = await openGateway(agent, channels, settings, log);
  await agent.resume();
  for (const channel of channels) await channel.start();
  const looking = lookForServers(agent, log);
  const heart = settings.HEARTBEAT === 'on' ? startHeart(agent, log) : undefined;

  return {
    url: addressOf(server),
    agent,
    // Newest first: nothing new comes in, work is handed back, then what it stood on goes.
    close: () =>
      closeAll([
        { close: async () => store.close() },
        pool,
        installing,
        outbound,
        platform,
        ai,
        { close: () => agent.sleep() },
        ...channels.map((channel) => ({ close: () => channel.stop() })),
        { close: () => closeServer(server) },
        gateway,
        ...tending,
        { close: async () => heart?.() },
        looking,
      ]),
  };
}

type Given = Pick<ToolkitDeps, 'store' | 'programs' | 'meaning' | 'pool' | 'outbound' | 'log'>;

const toolkitFor = (settings: AgentSettings, platform: Outbound, given: Given) =>
  createToolkit({
    ...given,
    owner: settings.AGENT_ID,
    workspaceRoot: path.join(settings.DATA_DIR, 'workspace'),
    // As its database does: its disk may be another machine's by the next moment.
    lasting: true,
    sandbox: createSandbox({ log: given.log }),
    egress: { rules: { privateHosts: settings.AGENT_PRIVATE_HOSTS } },
    ...fromPlatform(settings, platform, given.log),
  });

/** Servers that its owner has removed are let go of, also while nobody talks to the agent. */
function lookForServers(agent: Agent, log: Log) {
  const timer = setInterval(() => {
    agent.mcp?.inherited.check().catch((err: unknown) => log.warn({ err }, 'MCP servers could not be looked up'));
  }, LOOK_MS).unref();
  return { close: async () => clearInterval(timer) };
}

/** What is done with its memory in the background. */
type CareDeps = Omit<Parameters<typeof createFacts>[0], 'ai' | 'meant' | 'onTurn'> &
  Pick<NonNullable<StandaloneOptions['care']>, 'onTurn'>;

function memoryCare({ onTurn, ...deps }: CareDeps & { ai: Ai }) {
  const meaning = createMeaning({ ...deps, onTurn: () => onTurn?.('meanings') });
  const facts = createFacts({ ...deps, meant: meaning.of, onTurn: () => onTurn?.('facts') });
  return { meaning: meaning.of, tending: [meaning, facts] };
}

/** Its own door: all but its owner's own programs come in through the platform. */
async function openGateway(agent: Agent, channels: readonly Channel[], settings: AgentSettings, log: Log) {
  const agentId = agent.id;
  const server = http.createServer(
    REQUEST_TIMES,
    (request, response) => void gateway.handle(request, response, { agentId, path: request.url ?? '/' }),
  );
  const gateway = createGateway({
    agent: async () => agent,
    verify: async (_, token, { caller }) => principalOf(settings, token, caller),
    publicUrl: () => settings.PUBLIC_URL ?? addressOf(server),
    version: VERSION,
    log,
    webhook: (target, request, response) => channelWebhook(channels, target.path, request, response),
  });
  server.on(
    'upgrade',
    (request, socket, head) => void gateway.upgrade(request, socket, head, { agentId, path: request.url ?? '/' }),
  );
  // The platform's connections are many people's.
  boundConnections(server, connectionBounds({ ...BOUNDS, TRUST_PROXY: 1 }));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(settings.PORT, settings.HOST, resolve);
  });
  return { server, gateway };
}

/** Models come from the platform, through its OpenAI-compatible door; without one the built-in sandbox answers. */
function thinking({ PLATFORM_URL, PLATFORM_KEY, GATEWAY_TOKEN }: AgentSettings, log: Log) {
  const given = PLATFORM_URL
    ? { OPENROUTER_API_KEY: PLATFORM_KEY ?? GATEWAY_TOKEN, OPENROUTER_BASE_URL: `${PLATFORM_URL}/v1` }
    : {};
  const settings = readSettings(given);
  return createAi({ providers: providersFrom(settings), catalogue: BUILT_IN_CATALOGUE, log });
}

/** Guests come through the platform, which shows the agent's own token for them and says who they are. */
function principalOf(
  { GATEWAY_TOKEN, MEMBER_TOKEN }: AgentSettings,
  token: string,
  caller = 'member',
): GatewayPrincipal | undefined {
  if (sameSecret(token, GATEWAY_TOKEN)) return { id: 'owner', kind: 'owner' };
  if (MEMBER_TOKEN === undefined || !sameSecret(token, MEMBER_TOKEN)) return undefined;
  const kind = (['device', 'key'] as const).find((one) => caller.startsWith(`${one}:`)) ?? 'member';
  return { id: caller, kind };
}

/** What the team shares is the platform's to keep: the other members are on machines of their own. */
function shared(own: SqliteStore, { PLATFORM_URL, PLATFORM_KEY, TEAM_ID }: AgentSettings, outbound: Outbound) {
  if (PLATFORM_URL === undefined || PLATFORM_KEY === undefined || TEAM_ID === undefined) return own;
  const ask = async <T>(body: TeamStoreCall): Promise<T> => {
    const response = await outbound.fetch(PLATFORM_URL + backend.teams.askStore.path, {
      method: 'POST',
      headers: { authorization: `Bearer ${PLATFORM_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      timeout: TEAM_STORE_MS,
      redirects: 0,
    });
    const { result, error } = (await response.json()) as { result?: unknown; error?: string };
    if (response.status >= 400) throw new AppError(502, `What the team shares cannot be reached: ${error}`);
    return (result ?? undefined) as T;
  };
  return withTeamStore(own, {
    remember: (entry, bounds) => ask({ op: 'remember', ...entry, bounds }),
    recall: (search) => ask({ op: 'recall', ...search }),
    editMemory: (id, content, bounds) => ask({ op: 'editMemory', id, content, bounds }),
    forget: (id) => ask({ op: 'forget', id }),
    todos: () => ask({ op: 'todos' }),
    addTodos: (descriptions) => ask({ op: 'addTodos', descriptions: [...descriptions] }),
    setTodo: (id, status) => ask({ op: 'setTodo', id, status }),
  });
}

/** What the platform has for it: the members of its team, and its skills. */
const fromPlatform = (settings: AgentSettings, outbound: Outbound, log: Log) => ({
  ...peersOf(settings, outbound),
  ...skillsOf(settings, outbound, log),
  ...knowledgeOf(settings, outbound),
  ...storesOf(settings, outbound),
  ...ownersOf(settings, outbound, log),
});

/** Its owner's documents are searched by the platform, which knows which of them it was given. */
function knowledgeOf({ PLATFORM_URL, PLATFORM_KEY, GATEWAY_TOKEN }: AgentSettings, outbound: Outbound) {
  if (PLATFORM_URL === undefined) return {};
  const ask = async (path: string, body: object): Promise<Cited[] | undefined> => {
    const response = await outbound.fetch(PLATFORM_URL + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${PLATFORM_KEY ?? GATEWAY_TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      timeout: TEAM_STORE_MS,
      redirects: 0,
    });
    const { passages, error } = (await response.json()) as { passages?: Cited[]; error?: string };
    if (response.status === 404) return undefined;
    if (response.status >= 400 || !passages) throw new AppError(502, `The documents cannot be searched: ${error}`);
    return passages;
  };
  const knowledge: KnowledgeSource = {
    search: async (query, limit) => (await ask(backend.knowledge.search.path, { query, limit })) ?? [],
    read: (wanted) => ask(backend.knowledge.read.path, wanted),
  };
  return { knowledge };
}

/** Memory stores of sessions are the platform's, too. */
function storesOf({ PLATFORM_URL, PLATFORM_KEY, GATEWAY_TOKEN }: AgentSettings, outbound: Outbound) {
  if (PLATFORM_URL === undefined) return {};
  const { path: where } = backend.managed.useStore;
  type Asked = TypesOf<typeof backend.managed.useStore>;
  const ask = async (body: Asked['body']): Promise<Asked['reply']> => {
    const response = await outbound.fetch(PLATFORM_URL + where, {
      method: 'POST',
      headers: { authorization: `Bearer ${PLATFORM_KEY ?? GATEWAY_TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      timeout: TEAM_STORE_MS,
      redirects: 0,
    });
    const answer = (await response.json()) as Asked['reply'] & { error?: string };
    if (response.status >= 500) throw new AppError(502, `The memory stores cannot be reached: ${answer.error}`);
    if (response.status >= 400) throw new AppError(response.status, answer.error ?? 'The memory store refused');
    return answer;
  };
  const stores: StoreSource = {
    list: async (session, store) =>
      (await ask({ op: 'list', session, ...(store !== undefined && { store }) })).files ?? [],
    read: async (session, store, file) => (await ask({ op: 'read', session, store, path: file })).content,
    write: async (session, store, file, content) => {
      await ask({ op: 'write', session, store, path: file, content });
    },
    remove: async (session, store, file) => (await ask({ op: 'remove', session, store, path: file })).removed === true,
  };
  return { stores };
}

/** The platform keeps its owner's skills; it gives this agent those that its definition names. */
function skillsOf(
  { PLATFORM_URL, PLATFORM_KEY, GATEWAY_TOKEN, DATA_DIR }: AgentSettings,
  outbound: Outbound,
  log: Log,
) {
  if (PLATFORM_URL === undefined) return {};
  const source: SkillSource = async (digest) => {
    const response = await outbound.fetch(PLATFORM_URL + backend.skills.get.path.replace(':digest', digest), {
      headers: { authorization: `Bearer ${PLATFORM_KEY ?? GATEWAY_TOKEN}` },
      timeout: SKILL_MS,
      maxBytes: SKILL_ANSWER_BYTES,
      redirects: 0,
    });
    const body = (await response.json()) as { files?: { path: string; content: string }[]; error?: string };
    if (response.status === 404) return undefined;
    if (response.status !== 200 || !body.files) throw new AppError(502, `The skill cannot be fetched: ${body.error}`);
    return body.files.map(({ path: name, content }) => ({ path: name, content: Buffer.from(content, 'base64') }));
  };
  return { skills: { shelf: createShelf({ root: path.join(DATA_DIR, 'skills'), log }), source } };
}

/** Members of the team are reached through the platform, which knows this agent by its token for that. */
function peersOf({ PLATFORM_URL, MEMBER_TOKEN }: AgentSettings, outbound: Outbound) {
  if (PLATFORM_URL === undefined || MEMBER_TOKEN === undefined) return {};
  const url = (id: string): string => `${PLATFORM_URL}/api/runtime/proxy/${encodeURIComponent(id)}`;
  return {
    peers: async ({ agentId }: { agentId: string }) => remotePeer({ url: url(agentId), token: MEMBER_TOKEN, outbound }),
  };
}

/** What opens its channels, by their kind: as the platform gives it, or as an owner sets one by hand. */
function opening({ TELEGRAM_TOKEN, WHATSAPP_TOKEN, DISCORD_TOKEN, CHANNELS }: AgentSettings) {
  const byHand = { channelA: TELEGRAM_TOKEN, channelB: WHATSAPP_TOKEN, channelC: DISCORD_TOKEN };
  return Object.entries({ ...byHand, ...CHANNELS }).flatMap(([name, opens]) => {
    const kind = kindOf(name);
    return kind === undefined || opens === undefined ? [] : [{ kind, settings: readChannelSettings(opens) }];
  });
}

async function channelsOf(
  agentSettings: AgentSettings,
  {
    agent,
    outbound,
    pool,
    log,
    urls,
  }: { agent: Agent; outbound: Outbound; pool: WorkerPool; log: Log; urls: Partial<Record<Channel['kind'], string>> },
): Promise<Channel[]> {
  const { CHANNEL_USERS, PUBLIC_URL } = agentSettings;
  return Promise.all(
    opening(agentSettings).map(({ kind, settings }) => {
      const baseUrl = urls[kind];
      return createChannel(kind, {
        agent,
        settings,
        outbound,
        pool,
        owner: agent.id,
        log,
        allowedSenders: kind === 'email' ? [] : [...CHANNEL_USERS, ...sendersIn(settings)],
        ...(baseUrl && { baseUrl }),
        ...(PUBLIC_URL && { publicUrl: PUBLIC_URL }),
      });
    }),
  );
}

/** Wakes the agent as often as its configuration says; a change counts from the next beat. */
function startHeart(agent: Agent, log: Log): () => void {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  async function next(): Promise<void> {
    const { definition } = await agent.definition();
    if (!stopped) timer = setTimeout(() => void beat(), definition.config.cron.heartbeatIntervalMinutes * MINUTE_MS);
  }
  async function beat(): Promise<void> {
    await agent.heartbeat().catch((err: unknown) => log.error({ err }, 'heartbeat failed'));
    await next();
  }
  void next().catch((err: unknown) => log.error({ err }, 'no heartbeat'));
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}

function addressOf(server: http.Server): string {
  const { address, port, family } = server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

function closeServer(server: http.Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
}
