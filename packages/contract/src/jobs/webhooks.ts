import { z } from 'zod';
import { job, signal } from '../job.ts';

/** One message to one address: tried for a day, with an hour between tries at most. */
export const webhookJob = job({
  queue: 'webhook',
  data: z.object({ id: z.string() }),
  retryLimit: 30,
  retryDelaySeconds: 5,
  retryDelayMaxSeconds: 3600,
  expireSeconds: 60,
});

/** There are deliveries that nobody has taken up. */
export const webhooksWaiting = signal({ channel: 'webhooks', payload: z.string(), as: 'text' });
