import { z } from 'zod';
import { timestamp } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { BAD_CONFIG_TEXTS } from './fields.ts';

const base = {
  service: 'web',
  path: '/api/config',
  auth: 'optional',
  tag: 'Configuration',
  invalidJson: 'Invalid request body',
} as const;

const config = z.record(z.string(), z.unknown());
const backups = z.array(z.object({ id: z.string(), timestamp }));

export const get = endpoint({
  ...base,
  method: 'GET',
  summary: 'The configuration that agents run with, and its backups',
  reply: z.object({ config, backups }),
  errors: { 401: ['Unauthorized'] },
});

export const save = endpoint({
  ...base,
  method: 'POST',
  summary: 'Replace the configuration; the current one is backed up first',
  // The service says what is wrong with it.
  body: z.object({ config: z.unknown().optional() }, { error: 'Invalid request body' }),
  reply: z.object({ success: z.literal(true), config, backupId: z.string(), backups }),
  errors: { 400: [...BAD_CONFIG_TEXTS, 'Config is not valid JSON', 'Invalid request body'], 401: ['Unauthorized'] },
});

export const restore = endpoint({
  ...base,
  method: 'PUT',
  summary: 'Restore a backup; the current configuration is backed up first',
  body: z.object(
    { backupId: z.string({ error: 'Missing backupId' }).min(1, 'Missing backupId') },
    { error: 'Invalid request body' },
  ),
  reply: z.object({ success: z.literal(true), config, restoredFrom: z.string(), backups }),
  errors: { 400: ['Missing backupId', 'Invalid request body'], 401: ['Unauthorized'], 404: ['Backup not found'] },
});

export const getBackup = endpoint({
  ...base,
  method: 'GET',
  path: '/api/config/backups/:id',
  summary: 'One backup in full, to compare with',
  params: z.object({ id: z.string() }),
  reply: z.object({ id: z.string(), timestamp, config }),
  errors: { 401: ['Unauthorized'], 404: ['Backup not found'] },
});
