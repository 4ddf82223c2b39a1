import { z } from 'zod';
import { job } from '../job.ts';

/** Money hangs on all of these: each is tried until it is done. */

const byId = z.object({ id: z.string() });

/** A payment by card that nobody finished is released. */
export const cardPaymentJob = job({ queue: 'card-payment', data: byId, untilDone: true });

/** A voucher whose call was never answered is given back. */
export const gatewayVoucherJob = job({
  queue: 'gateway-voucher',
  data: z.object({ voucherId: z.string().regex(/^\d{1,19}$/) }),
  untilDone: true,
});

/** A payment with a signed transfer is settled or released. */
export const gatewayPaymentJob = job({
  queue: 'gateway-payment',
  data: byId,
  untilDone: true,
  retryDelaySeconds: 5,
});

/** An agent's payment that was made pending and never ended; `outcome`: what became of it then. */
export const agentPaymentJob = job({
  queue: 'agent-payment',
  data: z.object({
    userId: z.string(),
    agentId: z.string(),
    id: z.string(),
    outcome: z.enum(['failed', 'unknown']).optional(),
  }),
  untilDone: true,
});

/** What is owed to an address is paid out. */
export const payoutJob = job({ queue: 'payout', data: byId, untilDone: true, retryDelaySeconds: 5 });

/** Vouchers of a session are settled on the chain. */
export const settlementJob = job({
  queue: 'payment-settlement',
  data: byId,
  untilDone: true,
  retryDelaySeconds: 5,
});

/** The parts of a split are paid on the chain. */
export const splitPayoutJob = job({
  queue: 'split-payout',
  data: z.object({ splitId: z.string() }),
  untilDone: true,
  retryDelaySeconds: 15,
  expireSeconds: 900,
});
