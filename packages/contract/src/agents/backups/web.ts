import { BACKUP_ERRORS, BACKUP_ROUTES } from './fields.ts';
import { endpoint } from '../../endpoint.ts';
import {
  createBackendBackup,
  deleteBackendBackup,
  downloadBackendBackup,
  listBackendBackups,
  restoreBackendBackup,
} from './backend.ts';

const base = { service: 'web', tag: 'Backups', auth: 'session' } as const;
const away = { 401: ['Unauthorized'], 502: ['Agent backend unavailable'] } as const;

export const createAgentBackup = endpoint({
  ...base,
  ...BACKUP_ROUTES.create,
  errors: { ...away, ...BACKUP_ERRORS.create },
  passesOn: () => [createBackendBackup],
});

export const listAgentBackups = endpoint({
  ...base,
  ...BACKUP_ROUTES.list,
  errors: { ...away, ...BACKUP_ERRORS.list },
  passesOn: () => [listBackendBackups],
});

export const restoreAgentBackup = endpoint({
  ...base,
  ...BACKUP_ROUTES.restore,
  errors: { ...away, ...BACKUP_ERRORS.restore },
  passesOn: () => [restoreBackendBackup],
});

export const deleteAgentBackup = endpoint({
  ...base,
  ...BACKUP_ROUTES.remove,
  errors: { ...away, ...BACKUP_ERRORS.remove },
  passesOn: () => [deleteBackendBackup],
});

export const downloadAgentBackup = endpoint({
  ...base,
  ...BACKUP_ROUTES.download,
  errors: { ...away, ...BACKUP_ERRORS.download },
  passesOn: () => [downloadBackendBackup],
});
