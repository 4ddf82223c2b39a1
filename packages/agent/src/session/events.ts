import type { ChatRequest } from '@troupe/ai';
import type { RunLimits } from '@troupe/domain';

/** What happened in a session, in order and for good. State is never stored beside it, only computed from it. */

export interface CallRecord {
  callId: string;
  tool: string;
  /** JSON text as the model wrote it: it may be broken. */
  args: string;
  /** A tool of whoever gave the input: he runs it, and comes back with the result. */
  caller?: true;
}

/** A file of the workspace that was given with a message. */
export interface Attachment {
  path: string;
  kind: 'picture' | 'pdf' | 'text' | 'other';
  mime: string;
  bytes: number;
  /** What a model reads of it: as it was when it was given, whatever becomes of the file. */
  text?: string;
  cut?: true;
  note?: string;
}

/** What somebody who gives an input wants of the model, beside an answer. */
export type Wishes = Pick<
  ChatRequest,
  | 'tools'
  | 'tool_choice'
  | 'parallel_tool_calls'
  | 'response_format'
  | 'reasoning'
  | 'temperature'
  | 'top_p'
  | 'max_tokens'
  | 'stop'
  | 'seed'
  | 'presence_penalty'
  | 'frequency_penalty'
  | 'top_k'
  | 'prompt_cache_key'
  | 'verbosity'
  /** In place of the agent's own, for this run. */
  | 'model'
> & {
  /** Whoever asks is a stranger: words and documents, none of the tools that reach anything else, no memories. */
  abilities?: 'answers';
  /** In place of the agent's own, for this run: its owner tries another one. */
  instruction?: string;
  /** Memory stores of its owner's session: whose they are, and what the model is told of them. */
  stores?: { session: string; says: string };
};

/** What was used up. Delegated work counts for the one who delegated. */
export interface Spent {
  turns: number;
  tokens: number;
  costMicros: number;
  ms: number;
  /** Of the tokens: what models wrote. Left out where nothing was. */
  outputTokens?: number;
  /** Of the tokens: read from a provider's cache, and of those that models wrote: only thought. Left out where none were. */
  cachedTokens?: number;
  thoughtTokens?: number;
}

/** How a task ended that the agent had in the background; tokens and cost count for it as if it had waited. */
export interface EndedTask {
  id: string;
  member: string;
  status: 'done' | 'failed' | 'stopped';
  spent: Spent;
}

export type Refusal = Readonly<Record<string, unknown>>;

/** A provider is asked too often; in seconds, when it says to come again. */
export interface Busy {
  retryAfter?: number;
}

export type RunOutcome = 'done' | 'cancelled' | 'failed' | 'limit' | 'loop';

/** What an agent asks its person. */
export interface Question {
  message: string;
  title?: string;
  /** Answers to choose from; any other will do as well. */
  options?: readonly string[];
}

export type SessionEventBody =
  /** Input. The first one after the end of a run starts the next; `limits` narrows it. */
  | {
      type: 'user';
      content: string;
      from?: string;
      /** The owner names whoever says it, one by one: on most channels anybody may write. */
      named?: true;
      limits?: RunLimits;
      wishes?: Wishes;
      attachments?: readonly Attachment[];
      /** Where the asking belongs, as W3C Trace Context writes it. */
      trace?: string;
      /** The run is work that somebody has in the background, so deep. */
      depth?: number;
      /** Nobody said it: it is how work in the background ended. */
      background?: EndedTask;
    }
  /** A message of a conversation that took place elsewhere. */
  | {
      type: 'imported';
      role: 'user' | 'assistant' | 'system';
      content: string;
      /** Said here, but not to the agent or by it: a person's words, or where the conversation went. */
      by?: string;
    }
  /**
   * `saw` is the newest event that the model was shown: an input after it is not answered by this. `stopped`: what it had
   * said, and cost, when it was told to stop; no answer to anything.
   */
  | {
      type: 'assistant';
      content: string;
      toolCalls: CallRecord[];
      model: string;
      spent: Spent;
      saw: number;
      stopped?: true;
      /** Another agent goes on from these words: they are no answer. */
      handsOver?: true;
      provider?: string;
      /** As the provider counted them; `cached` of those that went in were in its cache, `thought` of those that came out. */
      tokens?: { in: number; out: number; cached?: number; thought?: number };
    }
  /** Stored before the tool runs. */
  | { type: 'tool_started'; callId: string; tool: string }
  | {
      type: 'tool_result';
      callId: string;
      tool: string;
      content: string;
      isError: boolean;
      spent: Spent;
      /** Pictures that came of it. */
      attachments?: readonly Attachment[];
    }
  | {
      type: 'approval_requested';
      approvalId: string;
      callId: string;
      tool: string;
      args: string;
      /** It is no call that is allowed or not: somebody is asked for words. Set by the loop, never by a tool's name. */
      question?: Question;
    }
  | {
      type: 'approval_decided';
      approvalId: string;
      callId: string;
      approved: boolean;
      by: string;
      /** To a question, or why not. */
      answer?: string;
    }
  /** Stands in the prompt for everything up to and including `upTo`; the log itself keeps all. */
  | {
      type: 'compaction';
      summary: string;
      upTo: number;
      spent: Spent;
      run: { seq: number; limits?: RunLimits; wishes?: Wishes; trace?: string; depth?: number };
      /** What was activated before it: a summary would lose what such a text is for. */
      skills?: readonly { name: string; version: string; content: string }[];
      /** Who has the conversation by then. */
      acting?: { agentId: string; name: string };
    }
  /** From here on this agent of the team answers. */
  | { type: 'handoff'; to: { agentId: string; name: string }; by: string }
  | { type: 'cancel_requested'; by: string }
  /** Another process, or a later try of this one, takes up a run that was left behind. */
  | { type: 'recovered' }
  /**
   * `refusal`: what the meter says beside the reason: code, used, limit, when it resets. `leaves`: the first input that it
   * does not end, since it came after the run was told to stop: the next run begins with it. `busy`: it is for later.
   */
  | {
      type: 'run_ended';
      outcome: RunOutcome;
      reason?: string;
      refusal?: Refusal;
      busy?: Busy;
      spent: Spent;
      leaves?: number;
    };

export type SessionEvent = SessionEventBody & { seq: number; at: string };

export type SessionStatus =
  /** nothing to do */
  | 'idle'
  /** input that is not answered yet */
  | 'open'
  /** cannot go on before somebody decides an approval, or gives the result of a call */
  | 'waiting';

export const NOTHING_SPENT: Spent = { turns: 0, tokens: 0, costMicros: 0, ms: 0 };

export function addSpent(a: Spent, b: Spent): Spent {
  const sum = (name: 'outputTokens' | 'cachedTokens' | 'thoughtTokens'): number => (a[name] ?? 0) + (b[name] ?? 0);
  const [outputTokens, cachedTokens, thoughtTokens] = [sum('outputTokens'), sum('cachedTokens'), sum('thoughtTokens')];
  return {
    turns: a.turns + b.turns,
    tokens: a.tokens + b.tokens,
    costMicros: a.costMicros + b.costMicros,
    ms: a.ms + b.ms,
    ...(outputTokens > 0 && { outputTokens }),
    ...(cachedTokens > 0 && { cachedTokens }),
    ...(thoughtTokens > 0 && { thoughtTokens }),
  };
}

/** There is something to do after these; a result may come from outside. */
const OPENING: ReadonlySet<string> = new Set(['user', 'tool_result', 'approval_decided', 'cancel_requested']);

/** The status that an event leaves its session in; undefined: as it was. */
function statusAfter(body: SessionEventBody): SessionStatus | undefined {
  if (OPENING.has(body.type)) return 'open';
  if (body.type === 'approval_requested') return 'waiting';
  if (body.type === 'run_ended') return 'idle';
  return undefined;
}

/** The status that a session has after these; null: as it was. */
export const lastStatus = (events: readonly SessionEventBody[]): SessionStatus | null =>
  events.map(statusAfter).findLast((status) => status !== undefined) ?? null;
