import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import pg from 'pg';
import type { Browser, Page } from 'playwright-core';
import { openBrowser, openPage, settle, signIn } from '../tests/e2e/browser.ts';
import { signedInCaller } from '../tests/e2e/content.ts';
import { startPlatform, type RunningPlatform } from '../tests/e2e/platform.ts';
import { createWordsModel } from '../tests/e2e/words-model.ts';
import { finish, printTable, type Row } from './lib/report.ts';
import { openings } from './dashboard/open.ts';
import { streamBytes } from './dashboard/streams.ts';
import { readTrace, type TraceEvent } from './dashboard/trace.ts';
import { firstWords } from './dashboard/words.ts';

/**
 * The dashboard in a real browser: what its own tracing says about each page, lists of 1,000 agents and 1,000
 * conversations, how soon a model's first word is drawn, and what a live stream costs the server.
 */

const AGENTS = 1000;
const CONVERSATIONS = 1000;
const STEPS = 2500;
const TABS = 500;
const WORDS = 10;
const OPENINGS = 9;
/** Longer, and a person feels it. */
const STALL_MS = 100;
const CATEGORIES = [
  'loading',
  'devtools.timeline',
  'disabled-by-default-devtools.timeline',
  'devtools.timeline.frame',
  'disabled-by-default-devtools.timeline.frame',
  'blink.user_timing',
  'toplevel',
];

const PAGES: [name: string, path: string][] = [
  ['login', '/login'],
  ['landing', '/'],
  ['overview', '/dashboard'],
  ['agents', '/dashboard/agents'],
  ['chat', '/dashboard/agents/:agent'],
  ['teams', '/dashboard/teams?tab=editor'],
  ['tasks', '/dashboard/tasks'],
  ['cost', '/dashboard/cost'],
  ['wallet', '/dashboard/wallet'],
  ['settings', '/dashboard/settings'],
];

interface Figures {
  script: number;
  fcp: number;
  lcp: number;
  blocked: number;
  shift: number;
}

/** One visit with an empty cache, traced by the browser. */
async function visit(browser: Browser, page: Page, path: string): Promise<Figures> {
  const session = await page.context().newCDPSession(page);
  await session.send('Network.setCacheDisabled', { cacheDisabled: true });
  const bodies: Promise<Buffer>[] = [];
  const collect = (response: { request: () => { resourceType: () => string }; body: () => Promise<Buffer> }) => {
    if (response.request().resourceType() === 'script') bodies.push(response.body().catch(() => Buffer.alloc(0)));
  };
  page.on('response', collect);
  const trace = await traced(browser, page, async () => {
    await settle(page, path);
    // What moves or blocks after the content is there counts, too.
    await page.waitForTimeout(1000);
  });
  page.off('response', collect);
  await session.detach();
  const sizes = (await Promise.all(bodies)).map((body) => gzipSync(body).length);
  const { fcp, lcp, blocked, shift } = readTrace(trace);
  return { script: sizes.reduce((sum, size) => sum + size, 0), fcp, lcp, blocked, shift };
}

async function traced(browser: Browser, page: Page, work: () => Promise<void>): Promise<TraceEvent[]> {
  await browser.startTracing(page, { categories: CATEGORIES });
  await work();
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] };
  return traceEvents;
}

/** Rows of a table again and again, but for what is said: as many as there are numbers from 2 on. */
type Copy = (table: string, key: string, like: string, upTo: number, replaced: Record<string, string>) => Promise<void>;

async function copying(
  { dataDir }: RunningPlatform,
  work: (copy: Copy, database: pg.Client) => Promise<void>,
): Promise<void> {
  const database = new pg.Client({ host: join(dataDir, 'run'), user: 'troupe', database: 'troupe', port: 5432 });
  await database.connect();
  try {
    await work(async (table, key, like, upTo, replaced) => {
      const { rows } = await database.query<{ column_name: string }>(
        `select column_name from information_schema.columns where table_name = $1 and is_generated = 'NEVER' and identity_generation is null`,
        [table],
      );
      const names = rows.map(({ column_name: name }) => name);
      const values = names.map((name) => replaced[name] ?? `"${name}"`);
      await database.query(
        `insert into ${table} (${names.map((name) => `"${name}"`).join()}) select ${values.join()} from ${table}, generate_series(2, ${upTo}) n where ${key} = $1`,
        [like],
      );
    }, database);
  } finally {
    await database.end();
  }
}

/** A thousand agents with the one that talks: rows, as every agent is. */
const addAgents = (platform: RunningPlatform, like: string): Promise<void> =>
  copying(platform, async (copy) => {
    const id = `'bench-' || n`;
    await copy('agents', 'id', like, AGENTS - 1, {
      id,
      name: `'Agent ' || n`,
      token_hash: 'md5(n::text)',
    });
    await copy('agent_definitions', 'agent_id', like, AGENTS - 1, {
      agent_id: id,
      definition: `jsonb_set(definition, '{name}', to_jsonb('Agent ' || n))`,
    });
  });

/** A thousand conversations of one agent, each with its steps. */
const addConversations = (platform: RunningPlatform, like: string): Promise<void> =>
  copying(platform, async (copy) => {
    await copy('agent_sessions', 'id', like, CONVERSATIONS, {
      id: `'talk-' || n`,
      key: `'talk-' || n`,
      title: `'Talk ' || n`,
      updated_at: `updated_at - n * interval '1 minute'`,
    });
    await copy('agent_events', 'session_id', like, CONVERSATIONS, {
      session_id: `'talk-' || n`,
      input_id: 'null',
      data: `case data ->> 'type' when 'user' then jsonb_set(data, '{content}', to_jsonb('Hello number' || n)) else data end`,
    });
  });

/** What was said once, again and again, with a number: a conversation of thousands of steps. Answers its last words. */
async function addSteps(platform: RunningPlatform, sessionId: string): Promise<string> {
  let times = 0;
  await copying(platform, async (copy, database) => {
    const { rows } = await database.query<{ steps: number }>(
      'select last_seq::integer as steps from agent_sessions where id = $1',
      [sessionId],
    );
    const { steps } = rows[0]!;
    times = Math.ceil(STEPS / steps);
    await copy('agent_events', 'session_id', sessionId, times, {
      seq: `seq + (n - 1) * ${steps}`,
      input_id: 'null',
      data: `case when data ? 'content' then jsonb_set(data, '{content}', to_jsonb('Number ' || n || '.')) else data end`,
    });
    await database.query('update agent_sessions set last_seq = $2 where id = $1', [sessionId, times * steps]);
  });
  return `Number ${times}.`;
}

/** All of them listed, page after page; scrolled; searched by a word that stands in one. */
async function longTalk(browser: Browser, page: Page, agentId: string): Promise<Row> {
  await settle(page, `/dashboard/agents/${agentId}?tab=chat`);
  const list = page.getByRole('navigation', { name: 'Conversations' });
  // Only those in sight are in the document; each says how many there are.
  const known = async () => Number(await list.locator('li[aria-setsize]').last().getAttribute('aria-setsize'));
  const listing = await traced(browser, page, async () => {
    for (;;) {
      const before = await known();
      const older = list.getByRole('button', { name: 'Show older ones' });
      if ((await older.count()) === 0) break;
      await older.click();
      while ((await known()) === before && (await older.count()) > 0) await page.waitForTimeout(20);
    }
  });
  const listed = await known();
  await list.hover();
  const scrolling = await traced(browser, page, async () => {
    for (let turn = 0; turn < 60; turn += 1) {
      await page.mouse.wheel(0, turn < 30 ? 1800 : -1800);
      await page.waitForTimeout(16);
    }
  });
  let answered = 0;
  const searching = await traced(browser, page, async () => {
    const began = performance.now();
    await list.getByLabel('Search in all conversations').pressSequentially('number777', { delay: 30 });
    await list.getByRole('button', { name: /Talk 777/ }).waitFor();
    answered = performance.now() - began;
  });
  return {
    listed,
    'list: longest task ms': readTrace(listing).longest,
    'scroll: longest task ms': readTrace(scrolling).longest,
    'search: longest task ms': readTrace(searching).longest,
    'search: nine keys typed and shown ms': answered,
  };
}

/** From one end of the list to the other, then filters by typing: the longest stall that the trace shows. */
async function longList(browser: Browser, page: Page): Promise<Row> {
  await settle(page, '/dashboard/agents');
  const list = page.getByRole('region', { name: 'Agents' });
  await list.hover();
  const scrolling = await traced(browser, page, async () => {
    for (let turn = 0; turn < 60; turn += 1) {
      await page.mouse.wheel(0, turn < 30 ? 1800 : -1800);
      await page.waitForTimeout(16);
    }
  });
  const rows = await list.getByRole('row').count();
  let answered = 0;
  const filtering = await traced(browser, page, async () => {
    const began = performance.now();
    await page.getByLabel('Filter').pressSequentially('agent 77', { delay: 30 });
    await page.getByText('11 of 1000').waitFor();
    answered = performance.now() - began;
  });
  return {
    'rows in the document': rows,
    'scroll: longest task ms': readTrace(scrolling).longest,
    'scroll: longest frame ms': readTrace(scrolling).longestFrame,
    'filter: longest task ms': readTrace(filtering).longest,
    'filter: eight keys typed and shown ms': answered,
  };
}

const model = await createWordsModel();
const platform = await startPlatform(model.env);
const browser = await openBrowser();
try {
  const { call } = await signedInCaller(platform, platform.owner);
  const { agent } = await call<{ agent: { id: string } }>('POST', '/api/agents/provision', {
    name: 'Agent 1',
    model: 'sandbox/echo',
  });
  await call('POST', '/api/chat', { agentId: agent.id, message: 'Hello' });
  await addAgents(platform, agent.id);
  const talker = await call<{ agent: { id: string } }>('POST', '/api/agents/provision', {
    name: 'Talker',
    model: 'xiaomi/mimo-v2-pro',
    config: { tools: [] },
  });
  const talkerId = talker.agent.id;
  await call('POST', '/api/chat', { agentId: talkerId, message: 'Hello' });
  const { sessions } = await call<{ sessions: { id: string }[] }>('GET', `/api/agents/${talkerId}/sessions`);
  await addConversations(platform, sessions[0]!.id);
  const { page, context } = await openPage(browser, platform.url, { viewport: { width: 1280, height: 860 } });
  // The browser's own start is not ours.
  await settle(page, '/pricing');
  const found: [string, Figures][] = [];
  for (const [name, path] of PAGES) {
    if (path.startsWith('/dashboard') && !page.url().includes('/dashboard')) await signIn(page, platform.owner);
    found.push([name, await visit(browser, page, path.replace(':agent', agent.id))]);
  }
  printTable(
    'Pages, empty cache; milliseconds since navigation',
    found.map(([name, { script, fcp, lcp, blocked, shift }]) => ({
      page: name,
      'script kB gzipped': script / 1000,
      'first paint': fcp,
      'largest paint': lcp,
      blocked: blocked,
      'layout shift': shift.toFixed(3),
    })),
  );
  const list = await longList(browser, page);
  printTable(`A list of ${AGENTS} agents`, [{ list: 'agents', ...list }]);
  const talk = await longTalk(browser, page, talkerId);
  printTable(`A list of ${CONVERSATIONS} conversations`, [{ list: 'conversations', ...talk }]);
  const reader = await call<{ agent: { id: string } }>('POST', '/api/agents/provision', {
    name: 'Reader',
    model: 'sandbox/echo',
    config: { tools: [] },
  });
  const readerId = reader.agent.id;
  await call('POST', '/api/chat', { agentId: readerId, message: 'Hello' });
  const read = await call<{ sessions: { id: string }[] }>('GET', `/api/agents/${readerId}/sessions`);
  const lastWords = await addSteps(platform, read.sessions[0]!.id);
  const opened = (await openings(page, readerId, lastWords, OPENINGS)).toSorted((a, b) => a - b);
  const waits = (await firstWords(page, talkerId, model, WORDS)).toSorted((a, b) => a - b);
  const streamKb = (await streamBytes(TABS)) / 1000;
  printTable('Words and streams', [
    {
      what: `a conversation of ${STEPS} steps, opened at its end, ms`,
      middle: opened[opened.length >> 1]!,
      longest: opened.at(-1)!,
    },
    {
      what: 'the model’s first word, until it is drawn, ms',
      middle: waits[waits.length >> 1]!,
      longest: waits.at(-1)!,
    },
    { what: `a live stream on the server, kB, ${TABS} tabs`, middle: streamKb, longest: streamKb },
  ]);
  await context.close();
  const most = (pick: (figures: Figures) => number) => Math.max(...found.map(([, figures]) => pick(figures)));
  finish(
    'dashboard',
    [
      { figure: 'login_script_kb', value: found[0]![1].script / 1000, atMost: 200 },
      { figure: 'most_script_kb', value: most(({ script }) => script) / 1000, atMost: 300 },
      {
        figure: 'scroll_longest_ms',
        value: Math.max(Number(list['scroll: longest task ms']), Number(list['scroll: longest frame ms'])),
        atMost: STALL_MS,
      },
      { figure: 'filter_longest_ms', value: Number(list['filter: longest task ms']), atMost: STALL_MS },
      { figure: 'conversations_listed', value: Number(talk['listed']), atLeast: CONVERSATIONS },
      {
        figure: 'conversations_longest_ms',
        value: Math.max(...['list', 'scroll', 'search'].map((part) => Number(talk[`${part}: longest task ms`]))),
        atMost: STALL_MS,
      },
      { figure: 'open_2500_ms', value: opened[opened.length >> 1]!, atMost: 1000 },
      { figure: 'first_word_ms', value: waits[waits.length >> 1]!, atMost: 100 },
      { figure: 'live_stream_kb', value: streamKb, atMost: 20 },
    ],
    {
      most_lcp_ms: most(({ lcp }) => lcp),
      most_blocked_ms: most(({ blocked }) => blocked),
      most_shift: most(({ shift }) => shift),
    },
  );
} finally {
  await browser.close();
  await platform.stop();
  await model.close();
}
