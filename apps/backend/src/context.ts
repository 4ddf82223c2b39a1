import type { RequestInfo } from '@troupe/kernel';

/** Whom a caller with the internal key acts for; undefined: for itself. */
export function actingFor({ headers }: Pick<RequestInfo, 'headers'>): string | undefined {
  const id = headers['x-user-id'];
  return typeof id === 'string' && id !== '' ? id : undefined;
}
