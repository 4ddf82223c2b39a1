import type { web, TypesOf } from '@troupe/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { safeNext } from '../../../auth.ts';

/** After a sign-in: forget what was read as nobody, and go where the person wanted, or to the step that is owed. */
export function useEnter(next?: string): (entered?: TypesOf<typeof web.session.login>['reply']) => void {
  const queries = useQueryClient();
  const router = useRouter();
  return (entered) => {
    queries.clear();
    const to = safeNext(next);
    const search = to === '/dashboard' ? '' : `?${new URLSearchParams({ next: to }).toString()}`;
    router.history.push(entered?.ok === false ? `/login/second-step${search}` : to);
  };
}
