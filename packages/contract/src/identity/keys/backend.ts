import { z } from 'zod';
import { planName } from '../../common.ts';
import { endpoint } from '../../endpoint.ts';
import { INVALID_KEY, MISSING_KEY } from './web.ts';

export const validate = endpoint({
  service: 'backend',
  tag: 'Keys',
  method: 'POST',
  path: '/api/validate-key',
  auth: 'none',
  summary: 'Whose key the bearer is; its prefix may be left out',
  reply: z.object({
    valid: z.literal(true),
    userId: z.string(),
    plan: planName.nullable(),
    features: z.array(z.string()),
  }),
  errorFields: { valid: false },
  errors: { 401: [MISSING_KEY, INVALID_KEY] },
});
