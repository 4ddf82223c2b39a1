import { endpoint } from '../../endpoint.ts';
import { CHANNEL_ROUTES } from './fields.ts';

const base = { service: 'backend', tag: 'Channels', auth: 'internal' } as const;
const denied = { 401: ['Unauthorized'], 403: ['Forbidden'] } as const;

export const list = endpoint({
  ...base,
  ...CHANNEL_ROUTES.list,
  errors: { ...denied, ...CHANNEL_ROUTES.list.errors },
});

export const set = endpoint({
  ...base,
  ...CHANNEL_ROUTES.set,
  errors: { ...denied, ...CHANNEL_ROUTES.set.errors },
});

export const remove = endpoint({
  ...base,
  ...CHANNEL_ROUTES.remove,
  errors: { ...denied, ...CHANNEL_ROUTES.remove.errors },
});

export const test = endpoint({
  ...base,
  ...CHANNEL_ROUTES.test,
  errors: { ...denied, ...CHANNEL_ROUTES.test.errors },
});
