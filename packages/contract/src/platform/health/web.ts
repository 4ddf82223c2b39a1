import { z } from 'zod';
import { timestamp } from '../../common.ts';
import { endpoint } from '../../endpoint.ts';

export const get = endpoint({
  service: 'web',
  method: 'GET',
  path: '/api/health',
  auth: 'none',
  tag: 'Health',
  summary: 'State of the platform',
  reply: z.object({
    status: z.literal('ok'),
    health: z.enum(['healthy', 'degraded', 'unhealthy']),
    timestamp,
    checks: z.object({ database: z.boolean(), backend: z.boolean(), redis: z.boolean().optional() }),
  }),
});
