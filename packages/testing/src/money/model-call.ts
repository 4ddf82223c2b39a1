import type { AiEvent } from '@troupe/usage';

/** A call of a model, as it is metered. */
export const modelCall = (given: Partial<AiEvent> = {}): AiEvent => ({
  userId: 'ann',
  agentId: 'a1',
  runId: undefined,
  model: 'openai/gpt-4o',
  provider: 'openrouter',
  inputTokens: 100,
  outputTokens: 20,
  costMicros: 800,
  latencyMs: 12,
  success: true,
  estimated: false,
  ...given,
});
