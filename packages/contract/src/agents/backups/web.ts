import { BACKUP_ERRORS, BACKUP_ROUTES } from './fields.ts';
import { endpoint } from '../../endpoint.ts';
import * as backend from './backend.ts';

const base = { service: 'web', tag: 'Backups', auth: 'session' } as const;
const away = { 401: ['Unauthorized'], 502: ['Agent backend unavailable'] } as const;

export const create = endpoint({
  ...base,
  ...BACKUP_ROUTES.create,
  errors: { ...away, ...BACKUP_ERRORS.create },
  passesOn: () => [backend.create],
});

export const list = endpoint({
  ...base,
  ...BACKUP_ROUTES.list,
  errors: { ...away, ...BACKUP_ERRORS.list },
  passesOn: () => [backend.list],
});

export const restore = endpoint({
  ...base,
  ...BACKUP_ROUTES.restore,
  errors: { ...away, ...BACKUP_ERRORS.restore },
  passesOn: () => [backend.restore],
});

export const remove = endpoint({
  ...base,
  ...BACKUP_ROUTES.remove,
  errors: { ...away, ...BACKUP_ERRORS.remove },
  passesOn: () => [backend.remove],
});

export const download = endpoint({
  ...base,
  ...BACKUP_ROUTES.download,
  errors: { ...away, ...BACKUP_ERRORS.download },
  passesOn: () => [backend.download],
});
