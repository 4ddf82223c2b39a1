import type { BackendClient, RequestInfo, User } from '@troupe/kernel';

/** The routes are the backend's: web passes them on, with the session's user as the context. */
export const asUserOf =
  (backend: BackendClient) =>
  (user: User, request: RequestInfo): ReturnType<BackendClient['as']> =>
    backend.as(user, request.address);

/** What makes a repeat of a payment safe goes along. */
export function repeatable({ headers }: RequestInfo): Record<string, string> {
  const key = headers['idempotency-key'];
  return typeof key === 'string' ? { 'idempotency-key': key } : {};
}

/** A query that was read once, as it is written. */
export const asText = <T extends { limit: number }>({ limit, ...rest }: T) => ({ ...rest, limit: String(limit) });

export const pageAsText = ({ limit, offset }: { limit: number; offset: number }) => ({
  limit: String(limit),
  offset: String(offset),
});
