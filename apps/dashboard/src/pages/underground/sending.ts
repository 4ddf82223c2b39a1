import { BUS_VERSION, web } from '@troupe/contract';
import type { Endpoint } from '@troupe/contract';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { call, stale, statusOf } from '../../api.ts';
import { newId } from '../../ids.ts';

export interface Word {
  from: string;
  to: string;
  action: string;
  payload: Record<string, string>;
}

const NO_WALLET = 'Agent has no platform wallet';

/** The agent signs with a wallet that it has not got yet. */
export const lacksWallet = (error: Error | null): boolean => statusOf(error) === 404 && error?.message === NO_WALLET;

const READS: Pick<Endpoint, 'method' | 'path'>[] = [
  web.bus.list,
  web.negotiation.listBookings,
  web.negotiation.listAmplifications,
];

/** Has the platform sign what one of the own agents says to another, and sends it. Sent twice it counts once. */
export function useBusSend(done: () => void) {
  const queries = useQueryClient();
  return useMutation<void, Error, Word & { id?: string }>({
    mutationFn: async ({ from, to, action, payload, id = newId() }) => {
      const { message } = await call(web.bus.sign, {
        body: {
          message: {
            version: BUS_VERSION,
            messageId: id,
            timestamp: new Date().toISOString(),
            from: { agentId: from },
            to: { agentId: to },
            action,
            payload,
          },
        },
      });
      await call(web.bus.send, { body: message });
    },
    onSuccess: async () => {
      await stale(queries, ...READS);
      done();
    },
  });
}
