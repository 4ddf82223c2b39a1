import { web } from '@troupe/contract';
import type { TypesOf } from '@troupe/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { callQuery, stale } from '../../../api.ts';
import { useLive } from '../../../live/context.tsx';
import { withChange } from './stage-change.ts';

/** Keeps the stage true by the tab's stream, without a request. */
export function useStageLive(): void {
  const live = useLive();
  const queries = useQueryClient();
  useEffect(() => {
    const { queryKey } = callQuery(web.stage.get, {});
    return live.watchStage((change) => {
      // What is being read may be older than this.
      if (queries.isFetching({ queryKey }) > 0) return void stale(queries, web.stage.get);
      queries.setQueryData<TypesOf<typeof web.stage.get>['reply']>(queryKey, (old) => old && withChange(old, change));
    });
  }, [live, queries]);
}
