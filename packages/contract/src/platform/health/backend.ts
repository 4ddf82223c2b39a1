import { z } from 'zod';
import { timestamp } from '../../common.ts';
import { endpoint } from '../../endpoint.ts';

export const get = endpoint({
  service: 'backend',
  method: 'GET',
  path: '/health',
  auth: 'none',
  tag: 'Health',
  summary: 'State of the backend',
  reply: z.object({
    status: z.literal('ok'),
    timestamp,
    driver: z.string(),
    provisioning: z.enum(['enabled', 'disabled']),
  }),
});
