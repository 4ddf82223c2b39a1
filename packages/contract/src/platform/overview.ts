import { z } from 'zod';
import { timestamp } from '../common.ts';
import { endpoint } from '../endpoint.ts';

export const getMetrics = endpoint({
  service: 'web',
  method: 'GET',
  path: '/api/metrics',
  auth: 'session',
  tag: 'Overview',
  summary: 'What the user’s agents did, measured',
  reply: z.object({
    metrics: z.object({
      agents: z.object({ total: z.number(), running: z.number(), stopped: z.number(), failed: z.number() }),
      messages: z.object({ total: z.number(), today: z.number() }),
      deployments: z.object({ total: z.number(), failed: z.number(), last: timestamp.nullable() }),
      uptime: z.object({ seconds: z.number(), since: timestamp }),
      performance: z.object({
        calls: z.number(),
        averageMs: z.number().nullable(),
        successRate: z.number().nullable(),
      }),
      storage: z.object({ memories: z.number(), memoryBytes: z.number(), events: z.number() }),
    }),
    timestamp,
    status: z.literal('ok'),
    plan: z.string().nullable(),
  }),
  errors: { 401: ['Unauthorized'] },
});

export const getBrief = endpoint({
  service: 'web',
  method: 'GET',
  path: '/api/daily-brief',
  auth: 'optional',
  tag: 'Overview',
  summary: 'The day in short: the platform’s state, and with a session the user’s own',
  reply: z.object({
    date: z.iso.date(),
    generatedAt: timestamp,
    brief: z.array(
      z.object({
        id: z.enum(['system', 'tasks', 'focus', 'intel', 'security', 'calendar']),
        title: z.string(),
        color: z.string(),
        items: z.array(z.string()),
      }),
    ),
  }),
});
