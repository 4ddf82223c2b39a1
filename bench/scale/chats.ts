import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Database } from '@troupe/db';
import { testDatabase } from '@troupe/testing/database/server';
import { cookieOf } from '@troupe/testing/services/people';
import { addUser } from '@troupe/testing/services/users';
import { startService } from '../lib/child.ts';
import { load, type Load } from '../lib/load.ts';
import { finish, printTable } from '../lib/report.ts';
import { from, KEY, main, secondsBelow, secondsOf, SETTINGS, statOf } from './setup.ts';

/**
 * What one chat through web takes of web, of a backend and of the database: processor time, transactions, bytes of the log and on disk. Unlike a
 * rate this hardly depends on what else the machine does, and so it can be multiplied.
 */

const WARM = Number(process.env['BENCH_WARM'] ?? 1500);
const CHATS = Number(process.env['BENCH_CHATS'] ?? 3000);
const AGENTS = 50;
const USERS = 10;
/** As many exchanges has a conversation: its history is read again with each. */
const EXCHANGES = 10;
const CONNECTIONS = 8;
const QUESTION = 'Say something short about the sea, and then something shorter.';
interface Taken {
  web: number;
  backend: number;
  database: number;
  transactions: number;
  log: number;
  stored: number;
}

interface Agent {
  id: string;
  cookie: string;
}

async function makeAgents(db: Database, web: string): Promise<Agent[]> {
  const agents: Agent[] = [];
  for (let user = 0; user < USERS; user += 1) {
    const cookie = await cookieOf(db, await addUser({ db }, { plan: 'network' }));
    for (let number = 0; number < AGENTS / USERS; number += 1) {
      const answer = await fetch(`${web}/api/agents/provision`, {
        method: 'POST',
        headers: {
          cookie,
          authorization: `Bearer ${KEY}`,
          'content-type': 'application/json',
          ...from(agents.length * 4),
        },
        body: JSON.stringify({ name: `Agent ${number}` }),
      });
      if (answer.status !== 201) throw new Error(`no agent: ${answer.status} ${await answer.text()}`);
      const { agent } = (await answer.json()) as { agent: { id: string } };
      agents.push({ id: agent.id, cookie });
    }
  }
  return agents;
}

const chat = (web: string, agents: readonly Agent[], run: string, calls: number): Promise<Load> =>
  load({
    url: `${web}/api/chat`,
    headers: { authorization: `Bearer ${KEY}` },
    body: '',
    connections: CONNECTIONS,
    milliseconds: 600_000,
    calls,
    vary: (n) => {
      const { id, cookie } = agents[n % agents.length]!;
      const topic = `${run}-${Math.floor(n / agents.length / EXCHANGES)}`;
      return { headers: { cookie, ...from(n) }, body: JSON.stringify({ agentId: id, message: QUESTION, topic }) };
    },
  });

export async function benchChats(): Promise<void> {
  const database = await testDatabase();
  const upstream = await startService(new URL('../ai/upstream.ts', import.meta.url), {});
  const settings = { ...SETTINGS, DATABASE_URL: database.url, OPENROUTER_BASE_URL: `${upstream.address}/v1` };
  const backend = await startService(main('backend'), { ...settings, BACKEND_PORT: '0' });
  const web = await startService(main('web'), { ...settings, WEB_PORT: '0', BACKEND_URL: backend.address });
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const one = async (query: string): Promise<number> => Number(Object.values((await client.query(query)).rows[0])[0]);
  const postmaster = Number(statOf(await one('select pg_backend_pid()'))[1]);

  async function taken(): Promise<Taken> {
    // what a connection did is counted a moment later, and usage is written in batches
    await delay(5_000);
    return {
      web: secondsOf(web.pid),
      backend: secondsOf(backend.pid),
      database: secondsBelow(postmaster),
      transactions: await one(
        'select xact_commit + xact_rollback from pg_stat_database where datname = current_database()',
      ),
      log: await one("select pg_current_wal_insert_lsn() - '0/0'::pg_lsn"),
      stored: await one('select pg_database_size(current_database())'),
    };
  }

  try {
    const agents = await makeAgents(database.db, web.address);
    await chat(web.address, agents, 'warm', WARM);
    await client.query('analyze');
    const before = await taken();
    const { calls } = await chat(web.address, agents, 'measured', CHATS);
    report(before, await taken(), calls, { web_mb: web.memory(), backend_mb: backend.memory() });
  } finally {
    await client.end();
    await web.stop();
    await backend.stop();
    await upstream.stop();
    await database.drop();
  }
}

function report(before: Taken, after: Taken, calls: number, memory: Record<string, number>): void {
  const each = (name: keyof Taken, unit: number): number => ((after[name] - before[name]) / calls) * unit;
  const cpu = {
    web_cpu_ms: each('web', 1000),
    backend_cpu_ms: each('backend', 1000),
    database_cpu_ms: each('database', 1000),
  };
  const kept = {
    transactions: each('transactions', 1),
    log_kb: each('log', 1 / 1024),
    stored_kb: each('stored', 1 / 1024),
  };
  printTable(`One of ${calls} chats, ${AGENTS} agents, ${EXCHANGES} exchanges a conversation`, [
    { ...cpu, ...kept, ...memory },
  ]);
  finish(
    'scale chats',
    [
      { figure: 'transactions', value: kept.transactions, atMost: 6 },
      { figure: 'log_kb', value: kept.log_kb, atMost: 12 },
      { figure: 'stored_kb', value: kept.stored_kb, atMost: 6 },
    ],
    { ...cpu, ...memory },
  );
}
