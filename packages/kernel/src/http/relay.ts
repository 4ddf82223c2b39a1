import { validateHeaderName, validateHeaderValue, type ClientRequest, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { countPieces } from './small-pieces.ts';

/**
 * Passing on the answer of another server, which may be anything: what cannot be said again is refused with a sentence
 * before a byte of it has been passed on, and nothing of it is looked at in an event handler, where a throw would end
 * the process.
 */

/** The other side answered with what cannot be passed on. Its message may be shown. */
export class RelayError extends Error {
  override readonly name = 'RelayError';
}

/** Of the head of an answer, for `http.request`; it also bounds trailers and the extensions of chunks. */
export const MOST_HEAD_BYTES = 16_384;
const MOST_HEADERS = 100;
/** Answers before the answer (1xx). */
const MOST_INTERIM = 16;

export interface RelayedAnswer {
  incoming: IncomingMessage;
  /** It has switched to another protocol, which is spoken here. */
  switched?: { socket: Duplex; first: Buffer };
}

/** The head of the answer to a request, within a time. Rejects with a RelayError, or with what the connection failed with. */
export function answerTo(outgoing: ClientRequest, headMs: number): Promise<RelayedAnswer> {
  return new Promise((resolve, reject) => {
    let interim = 0;
    const giveUp = (why: string): void => {
      reject(new RelayError(why));
      outgoing.destroy();
    };
    const timer = setTimeout(() => giveUp(`The other side did not answer within ${headMs / 1000} s`), headMs);
    const heard = (answer: RelayedAnswer): void => {
      clearTimeout(timer);
      resolve(answer);
    };
    outgoing.on('information', () => {
      if (++interim > MOST_INTERIM) giveUp('The other side sent too many interim answers');
    });
    outgoing.on('response', (incoming) => {
      // The connection, not the answer: nobody may listen to that yet.
      countPieces(incoming, () => void outgoing.destroy());
      heard({ incoming });
    });
    outgoing.on('upgrade', (incoming, socket, first) => heard({ incoming, switched: { socket, first } }));
    // Stays on: a connection may break at any later time, too.
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      reject(error.code?.startsWith('HPE_') ? new RelayError('The other side did not answer in proper HTTP') : error);
    });
    outgoing.on('close', () => clearTimeout(timer));
  });
}

export interface RelayedHead {
  status: number;
  headers: Record<string, string | string[]>;
}

/** Status and headers that may be said again: those that `passes` names, all of them legal. Throws a RelayError. */
export function relayedHead(
  { statusCode = 0, headers }: IncomingMessage,
  passes: (name: string) => boolean,
): RelayedHead {
  if (statusCode < 200 || statusCode > 599)
    throw new RelayError(`The other side answered with the status ${statusCode}, which there is not`);
  const all = Object.entries(headers);
  if (all.length > MOST_HEADERS) throw new RelayError(`The other side answered with more than ${MOST_HEADERS} headers`);
  const passed: RelayedHead['headers'] = {};
  for (const [name, value] of all) {
    if (value === undefined || !passes(name)) continue;
    try {
      validateHeaderName(name);
      for (const one of [value].flat()) validateHeaderValue(name, one);
    } catch {
      throw new RelayError('The other side answered with a header that is not legal');
    }
    passed[name] = value;
  }
  return { status: statusCode, headers: passed };
}

const HOP_BY_HOP = new Set(
  'connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding upgrade'.split(
    ' ',
  ),
);

/** Speaks of one connection only, so it is never passed on to the next. */
export const isHopByHop = (name: string): boolean => HOP_BY_HOP.has(name);
