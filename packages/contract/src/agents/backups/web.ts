import { BACKUP_ERRORS, BACKUP_ROUTES } from './fields.ts';
import { endpoint } from '../../endpoint.ts';

const base = { service: 'web', tag: 'Backups', auth: 'session' } as const;
const away = { 401: ['Unauthorized'], 502: ['Agent backend unavailable'] } as const;

export const createAgentBackup = endpoint({
  ...base,
  ...BACKUP_ROUTES.create,
  errors: { ...away, ...BACKUP_ERRORS.create },
});

export const listAgentBackups = endpoint({
  ...base,
  ...BACKUP_ROUTES.list,
  errors: { ...away, ...BACKUP_ERRORS.list },
});

export const restoreAgentBackup = endpoint({
  ...base,
  ...BACKUP_ROUTES.restore,
  errors: { ...away, ...BACKUP_ERRORS.restore },
});

export const deleteAgentBackup = endpoint({
  ...base,
  ...BACKUP_ROUTES.remove,
  errors: { ...away, ...BACKUP_ERRORS.remove },
});

export const downloadAgentBackup = endpoint({
  ...base,
  ...BACKUP_ROUTES.download,
  errors: { ...away, ...BACKUP_ERRORS.download },
});
