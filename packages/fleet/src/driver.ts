import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { GatewayTarget, RunStats } from '@troupe/agent';
import type { AgentDefinition } from '@troupe/domain';
import { AppError } from '@troupe/kernel';
import type { AgentRow } from '@troupe/roster';

/** What runs agents. Everything in it may be called again: a repeat changes nothing. */
export interface Driver {
  readonly name: string;
  /** The image of an agent that names none. */
  readonly image: string;
  /** Agents of it are told their gateway token when they start: a new one needs a new start. */
  readonly holdsToken?: boolean;
  /** Why no agent can be changed to this image; left out: the start will show. */
  refuses?: (image: string) => string | undefined;
  /** Makes the agent run, from `agent.image`. Answers when it serves, unless the placement says that it will. */
  start: (agent: AgentRow) => Promise<Placement>;
  /** Ends it; its data stays. */
  stop: (agent: AgentRow) => Promise<void>;
  /** Ends what writes for the agent unasked, such as its channels, before its rows go. Left out: there is nothing. */
  hush?: (agentId: string) => Promise<void>;
  /** Stops what it has in the background with other agents. Left out: that ends by its own bounds. */
  halt?: (agentId: string) => Promise<void>;
  /** Ends it, and nothing of it is left outside the database. */
  remove: (agent: Pick<AgentRow, 'id'> & Partial<Pick<AgentRow, 'driver'>>) => Promise<void>;
  /** Packs the agent's data (memory, conversations, files) into a file. It may go on running. */
  backup: (agent: AgentRow, file: string) => Promise<void>;
  /** Replaces the data of a stopped agent by what such a file holds. */
  restore: (agent: AgentRow, file: string) => Promise<void>;
  /** Memory and conversation go; workspace and configuration stay. */
  reset: (agent: AgentRow) => Promise<void>;
  /** Tells a running agent about its newest definition. */
  configure: (agent: AgentRow, definition: AgentDefinition) => Promise<void>;
  /** The agent's plan or provider is another one; what runs goes on with it. Left out: nothing of them is kept. */
  rethink?: (agentId: string) => Promise<void>;
  /** An MCP server of a user's is another one, or none. Left out: agents find that out by themselves. */
  forgetServer?: (userId: string, name: string) => Promise<void>;
  stats: (agent: AgentRow) => Promise<DriverStats>;
  /** The agents that run outside of this process, by id; undefined: nobody can tell now. Left out: all run here. */
  alive?: () => Promise<ReadonlySet<string> | undefined>;
  /** The agent's gateway. The request's body must not have been read. */
  handle: (request: IncomingMessage, response: ServerResponse, target: GatewayTarget) => Promise<void>;
  upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer, target: GatewayTarget) => Promise<void>;
  /** Ends the open connections of a token that no longer counts. */
  cut: (principalId: string) => void;
  /** Goes on with the work that a process which died has left; answers for how many agents. */
  recover: () => Promise<number>;
  /** Tells those who wait for answers here from where they can go on. Left out: whoever runs the agent does. */
  handOver?: () => void;
  /** Ends open connections, so that a server can close. */
  disconnect: () => Promise<void>;
  close: () => Promise<void>;
}

export interface Placement {
  version: string;
  /** What it really runs from. */
  image: string;
  container?: { id: string; name: string; status: string };
  /** It does not serve yet; `recover` finds out when it does. */
  deploying?: boolean;
}

/** Null: the driver cannot know. */
export interface DriverStats {
  /** Percent of one core. */
  cpu: number | null;
  /** Bytes. */
  memory: number | null;
  memoryPercent: number | null;
  network: { rx: number; tx: number } | null;
  pids: number | null;
  work: RunStats | null;
}

/** The driver could not do what it was asked to. Its message is for the user. */
export class DriverError extends AppError {
  constructor(message: string, cause?: unknown, extra: Record<string, unknown> = {}) {
    super(500, message, extra, { cause });
    this.name = 'DriverError';
  }
}
