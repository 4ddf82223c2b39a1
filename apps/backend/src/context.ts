import type { RequestInfo } from '@troupe/kernel';
import type { AllAgents, OwnAgents, Roster } from '@troupe/roster';

/** Whom a caller with the internal key acts for; undefined: for itself. */
export function actingFor({ headers }: Pick<RequestInfo, 'headers'>): string | undefined {
  const id = headers['x-user-id'];
  return typeof id === 'string' && id !== '' ? id : undefined;
}

/** The same, the plan that it is on, and whether no limit holds because web says that it is an administrator. */
export const callerOf = (request: Pick<RequestInfo, 'headers'>) => ({
  userId: actingFor(request),
  elevated: request.headers['x-user-role'] === 'admin',
  plan: request.headers['x-user-plan'],
});

/** What a caller sees: the user's own agents; everybody's only with the internal key and no user named. */
export const visibleTo = (roster: Roster, userId: string | undefined): OwnAgents | AllAgents =>
  userId === undefined ? roster.system : roster.of(userId);
