import { web } from '@troupe/contract';
import { useQueries } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { callQuery, useCall } from '../../../api.ts';
import { useSession } from '../../../session.ts';
import { byMarks, payersIn, waitingOf } from './waiting.ts';

/** Everything that waits for this person, the oldest first, and what was put off, done with or decided. */
export function useWaiting() {
  const { user } = useSession();
  const approvals = useCall(web.inbox.get, {});
  const joins = useCall(web.access.list, { query: {} }, { enabled: user?.isAdmin === true });
  const devices = useCall(web.devices.list, {});
  const notices = useCall(web.notices.list, { query: {} }).data?.notices ?? [];
  const payments = usePayments(payersIn(notices));
  const all = waitingOf({
    items: approvals.data?.items ?? [],
    joins: joins.data?.requests ?? [],
    devices: devices.data?.pending ?? [],
    payments,
    notices,
  });
  const marks = approvals.data?.marks ?? [];
  const { items, later } = byMarks(all, marks, Date.now());
  useWake(later[0]?.until);
  return { items, later, marks, read: approvals };
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

/** What agents ask to pay. */
function usePayments(payers: readonly string[]) {
  const reads = useQueries({ queries: payers.map((id) => callQuery(web.policy.listPayments, { params: { id } })) });
  return reads.flatMap(({ data }, at) => (data?.payments ?? []).map((one) => ({ ...one, agentId: payers[at]! })));
}
