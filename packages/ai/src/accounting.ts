import { costMicros, type Rates } from '@troupe/domain';
import type { Log, Trace } from '@troupe/kernel';
import type { Bound, Meter, Reservation, UsageEvent } from './meter.ts';
import type { Candidate } from './routing.ts';
import type { CallScope, ChatUsage } from './types.ts';

/** What every call to a provider costs, and on whose account: set aside before it, settled and recorded after it. */

export interface Charged {
  scope: CallScope;
  /** Somebody else pays. */
  isOwn: boolean;
  reservation: Reservation | undefined;
  started: number;
  /** Its own place in the trace of whoever asked. */
  trace: Trace | undefined;
  /** `chat` when left out. */
  operation?: UsageEvent['operation'];
}

/** How a call came out. */
export interface Ended {
  usage: ChatUsage;
  success: boolean;
  /** Nobody counted: the usage is ours. */
  estimated: boolean;
  finishReason?: string | undefined;
  /** Why there is no answer, in a word. */
  failure?: string | undefined;
}

export type Accounting = ReturnType<typeof createAccounting>;

export function createAccounting(meter: Meter | undefined, log: Log) {
  async function settle(reservation: Reservation, tokens: number, micros: number): Promise<number> {
    try {
      await meter!.settle(reservation, { tokens, micros });
    } catch (error) {
      // The answer exists and is paid for. The reservation itself runs out and counts in full.
      log.error({ err: error, reservation: reservation.id }, 'a reservation could not be settled');
    }
    return micros;
  }

  return {
    settle,
    reserve: (scope: CallScope, bound: () => Bound) => meter?.reserve(scope, bound),
    /** Records the call and gives back what it did not use; most calls set nothing aside, and then nothing is waited for. */
    end(
      { scope, reservation, isOwn, started, trace, operation = 'chat' }: Charged,
      { id, provider, rates }: Candidate,
      { usage, success, estimated, finishReason, failure }: Ended,
    ): Promise<number> | number {
      const cachedTokens = usage.prompt_tokens_details?.cached_tokens ?? 0;
      const micros = isOwn ? 0 : costMicros(rates, usage.prompt_tokens, usage.completion_tokens, cachedTokens);
      meter?.record({
        userId: scope.userId,
        agentId: scope.agentId ?? '',
        runId: scope.runId,
        keyId: scope.keyId,
        model: id,
        provider: provider.name,
        inputTokens: usage.prompt_tokens,
        outputTokens: usage.completion_tokens,
        cachedTokens,
        cacheWriteTokens: usage.prompt_tokens_details?.cache_write_tokens ?? 0,
        reasoningTokens: usage.completion_tokens_details?.reasoning_tokens ?? 0,
        costMicros: micros,
        latencyMs: Math.round(performance.now() - started),
        success,
        estimated,
        unreserved: reservation === undefined && !isOwn,
        reservation,
        trace,
        operation,
        finishReason,
        failure,
      });
      return reservation ? settle(reservation, usage.total_tokens, micros) : micros;
    },
  };
}

/** The dearest of those who may serve. */
export const dearest = (candidates: readonly { rates: Rates }[], input: number, output: number): Bound => ({
  tokens: input + output,
  micros: Math.max(...candidates.map(({ rates }) => costMicros(rates, input, output))),
});
