import { web } from '@troupe/contract';
import { useQueryClient } from '@tanstack/react-query';
import { call } from '../api.ts';
import { forgetAll } from '../keeping.ts';

/** Ends the session and forgets everything that was read under it. */
export function useSignOut(): () => void {
  const queries = useQueryClient();
  return () => {
    void call(web.session.signOut, {}).finally(() => {
      queries.clear();
      forgetAll();
      location.assign('/login');
    });
  };
}
