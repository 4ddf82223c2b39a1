import {
  bodyProblem,
  callsIn,
  createPlaces,
  isListening,
  MOST_MARKS,
  scopesOf,
  type McpFace,
  type McpTool,
} from '@troupe/interop';
import {
  AppError,
  challengeFor,
  parseFewJson,
  respond,
  type Answer,
  type RequestInfo,
  type User,
} from '@troupe/kernel';
import type { McpCaller } from './service.ts';

export interface AnswerDeps {
  face: () => Promise<McpFace<McpCaller>>;
  tools: readonly Pick<McpTool<never>, 'name' | 'scope'>[];
}

/** Of one user, in this process: each may wait for an agent for minutes. */
const MOST_AT_ONCE = 20;
/** Streams that only wait for news. */
const MOST_LISTENING = 8;

/** One request: its body is read, its scope checked, and a place held for it while it lasts. */
export function createAnswer({ face, tools }: AnswerDeps) {
  const places = createPlaces();
  return async (method: 'POST' | 'GET' | 'DELETE', user: User, request: RequestInfo): Promise<Answer> => {
    let body: unknown;
    try {
      body = method === 'POST' ? readBody(request.rawBody) : undefined;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return respond({
        status: error.status,
        body: { jsonrpc: '2.0', id: null, error: { code: -32_700, message: error.message } },
      });
    }
    requireScopes(user, scopesOf(body, tools), request);
    const [kind, most] = isListening(body) ? ['listen', MOST_LISTENING] : ['call', MOST_AT_ONCE];
    const leave = places.take(`${kind} ${user.id}`, most, callsIn(body));
    if (!leave) throw new AppError(429, `Too many calls at once (max ${most})`);
    try {
      const { headers, address } = request;
      const signal = request.signal();
      const response = await (await face()).answer({ method, headers, body, caller: { user, address }, signal });
      // What listens is greeted by the protocol itself.
      return answerOf(response, { leave, signal, greets: !isListening(body) });
    } catch (error) {
      leave();
      throw error;
    }
  };
}

function readBody(text: string): unknown {
  const body = parseFewJson(text, MOST_MARKS);
  const problem = bodyProblem(body);
  if (problem !== undefined) throw new AppError(400, problem);
  return body;
}

function requireScopes({ scopes }: User, needed: readonly string[], { origin, path }: RequestInfo): void {
  const lacks = scopes ? needed.filter((scope) => !scopes.includes(scope)) : [];
  if (lacks.length === 0) return;
  // The client asks for all that it will then have: what it had, and what it lacks.
  const wanted = [...new Set([...(scopes ?? []), ...needed])];
  const headers = { 'www-authenticate': challengeFor({ origin, path, shown: true, lacks: wanted }) };
  throw new AppError(403, `This needs the scope ${lacks.join(' ')}`, { scope: lacks.join(' ') }, { headers });
}

const PASSED = ['content-type', 'cache-control', 'allow', 'mcp-protocol-version', 'x-accel-buffering'];

function answerOf(response: Response, place: { leave: () => void; signal: AbortSignal; greets: boolean }): Answer {
  const headers = Object.fromEntries(PASSED.flatMap((name) => pair(name, response.headers.get(name))));
  if (!response.body) {
    place.leave();
    return respond({ status: response.status, headers, body: '' });
  }
  return respond({
    status: response.status,
    headers,
    texts: textsOf(response.body, { ...place, greets: place.greets && isStream(headers) }),
  });
}

const pair = (name: string, value: string | null): [string, string][] => (value === null ? [] : [[name, value]]);

const isStream = (headers: Record<string, string>): boolean =>
  headers['content-type']?.startsWith('text/event-stream') === true;

async function* textsOf(
  body: ReadableStream<Uint8Array>,
  { greets, signal, leave }: { greets: boolean; signal: AbortSignal; leave: () => void },
): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  // Whoever is gone holds no place, whatever still waits for something to say to him.
  const stop = (): void => {
    leave();
    void reader.cancel().catch(() => undefined);
  };
  signal.addEventListener('abort', stop, { once: true });
  try {
    // The head goes out with the first words: who waits for it must not take us for dead.
    if (greets) yield ': \n\n';
    for (let piece = await reader.read(); !piece.done; piece = await reader.read())
      yield decoder.decode(piece.value, { stream: true });
    yield decoder.decode();
  } finally {
    signal.removeEventListener('abort', stop);
    stop();
  }
}
