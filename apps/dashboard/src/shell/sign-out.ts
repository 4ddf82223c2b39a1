import { web } from '@troupe/contract';
import { useQueryClient } from '@tanstack/react-query';
import { call } from '../api.ts';
import { forgetAll } from '../keeping.ts';
import { endPush } from '../push.ts';

/** Ends the session and forgets everything that was read under it. */
export function useSignOut(): () => void {
  const queries = useQueryClient();
  return () => {
    // What comes for this account is not shown to the next who signs in here.
    void Promise.allSettled([call(web.session.signOut, {}), endPush()]).then(() => {
      queries.clear();
      forgetAll();
      location.assign('/login');
    });
  };
}
