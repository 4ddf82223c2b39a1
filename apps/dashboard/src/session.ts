import { web } from '@troupe/contract';
import type { TypesOf } from '@troupe/contract';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { call } from './api.ts';

export type SessionUser = NonNullable<TypesOf<typeof web.session.get>['reply']['user']>;

export const sessionQuery = queryOptions({
  queryKey: [web.session.get.path, web.session.get.method, {}],
  queryFn: () => call(web.session.get, {}),
  staleTime: 60_000,
});

/** Who is signed in. The router has made sure that the answer is there before a signed-in page shows. */
export function useSession(): { user: SessionUser | null } {
  const { data } = useQuery(sessionQuery);
  return { user: data?.user ?? null };
}
