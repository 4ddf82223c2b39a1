import { once } from 'node:events';
import { parseJson, type Outbound } from '@troupe/kernel';
import type { WebSocket } from 'ws';
import { openSocket } from '../socket.ts';
import { TokenRefused } from '../errors.ts';
import type { SlackEvent } from './event.ts';
import type { Api } from './api.ts';

/** Events over a WebSocket that we open. An event is acknowledged when it is stored; Slack sends it again otherwise. */

interface Deps {
  api: Api;
  appToken: string;
  outbound: Outbound;
  hear: (event: SlackEvent) => Promise<void>;
}

interface Envelope {
  type?: string;
  reason?: string;
  envelope_id?: string;
  payload?: { event?: SlackEvent };
}

/** Slack pings every few seconds; a connection that is silent for so long is dead. */
const SILENCE_MS = 60_000;

/** Ends when the connection does: another is opened then. */
export async function listenBySocket(deps: Deps, signal: AbortSignal, up: () => void): Promise<void> {
  const { url } = await deps.api('apps.connections.open', {}, deps.appToken);
  signal.throwIfAborted();
  const socket = await openSocket(deps.outbound, String(url));
  const onAbort = (): void => socket.close(1000);
  signal.addEventListener('abort', onAbort, { once: true });
  let disabled = false;
  let order = Promise.resolve();
  const alive = watch(socket);
  socket.on('message', (data: Buffer) => {
    order = order
      .then(async () => {
        const envelope = parseJson(data.toString()) as Envelope;
        if (envelope.type === 'hello') up();
        if (envelope.type === 'disconnect') {
          disabled = envelope.reason === 'link_disabled';
          socket.close(1000);
        }
        await take(socket, envelope, deps.hear);
      })
      .catch(() => socket.terminate());
  });
  try {
    await once(socket, 'close');
    if (disabled) throw new TokenRefused('Socket Mode is switched off for this Slack app');
  } finally {
    clearInterval(alive);
    signal.removeEventListener('abort', onAbort);
    await order;
  }
}

async function take(socket: WebSocket, envelope: Envelope, hear: Deps['hear']): Promise<void> {
  const { type, envelope_id: id, payload } = envelope;
  if (type === 'events_api' && payload?.event) await hear(payload.event);
  // Also what is not for us: else it would come again.
  if (id !== undefined) socket.send(JSON.stringify({ envelope_id: id }));
}

function watch(socket: WebSocket): NodeJS.Timeout {
  let heard = Date.now();
  const note = (): void => void (heard = Date.now());
  socket.on('ping', note).on('message', note).on('open', note);
  return setInterval(() => {
    if (Date.now() - heard > SILENCE_MS) socket.terminate();
  }, SILENCE_MS / 4);
}
