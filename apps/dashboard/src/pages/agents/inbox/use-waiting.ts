import { web } from '@troupe/contract';
import { useQueries } from '@tanstack/react-query';
import { callQuery, useCall } from '../../../api.ts';
import { useSession } from '../../../session.ts';
import { payersIn, waitingOf } from './waiting.ts';

/** Everything that waits for this person, the oldest first. */
export function useWaiting() {
  const { user } = useSession();
  const approvals = useCall(web.inbox.get, {});
  const joins = useCall(web.access.list, { query: {} }, { enabled: user?.isAdmin === true });
  const devices = useCall(web.devices.list, {});
  const notices = useCall(web.notices.list, { query: {} }).data?.notices ?? [];
  const payments = usePayments(payersIn(notices));
  const items = waitingOf({
    items: approvals.data?.items ?? [],
    joins: joins.data?.requests ?? [],
    devices: devices.data?.pending ?? [],
    payments,
    notices,
  });
  return { items, read: approvals };
}

/** What agents ask to pay. */
function usePayments(payers: readonly string[]) {
  const reads = useQueries({ queries: payers.map((id) => callQuery(web.policy.listPayments, { params: { id } })) });
  return reads.flatMap(({ data }, at) => (data?.payments ?? []).map((one) => ({ ...one, agentId: payers[at]! })));
}
