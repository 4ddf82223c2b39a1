import type { Origin } from '@troupe/accounts';
import type { RequestInfo } from '@troupe/kernel';

/** Where a sign-in comes from, for the list of sessions and the audit log. */
export const originOf = ({ address, headers }: RequestInfo): Origin => ({
  ip: address,
  userAgent: headers['user-agent'] as string | undefined,
});
