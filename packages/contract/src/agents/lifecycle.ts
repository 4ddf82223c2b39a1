import { z } from 'zod';
import { success } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import {
  agentParams,
  AGENT_LIMIT_TEXT,
  AGENT_NOT_FOUND,
  BUSY_AGENT_TEXT,
  denied,
  NO_COPY_TEXTS,
  START_TEXTS,
} from './fields.ts';

const action = {
  service: 'backend',
  tag: 'Lifecycle',
  auth: 'internal',
  method: 'POST',
  params: agentParams,
  errors: {
    ...denied,
    402: ['A paid plan is required. Choose a plan at /pricing', AGENT_LIMIT_TEXT],
    404: [AGENT_NOT_FOUND],
    409: [BUSY_AGENT_TEXT],
    500: START_TEXTS,
  },
} as const;

export const start = endpoint({
  ...action,
  path: '/api/agents/:id/start',
  summary: 'Start an agent',
  reply: success.extend({ status: z.literal('active') }),
});

export const stop = endpoint({
  ...action,
  path: '/api/agents/:id/stop',
  summary: 'Stop an agent; its data and configuration stay',
  reply: success.extend({ status: z.literal('stopped') }),
});

export const restart = endpoint({
  ...action,
  path: '/api/agents/:id/restart',
  summary: 'Stop and start an agent',
  reply: success.extend({ status: z.literal('active'), runtimeVersion: z.string() }),
});

const BAD_IMAGE = 'Invalid docker image value';
/** `[registry[:port]/]name[/name…][:tag][@digest]` */
const IMAGE =
  /^(?:[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?(?::\d{1,5})?\/)?[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*)*(?::\w[\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$/;

export const updateImage = endpoint({
  ...action,
  path: '/api/agents/:id/update',
  summary: 'Back up, change to another image, and return to the old one if the new one does not become healthy',
  body: z.object({
    image: z.string({ error: BAD_IMAGE }).max(255, BAD_IMAGE).regex(IMAGE, BAD_IMAGE).optional(),
  }),
  reply: success.extend({
    status: z.literal('active'),
    image: z.string(),
    previousImage: z.string(),
    backupPath: z.string(),
    runtimeVersion: z.string(),
  }),
  errors: {
    ...action.errors,
    400: [BAD_IMAGE],
    409: [BUSY_AGENT_TEXT, ...NO_COPY_TEXTS],
    500: [
      ...START_TEXTS,
      'Agents in the platform run from <image> only',
      'Update failed, the previous image is running again: <reason>',
      'Update failed: <reason>. The previous image could not be started: <reason>',
    ],
  },
});

export const repair = endpoint({
  ...action,
  path: '/api/agents/:id/repair',
  summary: 'Make the agent anew from the same image; its data stays',
  reply: success.extend({ message: z.string() }),
});

export const rotateToken = endpoint({
  ...action,
  path: '/api/agents/:id/token/rotate',
  summary: 'A new gateway token; the old one, and what it opened, ends at once',
  reply: success.extend({ token: z.string() }),
});

export const resetMemory = endpoint({
  ...action,
  path: '/api/agents/:id/reset-memory',
  summary: 'Forget memory and conversations; workspace and configuration stay',
  reply: success.extend({ message: z.string() }),
});
