import { once } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
// that file alone: a thread loads all that it imports once more
import { replyChat } from '@troupe/ai/stand-in';
import type { Slowest, ToBystander } from './bystander.ts';

/**
 * Somebody else, in a thread of its own: beside an attack it would measure what the attack costs the one who makes it. It
 * is the platform's model server, too: what the bystander says it answers here, all else it passes on to the director.
 */
const { director } = workerData as { director: string };
const port = parentPort!;
const PROBE_EVERY_MS = 50;
const nextDoor = new http.Agent({ keepAlive: true, localAddress: '127.0.0.2' });
const WORDS = JSON.stringify([{ say: 'still here' }]);

interface Asked {
  messages?: { role: string; content: unknown }[];
}

/** What is asked here, or undefined where it was not the bystander who said the last word. */
function ownWords(body: Buffer): Record<string, unknown> | undefined {
  if (!body.includes('still here')) return undefined;
  const asked = JSON.parse(String(body)) as Asked;
  const said = asked.messages?.findLast(({ role }) => role === 'user')?.content;
  return said === WORDS ? { ...asked } : undefined;
}

async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = '', url: path = '', headers } = incoming;
  const body = await buffer(incoming);
  const own = ownWords(body);
  if (own) {
    const aborted = Promise.withResolvers<void>().promise;
    return replyChat({ method, path, headers, body: own, aborted }, response, { content: 'still here' });
  }
  const passed = http.request(director + path, { method, headers }, (reply) => {
    response.writeHead(reply.statusCode ?? 502, reply.headers);
    pipeline(reply, response).catch(() => response.destroy());
  });
  passed.on('error', () => response.destroy());
  response.once('close', () => passed.destroy());
  passed.end(body);
}

const provider = http.createServer((incoming, response) => {
  answer(incoming, response).catch(() => response.destroy());
});

let calls = 0;
/** Every call from another address, and none of those of the attack. */
const elsewhere = (): string => `10.${200 + ((calls += 1) >> 16)}.${(calls >> 8) & 255}.${calls & 255}`;

interface Heard {
  status: number | undefined;
  text: string;
}

/** Whom nobody knows, and from another address than the attack: strangers of one address have turns together. */
async function fromNextDoor(url: string): Promise<Heard> {
  const asked = http.get(url, { agent: nextDoor });
  let reply: IncomingMessage;
  try {
    [reply] = (await once(asked, 'response')) as [IncomingMessage];
  } catch (error) {
    // A connection that was idle may have been closed meanwhile: everybody's client asks again then.
    if (asked.reusedSocket) return fromNextDoor(url);
    throw error;
  }
  return { status: reply.statusCode, text: String(await buffer(reply)) };
}

let watching: AbortController | undefined;

async function watch({ web, headers, agentId }: Extract<ToBystander, { web: string }>): Promise<Slowest> {
  const { signal } = (watching = new AbortController());
  const slowest: Slowest = { health: 0, chat: 0, rounds: 0 };
  const timed = async (what: 'health' | 'chat', asked: () => Promise<Heard>): Promise<void> => {
    const began = performance.now();
    const { status, text } = await asked();
    slowest[what] = Math.max(slowest[what], performance.now() - began);
    if (status !== 200) throw new Error(`${what} during the attack: ${status} ${text}`);
  };
  do {
    const body = JSON.stringify({ agentId, message: WORDS });
    const own = { ...headers, 'x-client-ip': elsewhere(), 'content-type': 'application/json' };
    await Promise.all([
      timed('health', () => fromNextDoor(`${web}/api/health`)),
      timed('chat', async () => {
        const reply = await fetch(`${web}/api/chat`, { method: 'POST', headers: own, body });
        return { status: reply.status, text: await reply.text() };
      }),
    ]);
    slowest.rounds += 1;
    await delay(PROBE_EVERY_MS);
  } while (!signal.aborted);
  return slowest;
}

port.on('message', (told: ToBystander) => {
  if ('end' in told) return watching?.abort();
  watch(told).then(
    (slowest) => port.postMessage({ slowest }),
    (error: Error) => port.postMessage({ failed: error.message }),
  );
});
provider.listen(0, '127.0.0.1', () =>
  port.postMessage({ url: `http://127.0.0.1:${(provider.address() as AddressInfo).port}` }),
);
