import { z } from 'zod';
import { job, signal } from '../job.ts';

const mail = {
  /** What the mail is about, and never a secret: it is composed when it is sent. */
  data: z.object({ kind: z.string(), data: z.looseObject({ email: z.string() }) }),
  /** With ten minutes between tries at most, a mail server may be away for a day. */
  retryLimit: 150,
  expireSeconds: 120,
};

/** Mail that lets somebody in. */
export const mailJob = job({ queue: 'mail', ...mail });

/** Mail that only tells something. */
export const mailNewsJob = job({ queue: 'mail-news', ...mail });

/** Something that pages show has changed: `user topic`, where the user `*` is every administrator. */
export const liveChanged = signal({ channel: 'live', payload: z.string(), as: 'text' });

/** Somebody has a new notice; the payload is the user's id. */
export const noticeRaised = signal({ channel: 'notices', payload: z.string(), as: 'text' });

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

/** Administrators have added, changed or removed a provider of AI models. */
export const aiProvidersChanged = signal({ channel: 'ai_providers', payload: z.string(), as: 'text' });

/** One message to one browser: tried for two hours, since it is of no use much later. */
export const pushJob = job({
  queue: 'push',
  data: z.object({ id: z.string(), subscriptionId: z.string() }),
  retryLimit: 8,
  retryDelaySeconds: 5,
  retryDelayMaxSeconds: 1800,
  expireSeconds: 60,
});

/** There are push messages that nobody has taken up. */
export const pushesWaiting = signal({ channel: 'pushes', payload: z.string(), as: 'text' });
