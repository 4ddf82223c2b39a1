import type { Trace } from '@troupe/kernel';
import type { CallScope } from './types.ts';

/** The most that a call can use. */
export interface Bound {
  tokens: number;
  micros: number;
}

export interface UsageEvent {
  userId: string;
  agentId: string;
  runId: string | undefined;
  keyId: string | undefined;
  model: string;
  provider: string;
  inputTokens: number;
  outputTokens: number;
  /** Of the input: read from the provider's cache. */
  cachedTokens: number;
  /** Of the input: written to it. */
  cacheWriteTokens: number;
  /** Of the output: thought, not said. */
  reasoningTokens: number;
  costMicros: number;
  latencyMs: number;
  success: boolean;
  estimated: boolean;
  /** The platform pays, and nothing was set aside for it. */
  unreserved: boolean;
  reservation: Reservation | undefined;
  trace: Trace | undefined;
  operation: 'chat' | 'embeddings';
  finishReason: string | undefined;
  failure: string | undefined;
}

/** Opaque to the AI layer. */
export interface Reservation {
  readonly id: string;
  readonly counters: readonly object[];
}

/** What the AI layer needs of metering; the usage package has it. */
export interface Meter {
  /**
   * Sets the bound aside where caps or quotas apply to this caller and throws 429 QUOTA_EXCEEDED when there is not
   * enough left. Undefined: nothing applies, and `bound` was not called.
   */
  reserve: (scope: CallScope, bound: () => Bound) => Promise<Reservation | undefined> | undefined;
  settle: (reservation: Reservation, used: Bound) => Promise<void>;
  /** Never waits and never throws. */
  record: (event: UsageEvent) => void;
}
