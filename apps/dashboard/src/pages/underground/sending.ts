import { BUS_VERSION, web } from '@troupe/contract';
import type { Endpoint } from '@troupe/contract';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { call, stale, useCall } from '../../api.ts';
import { newId } from '../../ids.ts';

export interface Word {
  from: string;
  to: string;
  action: string;
  payload: Record<string, string>;
}

/** The agent signs with a wallet of the platform, which it may not have yet. */
export function useLacksWallet(agentId: string): boolean {
  const wallets = useCall(web.wallets.list, {}).data?.wallets;
  return wallets !== undefined && !wallets.some((one) => one.agentId === agentId && one.kind === 'platform');
}

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
