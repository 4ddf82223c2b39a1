import { agentParams, AGENT_NOT_FOUND } from '../agent-fields.ts';
import { endpoint } from '../endpoint.ts';
import {
  BACKUP_ERRORS,
  backupDeleted,
  backupList,
  backupMade,
  backupParams,
  backupRestored,
} from '../web/agent-backups.ts';

const base = { service: 'backend', tag: 'Backups', auth: 'internal' } as const;
const denied = { 401: ['Unauthorized'], 403: ['Forbidden'] } as const;

export const createBackendBackup = endpoint({
  ...base,
  method: 'POST',
  path: '/api/agents/:id/backups',
  summary: 'Copy an agent',
  params: agentParams,
  reply: backupMade,
  status: 201,
  errors: { ...denied, ...BACKUP_ERRORS.make },
});

export const listBackendBackups = endpoint({
  ...base,
  method: 'GET',
  path: '/api/agents/:id/backups',
  summary: 'The copies of an agent, the newest first',
  params: agentParams,
  reply: backupList,
  errors: { ...denied, 404: [AGENT_NOT_FOUND] },
});

export const restoreBackendBackup = endpoint({
  ...base,
  method: 'POST',
  path: '/api/agents/:id/backups/:backupId/restore',
  summary: 'Put an agent back to a copy; what it is now is copied first',
  params: backupParams,
  reply: backupRestored,
  errors: { ...denied, ...BACKUP_ERRORS.restore },
});

export const deleteBackendBackup = endpoint({
  ...base,
  method: 'DELETE',
  path: '/api/agents/:id/backups/:backupId',
  summary: 'Delete a copy of an agent',
  params: backupParams,
  reply: backupDeleted,
  errors: { ...denied, ...BACKUP_ERRORS.one },
});

export const downloadBackendBackup = endpoint({
  ...base,
  method: 'GET',
  path: '/api/agents/:id/backups/:backupId',
  summary: 'The file of a copy',
  params: backupParams,
  produces: 'application/gzip',
  errors: { ...denied, ...BACKUP_ERRORS.one },
});
