import { z } from 'zod';
import { timestamp } from '../common.ts';
import { endpoint } from '../endpoint.ts';

const base = { service: 'web', tag: 'Devices', invalidJson: 'Invalid request body' } as const;

export const deviceStatus = z.enum(['pending', 'approved', 'denied', 'revoked']);

const device = z.object({
  id: z.string(),
  name: z.string(),
  agentId: z.string().nullable().describe('The agent that it asks to talk to; null when that is gone'),
  ip: z.string(),
  firstSeen: timestamp,
  lastSeen: timestamp,
  status: deviceStatus,
});
export type Device = z.output<typeof device>;

const lists = { pending: z.array(device), approved: z.array(device) };

export const list = endpoint({
  ...base,
  method: 'GET',
  path: '/api/devices',
  auth: 'optional',
  summary: 'Devices that wait or are approved',
  reply: z.object(lists),
  errors: { 401: ['Unauthorized'] },
});

const MISSING = 'Missing required fields: deviceId, action';

export const change = endpoint({
  ...base,
  method: 'POST',
  path: '/api/devices',
  auth: 'optional',
  summary: 'Approve, deny or revoke a device',
  body: z.object(
    {
      deviceId: z.string({ error: MISSING }).min(1, MISSING),
      action: z
        .string({ error: MISSING })
        .min(1, MISSING)
        .pipe(z.enum(['approve', 'deny', 'revoke'], { error: 'Invalid action. Must be: approve, deny, or revoke' })),
    },
    { error: 'Invalid request body' },
  ),
  reply: z.object({ success: z.literal(true), device, ...lists }),
  errors: {
    400: [
      MISSING,
      'Invalid action. Must be: approve, deny, or revoke',
      'Device is not pending',
      'Device is not approved',
      'Invalid request body',
    ],
    401: ['Unauthorized'],
    404: ['Device not found'],
  },
});

export const pair = endpoint({
  ...base,
  method: 'POST',
  path: '/api/devices/pair',
  auth: 'none',
  status: 201,
  summary: 'Ask to be paired with an agent; the bearer is the agent’s gateway token',
  body: z.object({
    name: z.string({ error: 'Name required' }).trim().min(1, 'Name required').max(64, 'Name too long (max 64 chars)'),
  }),
  reply: z.object({ deviceId: z.string(), deviceSecret: z.string() }),
  errors: { 400: ['Name required', 'Name too long (max 64 chars)'], 401: ['Invalid gateway token'] },
});

export const getPairing = endpoint({
  ...base,
  method: 'GET',
  path: '/api/devices/pair/:deviceId',
  auth: 'none',
  summary: 'How a pairing stands; the bearer is the device’s secret. An approved device is given its token',
  params: z.object({ deviceId: z.string() }),
  reply: z.object({ status: deviceStatus, token: z.string().optional() }),
  errors: { 401: ['Invalid device secret'] },
});
