/** How Anthropic's Managed Agents tell what happens in a session, from the steps of an agent's own log. */

export interface Step {
  seq: number;
  at: string;
  type: string;
  [field: string]: unknown;
}

export interface ManagedEvent {
  id: string;
  type: string;
  [field: string]: unknown;
}

interface Call {
  callId: string;
  tool: string;
  args: string;
  caller?: boolean;
}

interface Waiting {
  callId: string;
  /** Of the event that told of it. */
  id: string;
  isCallers: boolean;
  isAsked: boolean;
  /** It is a tool of an MCP server. */
  isMcp: boolean;
}

/** The server that offers a tool, and what it calls it; undefined: it is the agent's own. */
export type ServerOf = (tool: string) => { server: string; name: string } | undefined;

const toolUseId = (seq: number, callId: string): string => `sevt_${seq}_${callId}`;

/** The call that an event told of; undefined: no such event. */
export const callOf = (eventId: string): string | undefined => /^sevt_\d{1,9}_(.+)$/.exec(eventId)?.[1];

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const blocks = (value: unknown) => [{ type: 'text', text: text(value) }];

function inputOf(args: string): Record<string, unknown> {
  try {
    const read: unknown = JSON.parse(args);
    if (typeof read === 'object' && read !== null && !Array.isArray(read)) return read as Record<string, unknown>;
  } catch {
    // The model wrote something that is no JSON: it is shown as it is.
  }
  return { text: args };
}

/** Steps in their order, from the beginning or from a step that ends or begins anew what is waited for. */
export class ManagedTranslator {
  #waiting: Waiting[] = [];
  #isRunning = false;
  readonly #serverOf: ServerOf;

  constructor(serverOf: ServerOf = () => undefined) {
    this.#serverOf = serverOf;
  }

  /** Where somebody who has read up to here can begin again. */
  static readonly #anchors: ReadonlySet<string> = new Set(['assistant', 'run_ended']);

  static isAnchor = ({ type }: Step): boolean => ManagedTranslator.#anchors.has(type);

  add(step: Step): ManagedEvent[] {
    const { seq, at: processed_at } = step;
    let count = 0;
    const make = (type: string, fields: object = {}, id = `sevt_${seq}.${count++}`): ManagedEvent => ({
      id,
      type,
      processed_at,
      ...fields,
    });
    const told = this.#told(step, make);
    const isStuck = this.#waiting.length > 0 && this.#waiting.every(({ isCallers, isAsked }) => isCallers || isAsked);
    if (!isStuck || !this.#isRunning) return told;
    this.#isRunning = false;
    const event_ids = this.#waiting.map(({ id }) => id);
    return [
      ...told,
      make('session.status_idle', { stop_reason: { type: 'requires_action', event_ids }, stop_details: null }),
    ];
  }

  #told(step: Step, make: (type: string, fields?: object, id?: string) => ManagedEvent): ManagedEvent[] {
    const { type } = step;
    if (type === 'user') {
      const said = step['background'] === undefined ? [make('user.message', { content: blocks(step['content']) })] : [];
      return [...said, ...this.#run(make)];
    }
    if (type === 'assistant') return this.#said(step, make);
    if (type === 'tool_result') return this.#result(step, make);
    if (type === 'approval_requested') return this.#asked(step);
    if (type === 'approval_decided') return this.#decided(step, make);
    if (type === 'cancel_requested') return [make('user.interrupt')];
    if (type === 'run_ended') return this.#ended(step, make);
    return [];
  }

  #run(make: (type: string) => ManagedEvent): ManagedEvent[] {
    if (this.#isRunning) return [];
    this.#isRunning = true;
    return [make('session.status_running')];
  }

  #said(step: Step, make: (type: string, fields?: object, id?: string) => ManagedEvent): ManagedEvent[] {
    // A reader may begin here.
    this.#isRunning = true;
    const calls = (step['toolCalls'] ?? []) as Call[];
    this.#waiting = calls.map(({ callId, tool, caller }) => ({
      callId,
      id: toolUseId(step.seq, callId),
      isCallers: caller === true,
      isAsked: false,
      isMcp: caller !== true && this.#serverOf(tool) !== undefined,
    }));
    const { in: input = 0, out = 0, cached = 0, thought = 0 } = (step['tokens'] ?? {}) as Record<string, number>;
    const start = make('span.model_request_start');
    const usage = {
      input_tokens: input - cached,
      output_tokens: out,
      cache_read_input_tokens: cached,
      cache_creation_input_tokens: 0,
    };
    return [
      start,
      make('span.model_request_end', { model_request_start_id: start.id, is_error: false, model_usage: usage }),
      // What was thought is not kept; that something was is told.
      ...(thought > 0 ? [make('agent.thinking')] : []),
      ...(text(step['content']) === '' ? [] : [make('agent.message', { content: blocks(step['content']) })]),
      ...calls.map((call) => {
        const { type, ...fields } = this.#used(call);
        return make(type, { ...fields, input: inputOf(call.args) }, toolUseId(step.seq, call.callId));
      }),
    ];
  }

  #used({ tool: name, caller }: Call): { type: string; name: string; mcp_server_name?: string } {
    if (caller === true) return { type: 'agent.custom_tool_use', name };
    const offered = this.#serverOf(name);
    if (!offered) return { type: 'agent.tool_use', name };
    return { type: 'agent.mcp_tool_use', mcp_server_name: offered.server, name: offered.name };
  }

  #result(step: Step, make: (type: string, fields?: object) => ManagedEvent): ManagedEvent[] {
    const call = this.#waiting.find(({ callId }) => callId === step['callId']);
    if (!call) return [];
    this.#waiting = this.#waiting.filter((one) => one !== call);
    const shared = { content: blocks(step['content']), is_error: step['isError'] === true };
    if (call.isMcp) return [make('agent.mcp_tool_result', { mcp_tool_use_id: call.id, ...shared })];
    if (!call.isCallers) return [make('agent.tool_result', { tool_use_id: call.id, ...shared })];
    return [make('user.custom_tool_result', { custom_tool_use_id: call.id, ...shared }), ...this.#run(make)];
  }

  #asked({ callId }: Step): [] {
    for (const call of this.#waiting) if (call.callId === callId) call.isAsked = true;
    return [];
  }

  #decided(step: Step, make: (type: string, fields?: object) => ManagedEvent): ManagedEvent[] {
    const call = this.#waiting.find(({ callId }) => callId === step['callId']);
    if (!call) return [];
    call.isAsked = false;
    const result = step['approved'] === true ? 'allow' : 'deny';
    return [make('user.tool_confirmation', { tool_use_id: call.id, result }), ...this.#run(make)];
  }

  #ended(step: Step, make: (type: string, fields?: object) => ManagedEvent): ManagedEvent[] {
    this.#isRunning = false;
    this.#waiting = [];
    const { outcome, reason, refusal } = step;
    const idle = (type: string) => make('session.status_idle', { stop_reason: { type }, stop_details: null });
    // Something was said after it was stopped: the session goes on with that.
    const goesOn = step['leaves'] === undefined ? [] : this.#run(make);
    if (outcome === 'done' || outcome === 'cancelled') return [idle('end_turn'), ...goesOn];
    const message = text(reason) || 'The run ended without an answer.';
    const error = { type: 'unknown_error', message, retry_status: { type: 'exhausted' } };
    return [make('session.error', { error }), idle(refusal === undefined ? 'retries_exhausted' : 'budget_reached')];
  }
}
