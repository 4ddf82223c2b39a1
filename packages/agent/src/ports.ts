/** What an agent tells the platform around it. Model calls are metered by the model client it is given. */

export interface ToolCallRecord {
  agentId: string;
  runId: string;
  tool: string;
  ms: number;
  success: boolean;
}

/** Must not throw and must not slow the agent: recording happens beside it. */
export type ToolRecorder = (record: ToolCallRecord) => void;
