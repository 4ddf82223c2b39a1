import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Runtime } from '@troupe/db';
import type { Env } from '@troupe/kernel';
import { verifyLedger } from '@troupe/ledger';
import { tapDatabase, type DatabaseTap } from './database-tap.ts';

/** Services in processes of their own that are killed in the middle of payments, and what must be true afterwards. */

const ROOT = path.resolve(import.meta.dirname, '../../..');

export interface Answer {
  status: number;
  // Tests look into bodies of any shape.
  // oxlint-disable-next-line typescript/no-explicit-any -- each test says what it reads of an answer
  body: any;
}

export interface Child {
  address: string;
  ask: (method: string, url: string, body?: object | string, headers?: Record<string, string>) => Promise<Answer>;
  kill: () => Promise<void>;
}

export async function ask(
  address: string,
  method: string,
  url: string,
  body?: object | string,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const answer = await fetch(address + url, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    body: typeof body === 'object' ? JSON.stringify(body) : body,
  });
  return { status: answer.status, body: await answer.json() };
}

/** A process of its own with one service in it, on the database of `runtime`. */
export async function startChild(app: 'web' | 'backend', { settings, dataDir }: Runtime, env: Env): Promise<Child> {
  const child = spawn(process.execPath, [path.join(ROOT, 'scripts/start.mjs'), app], {
    env: {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      NODE_ENV: 'test',
      LOG_LEVEL: 'info',
      WEB_PORT: '0',
      BACKEND_PORT: '0',
      DATA_DIR: dataDir,
      INTERNAL_API_KEY: settings.INTERNAL_API_KEY,
      SESSION_SECRET: settings.SESSION_SECRET,
      WALLET_ENCRYPTION_KEY: settings.WALLET_ENCRYPTION_KEY,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const address = await new Promise<string>((resolve, reject) => {
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => {
      output += String(chunk);
      const found = /"address":"(http[^"]+)"/.exec(output)?.[1];
      if (found) resolve(found);
    });
    void gone.then(() => reject(new Error(`${app} ended: ${output}`)));
  });
  return {
    address,
    ask: (...request) => ask(address, ...request),
    async kill() {
      child.kill('SIGKILL');
      await gone;
    },
  };
}

/** Has the process killed at some moment from now on. */
type Moment = (kill: () => Promise<void>) => void;

export interface Payment<S> {
  start: (databaseUrl: string) => Promise<Child>;
  prepare: () => Promise<S>;
  work: (child: Child, state: S) => Promise<Answer>;
  /** `answer` is null when the process died before it answered. Throws when money is lost, made, or moved twice. */
  check: (state: S, answer: Answer | null) => Promise<void>;
  /** Nobody lives on: the next process brings things to an end, before it is killed itself. */
  alone?: boolean;
  /** Selects as `what` whatever else must come to an end. */
  open?: string;
  /** Moments outside of the database, by name. */
  moments?: Record<string, Moment>;
  /** Takes all `moments` back. */
  disarm?: () => void;
}

/** Kills a payment before each step that lasts, after the last one, and at its other moments; each time it is checked. */
export async function killAtEveryStep<S>(t: TestContext, runtime: Runtime, payment: Payment<S>): Promise<void> {
  const tap = await tapDatabase(runtime.databaseUrl);
  const scene = { runtime, tap, payment };
  let next: Child | undefined;
  t.after(() => next?.kill());
  try {
    const { steps, rescuer } = await countSteps(scene);
    next = rescuer;
    assert.ok(steps > 0, 'nothing was written');
    const moments = new Map<string, Moment>(Object.entries(payment.moments ?? {}));
    for (let step = 1; step <= steps; step += 1)
      moments.set(`before step ${step} of ${steps}`, atStep(tap, step, 'before'));
    moments.set('after the last step', atStep(tap, steps, 'after'));
    for (const [name, moment] of moments)
      await t.test(name, async () => {
        const child = next ?? (await payment.start(tap.url));
        next = undefined;
        next = await killOnce(scene, child, moment);
      });
  } finally {
    tap.close();
  }
}

interface Scene<S> {
  runtime: Runtime;
  tap: DatabaseTap;
  payment: Payment<S>;
}

const atStep =
  (tap: DatabaseTap, step: number, at: 'before' | 'after'): Moment =>
  (kill) => {
    let seen = 0;
    tap.onStep = async (_sql, when) => {
      if (when === at && (seen += 1) === step) await kill();
    };
  };

/** Nobody is killed: it happens once, and this many steps last. */
async function countSteps<S>(scene: Scene<S>): Promise<{ steps: number; rescuer: Child | undefined }> {
  const { tap, payment } = scene;
  const child = await payment.start(tap.url);
  const state = await payment.prepare();
  let steps = 0;
  tap.onStep = (_sql, when) => void (steps += when === 'after' ? 1 : 0);
  const answer = await payment.work(child, state);
  tap.onStep = () => {};
  assert.ok(answer.status < 300, JSON.stringify(answer));
  await child.kill();
  return { steps, rescuer: await checked(scene, state, answer) };
}

/** Returns who lives on, where that is somebody. */
async function killOnce<S>(scene: Scene<S>, child: Child, moment: Moment): Promise<Child | undefined> {
  const { tap, payment } = scene;
  const state = await payment.prepare();
  let died = false;
  moment(async () => {
    died = true;
    await child.kill();
  });
  const answer = await payment.work(child, state).catch(() => null);
  tap.onStep = () => {};
  payment.disarm?.();
  await child.kill();
  assert.ok(died, 'the moment to be killed at never came');
  return checked(scene, state, answer);
}

async function checked<S>(scene: Scene<S>, state: S, answer: Answer | null): Promise<Child | undefined> {
  const { runtime, tap, payment } = scene;
  const rescuer = payment.alone ? await payment.start(tap.url) : undefined;
  try {
    await settled(runtime, payment.open);
    await payment.check(state, answer);
    return rescuer;
  } catch (error) {
    await rescuer?.kill();
    throw error;
  }
}

const OPEN = `
  select 'card ' || id as what from card_payments where status = 'held'
  union all select '402 ' || id from gateway_payments where status in ('verified', 'sent')
  union all select 'voucher ' || id from payment_vouchers where status = 'held'
  union all select 'settlement ' || id from payment_settlements where status <> 'done'
  union all select 'payment ' || id from agent_payments where status = 'pending'
  union all select 'split ' || split_id from split_parts where status in ('pending', 'sent')`;

/** All that waits is due now, and the workers are told. */
const HURRY = `
  with hurried as (
    update pgboss.job set start_after = now() where state < 'active' and start_after > now() returning name)
  select pg_notify('pgboss_' || left(encode(sha224('pgboss'::bytea), 'hex'), 24), name) from (select distinct name from hurried) names`;

/**
 * What the dead process left is brought to an end by the jobs that it sent: nobody waits here until they are due, or
 * until its silence is noticed. Then the books must be right.
 */
export async function settled(runtime: Runtime, alsoOpen?: string): Promise<void> {
  const allOpen = alsoOpen === undefined ? OPEN : `${OPEN} union all ${alsoOpen}`;
  const client = new pg.Client({ connectionString: runtime.databaseUrl });
  await client.connect();
  try {
    await client.query("update pgboss.job set state = 'retry', start_after = now() where state = 'active'");
    const end = Date.now() + 30_000;
    for (;;) {
      await client.query(HURRY);
      const open = (await client.query<{ what: string }>(allOpen)).rows.map(({ what }) => what);
      if (open.length === 0) break;
      assert.ok(Date.now() < end, `left for ever: ${open.join(', ')}`);
      await delay(100);
    }
  } finally {
    await client.end();
  }
  const verdicts = await verifyLedger(runtime.db.system);
  assert.deepEqual(
    verdicts.filter(({ broken }) => broken.length > 0),
    [],
  );
}
