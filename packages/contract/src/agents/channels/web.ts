import { endpoint } from '../../endpoint.ts';
import { CHANNEL_ROUTES } from './fields.ts';
import * as backend from './backend.ts';

const base = { service: 'web', tag: 'Channels', auth: 'session' } as const;
const away = { 401: ['Unauthorized'], 502: ['Agent backend unavailable'] } as const;

export const list = endpoint({
  ...base,
  ...CHANNEL_ROUTES.list,
  errors: { ...away, ...CHANNEL_ROUTES.list.errors },
  passesOn: () => [backend.list],
});

export const set = endpoint({
  ...base,
  ...CHANNEL_ROUTES.set,
  errors: { ...away, ...CHANNEL_ROUTES.set.errors },
  passesOn: () => [backend.set],
});

export const remove = endpoint({
  ...base,
  ...CHANNEL_ROUTES.remove,
  errors: { ...away, ...CHANNEL_ROUTES.remove.errors },
  passesOn: () => [backend.remove],
});

export const test = endpoint({
  ...base,
  ...CHANNEL_ROUTES.test,
  errors: { ...away, ...CHANNEL_ROUTES.test.errors },
  passesOn: () => [backend.test],
});
