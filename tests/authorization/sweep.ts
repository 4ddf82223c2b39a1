import { Agent, request as open } from 'node:http';
import type { Caller } from './callers.ts';
import { OPEN, type Opening } from './open.ts';
import type { Target } from './targets.ts';
import type { World } from './world.ts';

/** One caller asks for everything. */

interface Answer {
  status: number;
  /** Headers and body. */
  text: string;
}

const connections = new Agent({ keepAlive: true, maxSockets: 16 });
const AT_ONCE = 8;
const TIMEOUT_MS = 60_000;
let asked = 0;

export function ask(world: World, target: Target, headers: Record<string, string>): Promise<Answer> {
  const { services, summarizer } = world;
  const base = { web: services.web, backend: services.backend, summarizer }[target.service];
  const body =
    target.body === undefined ? undefined : typeof target.body === 'string' ? target.body : JSON.stringify(target.body);
  asked += 1;
  const from = `10.${asked >> 16}.${(asked >> 8) & 255}.${asked & 255}`;
  return new Promise((resolve, reject) => {
    const request = open(
      base + target.url,
      {
        method: target.method,
        agent: connections,
        timeout: TIMEOUT_MS,
        headers: {
          ...(body === undefined
            ? {}
            : {
                'content-type': 'application/json',
                'content-length': Buffer.byteLength(body),
              }),
          ...(target.auth === 'metrics' ? {} : { 'x-forwarded-for': from }),
          ...target.headers,
          ...headers,
        },
      },
      (response) => {
        const chunks: Buffer[] = [];
        const end = (): void =>
          resolve({
            status: response.statusCode ?? 0,
            text: `${JSON.stringify(response.headers)}\n${Buffer.concat(chunks).toString()}`,
          });
        response.on('data', (chunk: Buffer) => {
          chunks.push(chunk);
          // A stream goes on for ever: its beginning tells enough.
          if (response.headers['content-type']?.startsWith('text/event-stream')) {
            end();
            request.destroy();
          }
        });
        response.on('end', end);
        response.on('error', reject);
      },
    );
    request.on('error', reject);
    request.on('timeout', () => request.destroy(new Error(`${target.method} ${target.url} was not answered`)));
    request.end(body);
  });
}

const WITHOUT_BEARER = (caller: Caller): boolean => caller.headers['authorization'] === undefined;
const SHOWS_KEY = (caller: Caller): boolean => caller.headers['authorization']?.startsWith('Bearer sk_') ?? false;

/** The status with which the guard refuses; undefined: it lets the caller in. */
function refusal(world: World, target: Target, caller: Caller): number | undefined {
  const standing = caller.standing(target);
  const isUser = standing === 'user' || standing === 'admin';
  const isPlatform = standing === 'platform' || standing === 'platformForUser';
  switch (target.auth) {
    case 'session':
    case 'cookie':
      return isUser ? undefined : 401;
    case 'admin':
      return standing === 'admin' ? undefined : 403;
    case 'internal':
      return isPlatform ? undefined : WITHOUT_BEARER(caller) ? 401 : 403;
    case 'internalOrKey':
      if (isPlatform || (isUser && SHOWS_KEY(caller))) return undefined;
      return WITHOUT_BEARER(caller) || SHOWS_KEY(caller) ? 401 : 403;
    case 'userContext':
      return standing === 'platformForUser' ? undefined : 401;
    case 'gateway':
      return isPlatform || standing === 'agentOwner' ? undefined : 401;
    case 'metrics':
      if (isPlatform || (WITHOUT_BEARER(caller) && world.shape === 'loopback')) return undefined;
      return WITHOUT_BEARER(caller) ? 401 : 403;
    default:
      return undefined;
  }
}

/** Whether it is the caller's right to have and change everything there. */
function isEntitled({ auth }: Target, caller: Caller, standing = caller.standing({ auth } as Target)): boolean {
  if (auth === 'gateway') return standing === 'platform' || standing === 'platformForUser';
  return standing === 'platform' && (auth === 'internal' || auth === 'internalOrKey');
}

const openingsOf = (world: World, target: Target, caller: Caller): Opening[] =>
  OPEN.filter(
    (one) =>
      one.target.test(target.name) && (one.to?.test(caller.name) ?? true) && (one.shape ?? world.shape) === world.shape,
  );

interface Sweep {
  pairs: number;
  /** A sentence each. */
  faults: string[];
  /** The openings that were needed. */
  used: Set<Opening>;
}

/** After it the caller is nobody. */
const SIGN_OUT = 'web POST /api/auth/signout';

export async function sweep(world: World, targets: readonly Target[], caller: Caller): Promise<Sweep> {
  const done: Sweep = { pairs: 0, faults: [], used: new Set() };
  const asked = targets.filter((target) => (caller.asks?.(target) ?? true) && !isEntitled(target, caller));
  const isLast = ({ name }: Target): boolean => name === SIGN_OUT;
  const waiting = asked.filter((target) => !isLast(target));
  const work = async (): Promise<void> => {
    for (let target = waiting.shift(); target; target = waiting.shift()) await pair(world, target, caller, done);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  for (const target of asked.filter(isLast)) await pair(world, target, caller, done);
  return done;
}

async function pair(world: World, target: Target, caller: Caller, done: Sweep): Promise<void> {
  const openings = openingsOf(world, target, caller);
  done.pairs += 1;
  const lasting = openings.find(({ changes }) => changes);
  if (lasting) return void done.used.add(lasting);
  const { status, text } = await ask(world, target, caller.headers);
  const where = `[${world.shape}] ${caller.name}: ${target.method} ${target.url} (${target.name})`;
  const fault = (what: string): void =>
    void done.faults.push(`${where}: ${what}: ${text.split('\n')[1]?.slice(0, 200)}`);

  const expected = refusal(world, target, caller);
  const isOk = status < 300;
  if (expected !== undefined && status !== expected) fault(`${status} instead of ${expected}`);
  if (status >= 500 && !target.failures.includes(status)) fault(`${status}`);
  if (expected === undefined && target.auth === 'session' && text.endsWith('{"error":"Unauthorized"}'))
    fault('401 although the guard has to let this caller in');
  if (status === 429) fault('a limit hides the answer');
  if (expected === undefined && isOk && target.namesOwner) {
    const opening = openings[0];
    if (opening) done.used.add(opening);
    else fault(`${status}, and it names what belongs to the owner`);
  }
  const sent = JSON.stringify(target);
  for (const found of world.marks.foundIn(text, sent)) {
    const opening = openings.find(({ shows }) => shows?.test(found));
    if (opening) done.used.add(opening);
    else fault(`shows ${found}`);
  }
}
