import type { ChatResult } from '@troupe/ai';

/** What an agent needs of the platform around it. */

export interface SpendRequest {
  agentId: string;
  runId: string;
  model: string;
  /** An upper bound of what the call may cost. */
  estimateTokens: number;
}

export interface SpendReservation {
  /** Called exactly once, with what was really spent; zero when the call failed. */
  settle: (actual: { tokens: number; costMicros: number }) => Promise<void>;
}

/** Reserve before a model call, settle after it. Throws an AppError when the plan, a limit or a cap says no. */
export interface SpendGate {
  reserve: (request: SpendRequest) => Promise<SpendReservation>;
}

export interface ModelCallRecord {
  kind: 'model';
  agentId: string;
  runId: string;
  model: string;
  provider: string;
  usage: ChatResult['usage'] | undefined;
  costMicros: number;
  ms: number;
  success: boolean;
}

export interface ToolCallRecord {
  kind: 'tool';
  agentId: string;
  runId: string;
  tool: string;
  ms: number;
  success: boolean;
}

/** Must not throw and must not slow the agent: recording happens beside it. */
export type UsageRecorder = (record: ModelCallRecord | ToolCallRecord) => void;

export const openGate: SpendGate = { reserve: async () => ({ settle: async () => {} }) };
