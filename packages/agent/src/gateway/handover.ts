import { AGENT_STOPPED } from '@troupe/contract';
import { AppError, type Linked } from '@troupe/kernel';
import type { Agent, Answer, Input, LiveEvent } from '../agent.ts';
import { STOPPED } from '../loop/waiting.ts';

/** Whoever waits for an answer here; each is told when this process ends before it. */
export type Waiting = Linked<() => void>;

/** What was asked is kept, and goes on elsewhere or later: where its steps are to be had, and after which of them. */
const handedOver = (taken: { sessionId: string; seq: number } | undefined, cause?: unknown): AppError =>
  new AppError(503, AGENT_STOPPED, taken ? { resume: { session: taken.sessionId, after: taken.seq } } : {}, { cause });

const isStopped = (error: unknown): boolean => error instanceof AppError && error.code === STOPPED;

/** The answer of the agent. Where it is stopped first, or its process ends, the error says from where its caller can go on. */
export async function askUntilStopped(
  agent: Agent,
  input: Input,
  { waiting, listener }: { waiting?: Waiting | undefined; listener?: (live: LiveEvent) => void } = {},
): Promise<Answer> {
  let taken: { sessionId: string; seq: number } | undefined;
  const onTaken = (found: { sessionId: string; seq: number }): void => {
    taken = found;
    input.onTaken?.(found);
  };
  const over = Promise.withResolvers<never>();
  const place = waiting?.add(() => over.reject(handedOver(taken)));
  try {
    return await Promise.race([agent.ask({ ...input, onTaken }, listener), over.promise]);
  } catch (error) {
    throw isStopped(error) ? handedOver(taken, error) : error;
  } finally {
    if (place) waiting?.delete(place);
  }
}
