import { AppError, type Outbound } from '@troupe/kernel';
import { z } from 'zod';
import type { Peer } from './tools/transfer-task.ts';

/** A member of the team that runs as a program of its own, reached through its gateway. */

const answerSchema = z.object({
  sessionId: z.string(),
  outcome: z.enum(['done', 'cancelled', 'failed', 'limit', 'loop', 'waiting']),
  output: z.string(),
  error: z.string().optional(),
  spent: z.object({ turns: z.number(), tokens: z.number(), costMicros: z.number(), ms: z.number() }),
});

export function remotePeer({ url, token, outbound }: { url: string; token: string; outbound: Outbound }): Peer {
  async function post(path: string, body: object, timeout: number): Promise<unknown> {
    const response = await outbound.fetch(url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      timeout,
      redirects: 0,
    });
    const answer = (await response.json()) as { error?: string };
    if (response.status >= 400) throw new AppError(502, answer.error ?? `the member answered ${response.status}`);
    return answer;
  }
  // A member's session belongs to one call: the call's key names both the task and its only run.
  return {
    async ask({ to, content, limits, depth }) {
      const taskId = 'key' in to ? to.key : to.id;
      const seconds = (limits?.maxSeconds ?? 600) + 30;
      const answer = answerSchema.parse(
        await post('/execute', { taskId, runId: taskId, prompt: content, limits, depth }, seconds * 1000),
      );
      const { sessionId, outcome, output, error, spent } = answer;
      return { sessionId, outcome, reply: output, ...(error !== undefined && { reason: error }), spent };
    },
    stop: async (key) => void (await post('/tasks/cancel', { taskId: key, runId: key }, 10_000)),
  };
}
