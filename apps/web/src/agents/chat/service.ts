import { AGENT_GONE, errorText, errorType, eventsOf, gateway } from '@troupe/contract';
import type { AgentRow, Roster } from '@troupe/roster';
import { AppError, iso, newId, type BackendClient, type Clock, type ServerEvent, type User } from '@troupe/kernel';
import { asAppError } from '../../platform/reach.ts';

export interface ChatDeps {
  roster: Roster;
  backend: BackendClient;
  clock: Clock;
}

export type ChatService = ReturnType<typeof createChat>;

/** An agent may take its time: it has tools to use. */
const ANSWER_TIMEOUT_MS = 15 * 60_000;

const NONE = 'No agent deployed';

/** An agent that was deleted on the way is said as one that was never there. */
const reach = <T>(call: Promise<T>): Promise<T> =>
  call.catch((cause: unknown) => {
    const error = asAppError(cause);
    throw error.status === 404 ? new AppError(404, NONE, error.extra, { cause }) : error;
  });

interface Said {
  message: string;
  agentId?: string;
  topic?: string;
}

export function createChat({ roster, backend, clock }: ChatDeps) {
  /** The agent that is meant: the main one unless said. */
  async function find(user: User, agentId: string | undefined): Promise<AgentRow> {
    const agent =
      agentId === undefined
        ? (await roster.of(user.id).list({ limit: 1, offset: 0 }))[0]
        : await roster.of(user.id).find(agentId);
    if (!agent) throw new AppError(404, NONE);
    return agent;
  }

  const head = ({ message, topic }: Said) => ({
    id: newId(),
    message,
    topic: topic || null,
    status: 'sent' as const,
    timestamp: iso(clock()),
  });

  const request = (agent: AgentRow, { message, topic }: Said) => ({
    params: { agentId: agent.id },
    // The conversation is kept by the agent, under its topic.
    body: { messages: [{ role: 'user', content: message }], user: topic || 'dashboard' },
    timeout: ANSWER_TIMEOUT_MS,
  });

  return {
    async send(user: User, said: Said, address: string, signal: AbortSignal) {
      const agent = await find(user, said.agentId);
      const about = head(said);
      const answer = await reach(
        backend.as(user, address).call(gateway.runtime.completeChat, { ...request(agent, said), signal }),
      );
      return { ...about, reply: answer.choices[0]?.message.content ?? '' };
    },

    async stream(user: User, said: Said, address: string, signal: AbortSignal): Promise<AsyncIterable<ServerEvent>> {
      const agent = await find(user, said.agentId);
      const { body, ...rest } = request(agent, said);
      const response = await reach(
        backend
          .as(user, address)
          .open(gateway.runtime.completeChat, { ...rest, signal, body: { ...body, stream: true } }),
      );
      return events(head(said), response);
    },

    async history(user: User, agentId: string | undefined, limit: number, address: string) {
      const { id } = await find(user, agentId);
      const { messages } = await reach(
        backend.as(user, address).call(gateway.runtime.getMessages, { params: { agentId: id }, query: { limit } }),
      );
      return { messages: messages.map((one) => ({ ...one, agentId: id })), count: messages.length };
    },
  };
}

interface Chunk {
  error?: unknown;
  code?: unknown;
  choices?: { delta?: { content?: string } }[];
}

const NOT_FOUND = errorType('openai', 404);
/** Said by its gateway, or by whoever passes on what it says. */
const isGone = ({ error, code }: Chunk): boolean =>
  code === AGENT_GONE || (error as { type?: unknown } | null)?.type === NOT_FOUND;

/** The agent's words as they come: `delta` for each piece, `done` with all of it, `error` when it broke off. */
async function* events(about: object, response: Response): AsyncGenerator<ServerEvent> {
  let reply = '';
  yield { event: 'start', data: about };
  for await (const { data } of eventsOf(response)) {
    if (data === '[DONE]') break;
    const chunk = JSON.parse(data) as Chunk;
    if (chunk.error !== undefined) {
      const error = isGone(chunk) ? NONE : (errorText(chunk.error) ?? 'The answer broke off');
      const { resume } = (chunk.error ?? {}) as { resume?: unknown };
      // Where the conversation goes on, when the process that answered is stopped.
      yield { event: 'error', data: { error, ...(resume !== undefined && { resume }) } };
      return;
    }
    const text = chunk.choices?.[0]?.delta?.content ?? '';
    reply += text;
    if (text !== '') yield { event: 'delta', data: { text } };
  }
  yield { event: 'done', data: { ...about, reply } };
}
