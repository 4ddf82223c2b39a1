import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { RelayError, relayedHead, type RelayedHead } from '@troupe/kernel';

/**
 * What a remote agent is told of a request, and what of its answer is said on the platform's behalf. An agent is a
 * program that its owner can make do anything: it must learn nothing that opens the platform, and its answers are data,
 * whatever it calls them. Both lists say what passes; what they do not name does not.
 */

const ASKED = new Set(
  'accept accept-language a2a-extensions a2a-version content-length content-type last-event-id mcp-method mcp-name mcp-protocol-version user-agent x-hub-signature-256 x-session-key x-slack-request-timestamp x-slack-signature'.split(
    ' ',
  ),
);
const ASKED_TO_SWITCH = new Set(['sec-websocket-key', 'sec-websocket-version', 'sec-websocket-extensions']);
const ANSWERED = new Set([
  'a2a-version',
  'allow',
  'mcp-protocol-version',
  'content-length',
  'content-type',
  'retry-after',
  'x-accel-buffering',
]);

/** Kinds that no browser runs. */
const IS_DATA = /^(application\/([\w.-]+\+)?json|text\/event-stream|text\/plain)\s*(;|$)/i;

/** In front of everything of an agent: neither run, framed, embedded nor kept, under the platform's name or the agent's. */
const GUARD = {
  'cache-control': 'no-store',
  'content-security-policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

const only = (headers: IncomingHttpHeaders, names: ReadonlySet<string>): OutgoingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => names.has(name)));

/** No cookie, no key and no identity of the platform is among them; `token` is the agent's own. */
export function askedHeaders(
  { headers }: IncomingMessage,
  host: string,
  token: string | undefined,
): OutgoingHttpHeaders {
  return {
    ...only(headers, ASKED),
    host,
    // Whatever it was sent in, a body without a length goes on in chunks: else its end could be taken for a request.
    ...(headers['transfer-encoding'] !== undefined && { 'transfer-encoding': 'chunked' }),
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  };
}

export const switchHeaders = ({ headers }: IncomingMessage): OutgoingHttpHeaders => ({
  ...only(headers, ASKED_TO_SWITCH),
  connection: 'Upgrade',
  upgrade: 'websocket',
});

/** Throws a RelayError when the answer cannot be passed on. */
export function answeredHead(incoming: IncomingMessage): RelayedHead {
  const { 'content-encoding': encoding = 'identity' } = incoming.headers;
  // It was not asked for, and the label is not passed on.
  if (encoding !== 'identity') throw new RelayError('The agent answered with an encoding that nobody asked for');
  const { status, headers } = relayedHead(incoming, (name) => ANSWERED.has(name));
  const isData = IS_DATA.test(incoming.headers['content-type'] ?? '');
  return {
    status,
    headers: {
      ...headers,
      ...GUARD,
      ...(!isData && { 'content-type': 'application/octet-stream', 'content-disposition': 'attachment' }),
    },
  };
}

export const isEventStream = ({ headers }: IncomingMessage): boolean =>
  /^text\/event-stream\b/i.test(headers['content-type'] ?? '');

/** The lines that open a WebSocket; throws a RelayError when the agent does not open one properly. */
export function switchedHead({ headers }: IncomingMessage, protocol: string | undefined): string {
  const accept = headers['sec-websocket-accept'] ?? '';
  const extensions = headers['sec-websocket-extensions'];
  const isLegal =
    /^websocket$/i.test(headers.upgrade ?? '') &&
    /^[A-Za-z0-9+/]{27}=$/.test(accept) &&
    (extensions === undefined || /^[\w-]+(?:; ?[\w-]+(?:=\d{1,2})?)*$/.test(extensions));
  if (!isLegal) throw new RelayError('The agent did not open the WebSocket properly');
  const lines = [
    'HTTP/1.1 101 Switching Protocols',
    'upgrade: websocket',
    'connection: Upgrade',
    `sec-websocket-accept: ${accept}`,
    ...(extensions === undefined ? [] : [`sec-websocket-extensions: ${extensions}`]),
    ...(protocol === undefined ? [] : [`sec-websocket-protocol: ${protocol}`]),
  ];
  return `${lines.join('\r\n')}\r\n\r\n`;
}
