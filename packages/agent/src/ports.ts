import type { Trace } from '@troupe/kernel';
import type { RunOutcome, Spent } from './session/events.ts';

/** What an agent tells the platform around it. Model calls are metered by the model client it is given. */

export interface ToolCallRecord {
  agentId: string;
  runId: string;
  callId: string;
  tool: string;
  ms: number;
  success: boolean;
  trace: Trace | undefined;
}

/** A run that has ended. */
export interface RunRecord {
  agentId: string;
  agentName: string;
  /** Of its definition. */
  version: number;
  sessionId: string;
  runId: string;
  outcome: RunOutcome;
  spent: Spent;
  /** From the first input to the end, whoever was waited for meanwhile. */
  ms: number;
  trace: Trace | undefined;
}

/** Must not throw and must not slow the agent: recording happens beside it. */
export type ToolRecorder = (record: ToolCallRecord) => void;
export type RunRecorder = (record: RunRecord) => void;
