import { z } from 'zod';
import { job, signal } from '../job.ts';

/** Security events wait to be acted on, in the order they came. */
export const securityEventsJob = job({
  queue: 'security-events',
  data: z.object({ jti: z.string() }),
  retryLimit: 50,
  expireSeconds: 120,
});

/** The backend ends agents whose rows say already that they are stopped. */
export const stopAgentsJob = job({
  queue: 'stop-agents',
  data: z.object({ agentIds: z.array(z.string()) }),
  untilDone: true,
});

/** An account that was closed is erased, unless its owner has kept it meanwhile. */
export const eraseAccountJob = job({
  queue: 'erase-account',
  data: z.object({ userId: z.string() }),
  untilDone: true,
});

/** A plan that was given for some days has come to its end, unless it was changed meanwhile. */
export const planEndsJob = job({
  queue: 'plan-ends',
  data: z.object({ userId: z.string() }),
  untilDone: true,
});

/** Told by the database when a session, key, device or gateway token is no more; the payload names it: `device:ID`. */
export const credentialEnded = signal({ channel: 'credential_ended', payload: z.string(), as: 'text' });
