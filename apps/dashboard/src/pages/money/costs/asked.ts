import { useNavigate, useSearch } from '@tanstack/react-router';
import { useSession } from '../../../session.ts';
import { periodOf } from './period.ts';
import { sideOf } from './sides.ts';

/** What is looked at stands in the address, so that a link shows the same. */
export function useAsked() {
  const search = useSearch({ strict: false });
  const navigate = useNavigate();
  const { user } = useSession();
  const ofAll = user?.isAdmin === true && search['of'] === 'all';
  const period = periodOf(search);
  const by = sideOf(search['by'], ofAll);
  const { id } = search;
  const offset = Number(search['offset']) || 0;
  return {
    ofAll,
    isAdmin: user?.isAdmin === true,
    period,
    by,
    id,
    offset,
    go: (change: Record<string, string | undefined>) =>
      void navigate({ to: '.', search: { ...search, ...change } as never, resetScroll: false }),
  };
}

export type Asked = ReturnType<typeof useAsked>;
