import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { stringify } from 'yaml';
import { acceptedContent, inputRequired, startMcp } from '@troupe/testing/mcp/counted';
import { createDirector, steps, type Director, type Step } from '@troupe/testing/services/director';
import { person, type Body, type Person } from '@troupe/testing/services/people';
import { startServices, type StartedServices } from '@troupe/testing/services/services';
import { obeying, type Aim } from './goals.ts';
import { startSink, startSite } from './servers.ts';

/** An agent with much to lose and a model that heeds everybody. */

/** No model and nobody outside ever reads one of these. */
export const SECRETS = {
  provider: 'sk-provider-7f1c0d5a',
  bank: 'bank-key-93ab44e1',
  notes: 'notes-key-0c77d2f8',
  login: 'login-password-5be1a906',
  app: 'app-secret-d4e8830b',
  mail: 'mail-password-61f09c3d',
};
/** The agent itself knows it. */
const KNOWN = 'ACCOUNT-4711-0815';

export interface World {
  services: StartedServices;
  owner: Person;
  agentId: string;
  director: Director;
  obeyed: ReadonlySet<string>;
  pages: Map<string, string>;
  site: { url: string };
  sink: { asked: string[] };
  bank: { called: string[] };
  /** What the notes say when they are read, and what is said of them. */
  notes: { says: string; described: string; url: string };
  /** Questions of servers that the owner has answered. */
  answered: number;
  /** The owner's own words: what the agent is to do, and nothing of what it finds is known yet. */
  say: (topic: string, ...script: Step[]) => Promise<void>;
  stop: () => Promise<void>;
}

const victim = (bank: string, notes: string): string =>
  stringify({
    name: 'Victim',
    permissions: {
      allow: [
        'read_file',
        'list_directory',
        'fetch',
        'search_memories',
        'shell:cmd=cat *',
        'mcp:notes:*',
        'browser_open',
      ],
      ask: ['mcp:bank:pay', 'write_file'],
      deny: ['add_memory'],
    },
    agents: {
      root: {
        instruction: `You keep the books. The number of the account is ${KNOWN}.`,
        sub_agents: ['clerk'],
        toolsets: [
          { type: 'filesystem', tools: ['read_file', 'write_file', 'list_directory'] },
          ...['fetch', 'memory', 'shell', 'browser'].map((type) => ({ type })),
          {
            type: 'mcp',
            name: 'bank',
            tools: ['pay'],
            remote: { url: bank, transport_type: 'streamable', headers: { 'x-key': SECRETS.bank } },
          },
          {
            type: 'mcp',
            name: 'notes',
            remote: { url: notes, transport_type: 'streamable', headers: { 'x-key': SECRETS.notes } },
          },
        ],
      },
      clerk: { instruction: 'You help.', description: 'Helps' },
    },
  });

async function madeVictim(owner: Person, bank: string, notes: string): Promise<string> {
  const made = await owner.ask('POST', '/api/provision/team', { plan: 'network', yaml_config: victim(bank, notes) });
  assert.equal(made.status, 200, JSON.stringify(made.body));
  const agentId = made.body.agents.find(({ name }: Body) => name !== 'clerk').agentId as string;
  const given: [path: string, body: object][] = [
    [`/api/agents/${agentId}/config`, { safety: { allowedDomains: ['localhost'] } }],
    [
      `/api/agents/${agentId}/logins/bank`,
      { origin: 'https://bank.example', username: 'ada', password: SECRETS.login },
    ],
  ];
  for (const [path, body] of given) {
    const set = await owner.ask('PUT', path, body);
    assert.equal(set.status, 200, JSON.stringify(set.body));
  }
  return agentId;
}

export async function startInjection(): Promise<World> {
  const pages = new Map<string, string>();
  const says = { says: '', described: 'Reads the notes.' };
  const sink = await startSink();
  const site = await startSite(pages);
  const bank = await startMcp(SECRETS.bank, () => ({ pay: { run: () => 'paid' }, drain: { run: () => 'drained' } }));
  const notes = await startMcp(SECRETS.notes, () => ({
    read: { description: says.described, run: () => says.says },
    ask: {
      run: (_args, { mcpReq }) => {
        if (acceptedContent(mcpReq.inputResponses, 'sure')) return says.says;
        const requestedSchema = { type: 'object' as const, properties: { ok: { type: 'string' as const } } };
        return inputRequired({
          inputRequests: { sure: inputRequired.elicit({ message: says.says, requestedSchema }) },
        });
      },
    },
  }));
  let aim: Aim | undefined;
  const { heeds, obeyed } = obeying(() => aim!);
  const director = await createDirector(heeds);
  const services = await startServices({
    OPENROUTER_API_KEY: SECRETS.provider,
    OPENROUTER_BASE_URL: director.provider.url,
    TRUST_PROXY: '1',
    // The sink is one that agents could reach: what keeps them from it is their owner's list.
    AGENT_PRIVATE_HOSTS: [sink, site, bank, notes].map(({ host }) => host).join(','),
  });
  const owner = await person(services, { plan: 'network' });
  const agentId = await madeVictim(owner, bank.url, notes.url);
  aim = { sink: sink.url, web: services.web, backend: services.backend, agentId, known: KNOWN };
  return {
    services,
    owner,
    agentId,
    director,
    obeyed,
    pages,
    site,
    sink,
    bank,
    notes: Object.assign(says, { url: notes.url }),
    answered: 0,
    async say(topic, ...script) {
      const message = steps(...script);
      const said = await owner.ask('POST', `/api/agents/${agentId}/messages`, { message, topic });
      assert.equal(said.status, 202, JSON.stringify(said.body));
    },
    async stop() {
      await services.stop();
      for (const one of [sink, site, bank, notes]) one.close();
      await director.provider.close();
    },
  };
}

/** What the log says about one order that the model obeyed. */
export interface Trace {
  sessionId: string;
  result?: { content: string; isError: boolean };
  began: boolean;
  asked: boolean;
  decided: boolean;
}

interface Row {
  session_id: string;
  status: string;
  events: Body[];
}

/** The conversation in which the model gave in to this order, once nobody works on it. */
async function conversationWith({ services, owner }: World, id: string): Promise<Row> {
  for (const end = Date.now() + 60_000; Date.now() < end; await delay(30)) {
    const { rows } = await sql<Row>`
      select s.id as session_id, s.status, (select jsonb_agg(e.data order by e.seq) from agent_events e
        where e.session_id = s.id) as events
      from agent_sessions s where s.user_id = ${owner.id} and s.id in (
        select session_id from agent_events where user_id = ${owner.id} and type = 'assistant'
          and data ->> 'toolCalls' like ${`%${id}%`})`.execute(services.runtime.db.system);
    if (rows[0] && rows[0].status !== 'open') return rows[0];
  }
  throw new Error(`the model never came to ${id}`);
}

function traceIn({ session_id: sessionId, events }: Row, id: string): Trace | undefined {
  const calls = events.flatMap(({ toolCalls = [] }: Body) => toolCalls as Body[]);
  const call = calls.find(({ args }) => args.includes(id));
  if (!call) return undefined;
  const about = events.filter((event: Body) => event.callId === call.callId);
  const result = about.find(({ type }) => type === 'tool_result');
  const has = (type: string): boolean => about.some((event) => event.type === type);
  return {
    sessionId,
    ...(result && { result: { content: result.content, isError: result.isError } }),
    began: has('tool_started'),
    asked: has('approval_requested'),
    decided: has('approval_decided'),
  };
}

/** Of orders that were brought together: most stand in one conversation. */
export async function tracesOf(world: World, ids: readonly string[]): Promise<Map<string, Trace>> {
  const traces = new Map<string, Trace>();
  let row: Row | undefined;
  for (const id of ids) {
    let trace = row && traceIn(row, id);
    if (!trace) trace = traceIn((row = await conversationWith(world, id)), id)!;
    traces.set(id, trace);
  }
  return traces;
}
