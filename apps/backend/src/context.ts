import type { RequestInfo } from '@troupe/kernel';

/** Whom a caller with the internal key acts for; undefined: for itself. */
export function actingFor({ headers }: Pick<RequestInfo, 'headers'>): string | undefined {
  const id = headers['x-user-id'];
  return typeof id === 'string' && id !== '' ? id : undefined;
}

/** The same, and whether the limits of plans do not hold because web says that it is an administrator. */
export const callerOf = (request: Pick<RequestInfo, 'headers'>) => ({
  userId: actingFor(request),
  elevated: request.headers['x-user-role'] === 'admin',
});
