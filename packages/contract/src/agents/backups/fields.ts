import { z } from 'zod';
import {
  agentParams,
  AGENT_NOT_FOUND,
  BUSY_AGENT_TEXT,
  forceQuery,
  NO_COPY_TEXTS,
  NOT_PASSED_TEXTS,
} from '../fields.ts';
import { success, timestamp } from '../../common.ts';

/** Copies of an agent: its definition and configuration, memory, conversations and files. */

const BACKUP_NOT_FOUND = 'Backup not found';
const BACKUP_DAMAGED = 'This backup is damaged. Nothing was changed.';
const OTHER_DRIVER = 'This backup was made by the <name> driver. It cannot be restored here.';
const TOO_MANY = 'Too many backups (max 10). Delete one first.';

const agentBackup = z.object({
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

const backupParams = agentParams.extend({ backupId: z.string() });
const backupMade = success.extend({ backup: agentBackup });
/** Newest first; `limit` is how many made by hand there may be. */
const backupList = z.object({ backups: z.array(agentBackup), count: z.number(), limit: z.number() });
/** `safetyBackupId` is the copy of what was there before; restoring it undoes the restore. */
const backupRestored = success.extend({
  restored: z.string(),
  safetyBackupId: z.string(),
  status: z.string(),
});
const backupDeleted = success.extend({ deleted: z.string() });

/** Web and the backend serve the same routes; who may call them, and what else can go wrong, each says itself. */
export const BACKUP_ROUTES = {
  create: {
    method: 'POST',
    path: '/api/agents/:id/backups',
    summary: 'Copy an agent: definition, configuration, memory, conversations and files',
    params: agentParams,
    reply: backupMade,
    status: 201,
  },
  list: {
    method: 'GET',
    path: '/api/agents/:id/backups',
    summary: 'The copies of an agent, the newest first',
    params: agentParams,
    reply: backupList,
  },
  restore: {
    method: 'POST',
    path: '/api/agents/:id/backups/:backupId/restore',
    summary: 'Put an agent back to a copy; what it is now is copied first',
    params: backupParams,
    query: forceQuery,
    reply: backupRestored,
  },
  remove: {
    method: 'DELETE',
    path: '/api/agents/:id/backups/:backupId',
    summary: 'Delete a copy of an agent',
    params: backupParams,
    reply: backupDeleted,
  },
  download: {
    method: 'GET',
    path: '/api/agents/:id/backups/:backupId',
    summary: 'The file of a copy',
    params: backupParams,
    produces: 'application/gzip',
  },
} as const;

const ONE = { 404: [AGENT_NOT_FOUND, BACKUP_NOT_FOUND] } as const;
export const BACKUP_ERRORS = {
  create: { 404: [AGENT_NOT_FOUND], 409: [TOO_MANY, BUSY_AGENT_TEXT, ...NO_COPY_TEXTS] },
  list: { 404: [AGENT_NOT_FOUND] },
  restore: {
    ...ONE,
    409: [BACKUP_DAMAGED, OTHER_DRIVER, BUSY_AGENT_TEXT, ...NO_COPY_TEXTS, ...NOT_PASSED_TEXTS],
    500: ['Restore failed, the agent is as it was: <reason>'],
  },
  remove: ONE,
  download: ONE,
} as const;
