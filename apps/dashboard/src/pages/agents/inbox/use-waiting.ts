import { web } from '@troupe/contract';
import { useEffect, useState } from 'react';
import { useCall } from '../../../api.ts';
import { useSession } from '../../../session.ts';
import { byMarks, waitingOf } from './waiting.ts';

/** Everything that waits for this person, the oldest first, and what was put off, done with or decided. */
export function useWaiting() {
  const { user } = useSession();
  const approvals = useCall(web.inbox.get, {});
  const joins = useCall(web.access.list, { query: {} }, { enabled: user?.isAdmin === true });
  const devices = useCall(web.devices.list, {});
  const news = useCall(web.notices.list, { query: {} });
  const notices = news.data?.notices ?? [];
  const all = waitingOf({
    items: approvals.data?.items ?? [],
    joins: joins.data?.requests ?? [],
    devices: devices.data?.pending ?? [],
    payments: approvals.data?.payments ?? [],
    notices,
  });
  const marks = approvals.data?.marks ?? [];
  const { items, later } = byMarks(all, marks, Date.now());
  useWake(later[0]?.until);
  const read = together([approvals, ...(user?.isAdmin === true ? [joins] : []), devices, news]);
  return { items, later, marks, read };
}

interface Read {
  data?: unknown;
  error: Error | null;
  refetch: () => unknown;
}

/** All of them as one: that nothing waits is known when each has answered. */
function together(reads: readonly Read[]) {
  const isOpen = ({ data }: Read) => data === undefined;
  return {
    data: reads.some(isOpen) ? undefined : true,
    error: reads.find((one) => isOpen(one) && one.error !== null)?.error ?? null,
    refetch: () => void Promise.all(reads.filter(isOpen).map(({ refetch }) => refetch())),
  };
}

/** As long as browsers can wait. */
const LONGEST_WAIT_MS = 2 ** 31 - 1;

/** Looks again when the first that was put off comes back. */
function useWake(until: string | undefined): void {
  const [, look] = useState(0);
  useEffect(() => {
    if (until === undefined) return;
    const wait = Math.min(Math.max(0, Date.parse(until) - Date.now()) + 50, LONGEST_WAIT_MS);
    const timer = setTimeout(() => look((times) => times + 1), wait);
    return () => clearTimeout(timer);
  }, [until]);
}
