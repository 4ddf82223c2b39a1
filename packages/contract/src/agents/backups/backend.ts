import { BACKUP_ERRORS, BACKUP_ROUTES } from './fields.ts';
import { endpoint } from '../../endpoint.ts';

const base = { service: 'backend', tag: 'Backups', auth: 'internal' } as const;
const denied = { 401: ['Unauthorized'], 403: ['Forbidden'] } as const;

export const create = endpoint({
  ...base,
  ...BACKUP_ROUTES.create,
  errors: { ...denied, ...BACKUP_ERRORS.create },
});

export const list = endpoint({
  ...base,
  ...BACKUP_ROUTES.list,
  errors: { ...denied, ...BACKUP_ERRORS.list },
});

export const restore = endpoint({
  ...base,
  ...BACKUP_ROUTES.restore,
  errors: { ...denied, ...BACKUP_ERRORS.restore },
});

export const remove = endpoint({
  ...base,
  ...BACKUP_ROUTES.remove,
  errors: { ...denied, ...BACKUP_ERRORS.remove },
});

export const download = endpoint({
  ...base,
  ...BACKUP_ROUTES.download,
  errors: { ...denied, ...BACKUP_ERRORS.download },
});
