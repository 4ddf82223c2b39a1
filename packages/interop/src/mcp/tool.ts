import type { z } from 'zod';

/** A tool that we offer to others' models, whichever revision of the protocol they speak. */
export interface McpTool<Caller, Args extends z.ZodObject = z.ZodObject> {
  name: string;
  title: string;
  description: string;
  args: Args;
  /** What the caller must have been given. */
  scope: string;
  /** It changes nothing. */
  readOnly?: boolean;
  /** It takes something away. */
  destructive?: boolean;
  run: (args: z.output<Args>, context: McpCall<Caller>) => Promise<McpReply>;
}

export interface McpCall<Caller> {
  caller: Caller;
  /** Aborted when the caller leaves or takes the call back. */
  signal: AbortSignal;
  /** Where the caller's work belongs in a trace, as it says. */
  traceparent?: unknown;
}

export interface McpReply {
  /** Words for the model. */
  text: string;
  /** The same for programs. */
  data?: Record<string, unknown>;
  isError?: boolean;
}

/** Keeps the types of the arguments where a tool is written, and forgets them where tools are listed. */
export const mcpTool = <Caller, Args extends z.ZodObject>(tool: McpTool<Caller, Args>): McpTool<Caller> =>
  tool as unknown as McpTool<Caller>;

/** An error whose sentence is for the caller; whatever else a tool throws is not told. */
export class McpRefusal extends Error {
  override readonly name = 'McpRefusal';
}
