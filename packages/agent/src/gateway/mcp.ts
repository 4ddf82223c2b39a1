import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  bodyProblem,
  callsIn,
  createMcpFace,
  createPlaces,
  isListening,
  McpRefusal,
  MOST_MARKS,
  talkTools,
  type McpFace,
  type McpTool,
  type Talk,
} from '@troupe/interop';
import { AppError, newId, parseFewJson, readTraceparent, withTrace, type Log } from '@troupe/kernel';
import type { Agent } from '../agent.ts';
import { PAGE_BYTES, type Session } from '../store/store.ts';
import { untilAborted } from '../until-aborted.ts';
import { readInTurn, type Exchange } from './exchange.ts';
import { keyFor, ownKeys } from './rights.ts';
import type { GatewayPrincipal } from './types.ts';

/** The agent as an MCP server: others' models ask it, in conversations of the caller's own. */

interface Caller {
  agent: Agent;
  principal: GatewayPrincipal;
}

const PAGE = 100;
/** Calls of one caller to one agent that wait at the same time. */
const MOST_AT_ONCE = 10;
/** The same, with those whose bodies are still on their way and streams that wait. */
const MOST_READ = 20;
/** Streams of one owner’s agents that only wait for news, whoever opened them. */
const MOST_LISTENING = 8;

export function createMcpDoor({ log, version }: { log: Log; version: string }) {
  const tools = talkTools(talk, {}, () => '').map(withTold);
  let made: Promise<McpFace<Caller>> | undefined;
  const face = (): Promise<McpFace<Caller>> =>
    (made ??= createMcpFace<Caller>({
      name: 'troupe-agent',
      title: 'An agent on Troupe',
      version,
      instructions: about,
      tools,
      onError: (err) => log.error({ err }, 'a tool of an agent’s MCP server failed'),
    }));
  const places = createPlaces();

  /** A stream that waits counts for the owner, anything else for the caller. */
  function placeFor(body: unknown, { agent, principal }: Exchange): () => void {
    if (isListening(body)) return places.take(`listen ${agent.owner}`, MOST_LISTENING) ?? refuse(MOST_LISTENING);
    const name = `call ${agent.id} ${principal.id}`;
    return places.take(name, MOST_AT_ONCE, callsIn(body)) ?? refuse(MOST_AT_ONCE);
  }

  async function respond(exchange: Exchange): Promise<void> {
    const { request, response, agent, principal, signal } = exchange;
    const { method = 'GET', headers } = request;
    const body = method === 'POST' ? await readMessage(exchange) : undefined;
    // What came with another method is nothing to us, but must not be taken for the next request.
    if (method !== 'POST') request.resume();
    const leave = placeFor(body, exchange);
    try {
      const answered = await (await face()).answer({ method, headers, body, caller: { agent, principal }, signal });
      response.writeHead(answered.status, passed(answered));
      if (answered.body) await pipeline(Readable.fromWeb(answered.body as never), response, { signal });
      else response.end();
    } finally {
      leave();
    }
  }

  return {
    async answer(exchange: Exchange): Promise<void> {
      const leave = places.take(`read ${exchange.agent.id} ${exchange.principal.id}`, MOST_READ) ?? refuse(MOST_READ);
      try {
        await respond(exchange);
      } catch (error) {
        // Who leaves is no failure of ours.
        if (!exchange.signal.aborted) throw error;
      } finally {
        leave();
      }
    },
    close: async (): Promise<void> => (await made)?.close(),
  };
}

const refuse = (most: number): never => {
  throw new AppError(429, `Too many calls at once (max ${most})`);
};

/** What the agent refuses with a sentence, the caller's model is told. */
const withTold = (tool: McpTool<Caller>): McpTool<Caller> => ({
  ...tool,
  run: (args, call) =>
    withTrace(readTraceparent(call.traceparent), () => tool.run(args, call)).catch((error: unknown) => {
      if (error instanceof AppError && error.status !== 500) throw new McpRefusal(error.message);
      throw error;
    }),
});

async function about({ agent }: Caller): Promise<string> {
  const { name, role, description } = (await agent.definition()).definition;
  const who = [role, description].filter(Boolean).join('. ');
  return `${name}${who === '' ? '' : `: ${who}`}. Ask it with ask_agent; it has its own tools and memory, and goes on when you stop waiting.`;
}

const readMessage = (exchange: Exchange): Promise<unknown> =>
  readInTurn(exchange, (text) => {
    const body = parseFewJson(text, MOST_MARKS);
    const problem = bodyProblem(body);
    if (problem !== undefined) throw new AppError(400, problem);
    return body;
  });

const PASSED = ['content-type', 'cache-control', 'allow', 'mcp-protocol-version'];
const passed = ({ headers }: Response): Record<string, string> =>
  Object.fromEntries(PASSED.flatMap((name) => (headers.has(name) ? [[name, headers.get(name) ?? '']] : [])));

const talk: Talk<Caller> = {
  newName: () => `mcp-${newId()}`,
  async ask(_agent, { message, conversation }, { caller: { agent, principal }, signal }) {
    const to = { channel: 'api', key: keyFor(principal, conversation) };
    const answer = await untilAborted(agent.ask({ to, content: message, from: principal.kind }), signal);
    return { reply: answer.reply, isError: answer.outcome === 'failed' };
  },
  async conversations(_agent, { caller: { agent, principal } }) {
    const keys = ownKeys(principal);
    const found = await agent.store.sessions({ limit: PAGE, offset: 0, ...(keys !== undefined && { keys }) });
    return found.map((session) => shown(principal, session));
  },
  async read(_agent, conversation, { caller: { agent, principal } }) {
    const key = keyFor(principal, conversation);
    const [session] = await agent.store.sessions({ limit: 1, offset: 0, key });
    if (!session) return undefined;
    const after = Math.max(0, session.lastSeq - PAGE);
    const events = await agent.store.events(session.id, { after, limit: PAGE, bytes: PAGE_BYTES });
    return { ...shown(principal, session), events };
  },
};

/** Under the name that the caller gave it. */
const shown = (principal: GatewayPrincipal, { key, status, updatedAt }: Session) => {
  const prefix = ownKeys(principal) ?? '';
  return { conversation: key.startsWith(prefix) ? key.slice(prefix.length) : key, status, updatedAt };
};
