import http from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { TEST_SECRETS } from '@troupe/testing/http/server';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';
import { elsewhere } from '@troupe/testing/services/people';
import { answeredAs, createRequests, type FuzzRequest } from './requests.ts';
import type { Known } from './values.ts';

interface FuzzResult {
  sent: number;
  seconds: number;
  statuses: Record<string, number>;
  /** Megabytes that the process takes more than after the first requests. */
  grownMb: number;
  failures: string[];
}

interface FuzzOptions {
  requests: number;
  seed: number;
  /** Only this one, to look at it. */
  only?: number;
  say?: (line: string) => void;
}

const SLOW_MS = 10_000;
const MOST_GROWTH_MB = 100;
const LOG_SHOWN = 20_000;
const AT_ONCE = 8;
/** Sessions are signed out and agents deleted on the way: from time to time others take their place. */
const ROUND = 250;
/** Until then the process takes what it needs for its work: code, caches, connections, room for many at once. */
const WARM = 1000;
const SETTLE_MS = 30_000;
/** Nothing that a request names may leave this machine. */
const NOWHERE = 'http://127.0.0.1:1';

type Person = Awaited<ReturnType<Scene['person']>>;
interface People {
  user: Person;
  admin: Person;
}

/** Sends requests to the whole product in a process of its own, and says what it did wrong. */
export async function fuzz({ requests, seed, only, say = () => {} }: FuzzOptions): Promise<FuzzResult> {
  const scene = await startScene({
    TRUST_PROXY: '1',
    // Both grow with how much is asked at once, not with what is kept: held small, so that growth means something.
    NODE_OPTIONS: '--max-semi-space-size=16',
    MALLOC_ARENA_MAX: '2',
    ANTHROPIC_BASE_URL: NOWHERE,
    OPENAI_BASE_URL: NOWHERE,
    GEMINI_BASE_URL: NOWHERE,
    GROQ_BASE_URL: NOWHERE,
    LIVESTREAM_API_BASE: NOWHERE,
    CDP_API_BASE: NOWHERE,
  });
  const agent = new http.Agent({ keepAlive: true, maxSockets: AT_ONCE });
  try {
    return await run(scene, agent, { requests, seed, say, ...(only !== undefined && { only }) });
  } finally {
    agent.destroy();
    await scene.stop();
  }
}

async function run(
  scene: Scene,
  agent: http.Agent,
  { requests, seed, only, say }: Required<Pick<FuzzOptions, 'say'>> & FuzzOptions,
) {
  const make = createRequests(seed);
  const began = performance.now();
  const statuses: Record<string, number> = {};
  const failures: string[] = [];
  const program = { ended: false };
  void scene.program.exit.then(() => (program.ended = true));
  const named = new Map<string, number>();
  let baseMb = 0;
  let sent = 0;

  async function one(number: number, people: People, known: Known): Promise<void> {
    const request = make(number, known);
    let outcome = await send(scene, request, people, agent);
    // A server may end a connection that is kept: the next request on it is to be sent again.
    if (outcome === RESET) outcome = await send(scene, request, people, new http.Agent());
    sent += 1;
    const label = typeof outcome === 'string' ? 'none' : String(outcome.status);
    statuses[label] = (statuses[label] ?? 0) + 1;
    if (typeof outcome !== 'string' && outcome.status >= 500)
      named.set(key(request, outcome.status), (named.get(key(request, outcome.status)) ?? 0) + 1);
    const fault = faultOf(request, outcome);
    if (fault) failures.push(`#${number} ${fault}\n    ${shown(request)}`);
  }

  for (let from = 0; from < requests && !program.ended && failures.length < 50; from += ROUND) {
    const people = await newPeople(scene);
    const known = knownOf(people);
    const numbers = Array.from({ length: Math.min(ROUND, requests - from) }, (_, at) => from + at);
    const mine = only === undefined ? numbers : numbers.filter((number) => number === only);
    const next = mine.values();
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (const number of next) if (!program.ended) await one(number, people, known);
      }),
    );
    if (baseMb === 0 && sent >= WARM) baseMb = scene.memory();
    if ((from / ROUND) % 8 === 7)
      say(`${sent} sent, ${failures.length} failures, ${Math.round(program.ended ? 0 : scene.memory())} MB`);
  }
  for (const [what, times] of named) say(`${times} × ${what}`);
  // What the platform itself says of its failures.
  if (failures.length > 0) say(scene.program.output().slice(-LOG_SHOWN));
  failures.push(...undeclared(scene.program.output()));
  if (program.ended) failures.push(`the process ended:\n${scene.program.output().slice(-3000)}`);
  const grownMb = program.ended || baseMb === 0 ? 0 : await growth(scene, baseMb);
  if (grownMb > MOST_GROWTH_MB) failures.push(`the process grew by ${Math.round(grownMb)} MB`);
  return { sent, seconds: (performance.now() - began) / 1000, statuses, grownMb, failures };
}

/** Errors that were answered and stand nowhere in the contract, which the platform tells its log outside production. */
const undeclared = (output: string): string[] => [
  ...new Set(
    Array.from(output.matchAll(/"msg":"([^\n]*which its contract does not declare)"/g), ([, told = '']) => told),
  ),
];

const key = ({ endpoint }: FuzzRequest, status: number): string =>
  `${status} of ${endpoint.service} ${endpoint.method} ${endpoint.path}`;

async function newPeople(scene: Scene): Promise<People> {
  return { user: await scene.person(), admin: await scene.person({ isAdmin: true }) };
}

const knownOf = ({ user, admin }: People): Known => ({
  ids: [user.agentId, admin.agentId, user.id, '00000000-0000-4000-8000-000000000000', 'nobody'],
  emails: [user.email, 'new@example.org', '用户@例子.com', 'not an address'],
});

/** What a collector may free is not growth: it gets time for it. */
async function growth(scene: Scene, baseMb: number): Promise<number> {
  const until = performance.now() + SETTLE_MS;
  let grown = scene.memory() - baseMb;
  while (grown > MOST_GROWTH_MB && performance.now() < until) {
    await delay(500);
    grown = Math.min(grown, scene.memory() - baseMb);
  }
  return grown;
}

const RESET = 'the connection was reset';
const isReset = ({ code }: NodeJS.ErrnoException): boolean => code === 'ECONNRESET' || code === 'EPIPE';

interface Outcome {
  status: number;
  text: string;
  ms: number;
}

/** An answer, or why there is none. A stream of events counts as answered when it begins. */
function send(scene: Scene, given: FuzzRequest, people: People, agent: http.Agent): Promise<Outcome | string> {
  const { hostname, port } = new URL(scene[given.service]);
  const headers = {
    ...credentials(given, people),
    ...given.headers,
    // Node leaves it out where a method usually has no body, and the body would be taken for the next request.
    ...(given.body !== undefined && { 'content-length': String(Buffer.byteLength(given.body)) }),
  };
  const began = performance.now();
  return new Promise((resolve) => {
    let request: http.ClientRequest;
    try {
      request = http.request({ hostname, port, method: given.method, path: given.path, headers, agent });
    } catch (error) {
      // The client itself cannot write it.
      return resolve({ status: 0, text: (error as Error).message, ms: 0 });
    }
    const timer = setTimeout(() => request.destroy(new Error(`no answer within ${2 * SLOW_MS} ms`)), 2 * SLOW_MS);
    const done = (outcome: Outcome | string): void => {
      clearTimeout(timer);
      resolve(outcome);
    };
    request.on('error', (error) => done(request.reusedSocket && isReset(error) ? RESET : error.message));
    request.on('response', (response) => {
      const status = response.statusCode ?? 0;
      const ms = performance.now() - began;
      let text = '';
      response.on('data', (chunk: Buffer) => (text = (text + chunk.toString()).slice(0, 500)));
      response.on('end', () => done({ status, text, ms: performance.now() - began }));
      response.on('error', (error) => done(error.message));
      if (String(response.headers['content-type']).startsWith('text/event-stream')) {
        done({ status, text, ms });
        response.destroy();
      }
    });
    request.end(given.body);
  });
}

function credentials({ as, number, service }: FuzzRequest, { user, admin }: People): Record<string, string> {
  // A part has no address of its own, so that limits are met as well.
  const from: Record<string, string> = number % 5 === 0 ? {} : { 'x-forwarded-for': elsewhere() };
  const internal = { authorization: `Bearer ${TEST_SECRETS.internalKey}`, 'x-client-ip': elsewhere() };
  const who = as === 'admin' ? admin : user;
  switch (as) {
    case 'nobody':
      return from;
    case 'wrong':
      return { ...from, authorization: 'Bearer sk_wrong', cookie: 'svc-session=wrong' };
    case 'key':
      return { ...from, authorization: `Bearer ${user.key}` };
    case 'internal':
      return { ...internal, 'x-user-id': user.id, 'x-user-email': user.email, 'x-user-plan': 'network' };
    default:
      return service === 'web'
        ? { ...internal, cookie: who.cookie }
        : { ...internal, 'x-user-id': who.id, 'x-user-email': who.email };
  }
}

function faultOf({ endpoint, method }: FuzzRequest, outcome: Outcome | string): string | undefined {
  if (typeof outcome === 'string') return `was not answered: ${outcome}`;
  const { status, ms, text } = outcome;
  const told = [endpoint, ...(endpoint.passesOn?.() ?? [])];
  const isNamed =
    answeredAs(method) === endpoint.method &&
    told.some(({ errors }) => errors?.[status] !== undefined) &&
    !text.includes('which its contract does not declare');
  if (status >= 500 && !isNamed) return `was answered with ${status} ${text.slice(0, 200)}`;
  return ms > SLOW_MS ? `was answered with ${status} after ${Math.round(ms)} ms` : undefined;
}

function shown({ service, method, path, headers, body, as }: FuzzRequest): string {
  const text = body === undefined ? '' : ` ${String(body).slice(0, 600)}`;
  return `${service} ${method} ${path.slice(0, 300)} as ${as} ${JSON.stringify(headers).slice(0, 300)}${text}`;
}
