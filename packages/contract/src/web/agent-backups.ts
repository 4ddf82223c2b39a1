import { z } from 'zod';
import { agentParams, AGENT_NOT_FOUND } from '../agent-fields.ts';
import { success, timestamp } from '../common.ts';
import { endpoint } from '../endpoint.ts';

/** Copies of an agent: its definition and configuration, memory, conversations and files. */

export const BACKUP_NOT_FOUND = 'Backup not found';
export const BACKUP_DAMAGED = 'This backup is damaged. Nothing was changed.';
const TOO_MANY = 'Too many backups (max 10). Delete one first.';

export const agentBackup = z.object({
  id: z.string(),
  createdAt: timestamp,
  /** Bytes of the file. */
  size: z.number(),
  /** `manual`: asked for; `update`, `restore`: made before one, so that it can be undone. */
  reason: z.enum(['manual', 'update', 'restore']),
  /** What the agent ran from at that time. */
  image: z.string(),
  version: z.string(),
});
export type AgentBackup = z.output<typeof agentBackup>;

export const backupParams = agentParams.extend({ backupId: z.string() });
export const backupMade = success.extend({ backup: agentBackup });
/** Newest first; `limit` is how many made by hand there may be. */
export const backupList = z.object({ backups: z.array(agentBackup), count: z.number(), limit: z.number() });
/** `safetyBackupId` is the copy of what was there before; restoring it undoes the restore. */
export const backupRestored = success.extend({
  restored: z.string(),
  safetyBackupId: z.string(),
  status: z.string(),
});
export const backupDeleted = success.extend({ deleted: z.string() });

export const BACKUP_ERRORS = {
  make: { 404: [AGENT_NOT_FOUND], 409: [TOO_MANY, 'Another action is going on for this agent'] },
  one: { 404: [AGENT_NOT_FOUND, BACKUP_NOT_FOUND] },
  restore: {
    404: [AGENT_NOT_FOUND, BACKUP_NOT_FOUND],
    409: [BACKUP_DAMAGED, 'Another action is going on for this agent'],
  },
} as const;

const base = { service: 'web', tag: 'Backups', auth: 'session' } as const;
const away = { 401: ['Unauthorized'], 502: ['Agent backend unavailable'] } as const;

export const createAgentBackup = endpoint({
  ...base,
  method: 'POST',
  path: '/api/agents/:id/backups',
  summary: 'Copy an agent: definition, configuration, memory, conversations and files',
  params: agentParams,
  reply: backupMade,
  status: 201,
  errors: { ...away, ...BACKUP_ERRORS.make },
});

export const listAgentBackups = endpoint({
  ...base,
  method: 'GET',
  path: '/api/agents/:id/backups',
  summary: 'The copies of an agent, the newest first',
  params: agentParams,
  reply: backupList,
  errors: { ...away, 404: [AGENT_NOT_FOUND] },
});

export const restoreAgentBackup = endpoint({
  ...base,
  method: 'POST',
  path: '/api/agents/:id/backups/:backupId/restore',
  summary: 'Put an agent back to a copy; what it is now is copied first',
  params: backupParams,
  reply: backupRestored,
  errors: { ...away, ...BACKUP_ERRORS.restore },
});

export const deleteAgentBackup = endpoint({
  ...base,
  method: 'DELETE',
  path: '/api/agents/:id/backups/:backupId',
  summary: 'Delete a copy of an agent',
  params: backupParams,
  reply: backupDeleted,
  errors: { ...away, ...BACKUP_ERRORS.one },
});

export const downloadAgentBackup = endpoint({
  ...base,
  method: 'GET',
  path: '/api/agents/:id/backups/:backupId',
  summary: 'The file of a copy',
  params: backupParams,
  produces: 'application/gzip',
  errors: { ...away, ...BACKUP_ERRORS.one },
});
