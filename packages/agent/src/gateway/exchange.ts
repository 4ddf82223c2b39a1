import type { IncomingMessage, ServerResponse } from 'node:http';
import { MOST_BODY, validationMessage } from '@troupe/contract';
import {
  AppError,
  bytesOf,
  drained,
  leaveToOthers,
  Linked,
  parseJson,
  type FairQueue,
  type LargeBodies,
} from '@troupe/kernel';
import type { z } from 'zod';
import type { Agent, Kept } from '../agent.ts';
import type { GatewayDeps, GatewayPrincipal, GatewayTarget } from './types.ts';

/** One request to an agent's gateway, and the ways to answer it. What only reads asks for `Exchange<Kept>`. */

export interface Exchange<A extends Kept = Agent> {
  request: IncomingMessage;
  response: ServerResponse;
  target: GatewayTarget;
  agent: A;
  principal: GatewayPrincipal;
  /** The parts of the path that stand in brackets in the route's pattern. */
  params: string[];
  query: URLSearchParams;
  deps: GatewayDeps;
  /** Turns to read what is long. */
  reading: FairQueue;
  /** Places for bodies that hold pictures and files. */
  large: LargeBodies;
  /** The agent as an MCP server. */
  mcp: { answer: (exchange: Exchange) => Promise<void> };
  /** Aborted when the client is gone or its token no longer counts. */
  signal: AbortSignal;
}

const MAX_BODY_BYTES = 1_048_576;

export async function readBody(request: IncomingMessage, most = MAX_BODY_BYTES): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > most) throw new AppError(413, 'Request body too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** One after the other: the loop can do no more. */
export const READING = { width: 1, waiting: 1000, waitingPerKey: 100, waitMs: 20_000 };
/** A text that takes longer to read than it is worth to wait for, in characters. */
const LONG_BODY = 8192;

type InTurn = Pick<Exchange<Kept>, 'request' | 'reading' | 'agent'>;

/**
 * The body, read as `read` does: a long one in a turn of its agent's owner. Whoever lets a
 * hundred of them arrive together would otherwise hold up everybody until the last is read.
 */
export async function readInTurn<T>(
  { request, reading, agent }: InTurn,
  read: (text: string) => T,
  most?: number,
): Promise<T> {
  const text = (await readBody(request, most)).toString('utf8');
  if (text.length <= LONG_BODY) return read(text);
  return reading.run(agent.owner, async () => {
    const began = performance.now();
    try {
      return read(text);
    } finally {
      await leaveToOthers(performance.now() - began);
    }
  });
}

/** The JSON body, checked; the first thing wrong with it is the error's text. */
export async function readJson<S extends z.ZodType>(exchange: InTurn, schema: S, most?: number): Promise<z.output<S>> {
  if (!/^application\/(.+\+)?json\b/i.test(exchange.request.headers['content-type'] ?? '')) {
    throw new AppError(400, 'Content-Type must be application/json');
  }
  const parsed = await readInTurn(exchange, (text) => schema.safeParse(parseJson(text)), most);
  if (parsed.success) return parsed.data;
  throw new AppError(400, validationMessage(parsed.error, 'body'));
}

/** For a body with pictures and files: an owner's agents hold so many of these at once. Answers how long it may be. */
export function roomForFiles({ request, response, agent, large }: Exchange): number {
  const bytes = bytesOf(request, MOST_BODY);
  if (bytes > MAX_BODY_BYTES) large(bytes, { raw: response }, agent.owner);
  return MOST_BODY;
}

/** The same where pictures and files may come with it. */
export const readLargeJson = async <S extends z.ZodType>(exchange: Exchange, schema: S): Promise<z.output<S>> =>
  readJson(exchange, schema, roomForFiles(exchange));

/** Answers how many bytes it sent. */
export function sendJson({ response }: Pick<Exchange<Kept>, 'response'>, body: unknown, status = 200): number {
  const text = JSON.stringify(body);
  const bytes = Buffer.byteLength(text);
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': bytes,
    'cache-control': 'no-store',
  });
  response.end(text);
  return bytes;
}

const LONG_TEXT = 16 * 1024;

/** A long text that waits for its reader would wait twice: as it is, and in a copy that has room for three bytes a letter. */
export const asBytes = (text: string): string | Buffer => (text.length > LONG_TEXT ? Buffer.from(text) : text);

export interface EventStream {
  send: (event: { id?: number; event?: string; data: unknown }) => Promise<void>;
  /** Events that are text already. */
  write: (text: string) => Promise<void>;
  /** Settles when what was written is taken; undefined: it is. */
  taken: () => Promise<void> | undefined;
  end: () => void;
}

const KEEP_ALIVE_MS = 15_000;
const KEEP_ALIVE = ': keep-alive\n\n';

const KEEP_ALIVE_TURNS = 15;

/** One timer for all streams: each is written to when its turn comes round. */
const keptAlive = createKeepAlive();
function createKeepAlive(): (response: ServerResponse) => () => void {
  const turns = Array.from({ length: KEEP_ALIVE_TURNS }, () => new Linked<ServerResponse>());
  let timer: NodeJS.Timeout | undefined;
  let open = 0;
  let at = 0;
  const next = (): void => {
    at = (at + 1) % KEEP_ALIVE_TURNS;
    for (const response of turns[at]!.values()) response.write(KEEP_ALIVE);
  };
  return (response) => {
    const turn = turns[at]!;
    const place = turn.add(response);
    open += 1;
    timer ??= setInterval(next, KEEP_ALIVE_MS / KEEP_ALIVE_TURNS);
    return () => {
      if (!turn.delete(place) || (open -= 1) > 0) return;
      clearInterval(timer);
      timer = undefined;
    };
  };
}

/** Server-sent events. A slow reader is waited for, so nothing piles up in memory. */
export function openEventStream(
  { response, signal }: Pick<Exchange, 'response' | 'signal'>,
  headers: Record<string, string> = {},
): EventStream {
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
    ...headers,
  });
  response.flushHeaders();
  const stop = keptAlive(response);
  response.once('close', stop);
  /** One for all who wait: what is written word by word does not wait for each. */
  let draining: Promise<void> | undefined;
  async function write(text: string): Promise<void> {
    if (text === '' || signal.aborted || response.destroyed || response.write(asBytes(text))) return;
    draining ??= drained(response).finally(() => (draining = undefined));
    await draining;
  }
  return {
    write,
    taken: () => draining,
    send({ id, event, data }) {
      const lines = [id === undefined ? '' : `id: ${id}\n`, event === undefined ? '' : `event: ${event}\n`];
      const text = typeof data === 'string' ? data : JSON.stringify(data);
      return write(`${lines.join('')}data: ${text}\n\n`);
    },
    end() {
      stop();
      response.end();
    },
  };
}

/**
 * Pieces of an answer that nobody can hold up, for a reader who may be slow: what comes while it takes nothing goes out as
 * one. Each piece by itself would wait in its wrapping, which is a hundred times what it says.
 */
export function inPieces(stream: Pick<EventStream, 'write' | 'taken'>, wrap: (text: string) => string) {
  let kept = '';
  let passing: Promise<void> | undefined;
  async function passOn(taken: Promise<void>): Promise<void> {
    await taken;
    while (kept !== '') {
      const text = kept;
      kept = '';
      await stream.write(wrap(text));
    }
    passing = undefined;
  }
  return {
    add(text: string): void {
      const taken = stream.taken();
      if (passing === undefined && taken === undefined) return void stream.write(wrap(text));
      kept += text;
      if (taken) passing ??= passOn(taken);
    },
    /** Settles when all of it is on its way. */
    end: async (): Promise<void> => passing,
  };
}

export function whole(query: URLSearchParams, name: string, fallback: number, max: number): number {
  const given = query.get(name);
  if (given === null) return fallback;
  const value = Number(given);
  if (!Number.isInteger(value) || value < 0) throw new AppError(400, `${name} must be a whole number`);
  return Math.min(value, max);
}
