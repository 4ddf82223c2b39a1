import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Log } from '@troupe/kernel';
import type { Agent, Kept } from '../agent.ts';
import type { Waiting } from './handover.ts';

export interface GatewayPrincipal {
  /** Names what the caller came with; its open connections are cut by this name. */
  id: string;
  kind: 'owner' | 'device' | 'member' | 'key';
  /** Pages that may use it from a browser. */
  origins?: readonly string[];
}

/** How a token is shown. */
export interface Showing {
  /** To open a WebSocket: a ticket is good for nothing else. */
  socket: boolean;
  /** Below /v1, at /mcp, /a2a and /ag-ui, where programs talk to it: an API key of the owner's is good for nothing else. */
  asModel?: boolean;
  /** At /mcp: an access token that the owner gave a program is good for nothing else. */
  asClient?: boolean;
  /** It opened the connection before: a ticket's minutes to do so no longer count, all that it hangs on does. */
  isOpen?: boolean;
  /** Whom the platform says it passes on, in x-gateway-caller; to be believed with the platform's own token only. */
  caller?: string | undefined;
}

export type Verify = (agentId: string, token: string, showing: Showing) => Promise<GatewayPrincipal | undefined>;

export interface GatewayTarget {
  agentId: string;
  /** The path below the agent's root, query included: `/v1/chat/completions?…`. */
  path: string;
}

/** A task of A2A: one message of a session. */
export interface PushedTask {
  userId: string;
  agentId: string;
  sessionId: string;
  seq: number;
}

/** Where somebody wants to be told of a task, and what is shown there. */
export interface PushConfig {
  id: string;
  url: string;
  token?: string | undefined;
  authentication?: { scheme: string; credentials: string } | undefined;
}

export interface PushConfigs {
  /** Throws where nothing may be sent to. */
  check: (url: string) => void;
  /** Replaces the one of that id. */
  set: (task: PushedTask, config: PushConfig, version: '1.0' | '0.3') => Promise<void>;
  list: (task: PushedTask) => Promise<PushConfig[]>;
  remove: (task: PushedTask, id: string) => Promise<void>;
}

export interface GatewayDeps {
  /** The agent, awake; undefined: there is none. */
  agent: (agentId: string) => Promise<Agent | undefined>;
  /** What it has kept, to be read whether it runs or not; left out: the agent is asked. */
  kept?: (agentId: string) => Promise<Kept | undefined>;
  /** Who shows this token to this agent; undefined: nobody. */
  verify: Verify;
  /** Where the outside finds the agent's root, without a trailing slash. */
  publicUrl: (agentId: string) => string;
  version: string;
  log: Log;
  /** Those who wait for an answer, to be told when this process ends; left out: nobody can tell them. */
  waiting?: Waiting;
  /** How often open connections show their token again; 5 s unless said. */
  recheckMs?: number;
  /** Who is told of tasks; left out: nobody can be. */
  push?: PushConfigs | undefined;
  /** Webhooks of messaging channels: answers whether it was one. They carry no gateway token. */
  webhook?: (target: GatewayTarget, request: IncomingMessage, response: ServerResponse) => Promise<boolean>;
}

/** One gateway serves any number of agents. The body of the request must not have been read yet. */
export interface Gateway {
  handle: (request: IncomingMessage, response: ServerResponse, target: GatewayTarget) => Promise<void>;
  upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer, target: GatewayTarget) => Promise<void>;
  /** Ends the open connections of a token that no longer counts. */
  cut: (principalId: string) => void;
  close: () => Promise<void>;
}
