import { amplifyAnswer, amplifyRequest } from '@troupe/contract';
import type { Database, SystemTx } from '@troupe/db';
import { formatAmount, moveAmplify, type AmplifyMove } from '@troupe/domain';
import { AppError, type Clock } from '@troupe/kernel';
import { USD_DECIMALS } from '@troupe/ledger';
import { dollars } from './amounts.ts';
import type { Parties } from '../parties.ts';
import { newBetween, payloadOf, shownBetween } from './between.ts';
import * as store from './store.ts';

const MOVES: Readonly<Record<string, AmplifyMove>> = { AMPLIFY_ACCEPT: 'accept', AMPLIFY_DONE: 'done' };

/** The amplification service. A reward is a promise between the two: paying it is a payment of its own. */
export function createAmplify({ db, clock }: { db: Database; clock: Clock }) {
  async function open(tx: SystemTx, parties: Parties, payload: unknown): Promise<Record<string, string>> {
    const { content, reward: given } = payloadOf(amplifyRequest, payload);
    const reward = dollars(given);
    if (reward === null) throw new AppError(400, 'Invalid reward');
    const request = newBetween(parties, clock());
    await store.addRequest(tx, { ...request, content, reward, status: 'requested' });
    return { requestId: request.id, requestStatus: 'requested' };
  }

  async function move(
    tx: SystemTx,
    { from, to }: Parties,
    step: AmplifyMove,
    payload: unknown,
  ): Promise<Record<string, string>> {
    const { requestId } = payloadOf(amplifyAnswer, payload);
    const found = await store.lockRequest(tx, requestId);
    const sides = found ? [found.from_agent_id, found.to_agent_id] : [];
    if (!found || !sides.includes(from.agentId)) throw new AppError(404, 'Amplification not found');
    const next = moveAmplify({ status: found.status, asked: found.to_agent_id }, step, from.agentId);
    if ('refused' in next) throw new AppError(409, next.refused);
    if (to.agentId !== found.from_agent_id)
      throw new AppError(400, 'The message must go to the agent that asked for it');
    await store.changeRequest(tx, requestId, next.status, clock());
    return { requestId, requestStatus: next.status };
  }

  return {
    handle(tx: SystemTx, parties: Parties, action: string, payload: unknown): Promise<Record<string, string>> {
      if (action === 'AMPLIFY_REQUEST') return open(tx, parties, payload);
      const step = MOVES[action];
      if (!step) throw new AppError(400, `Unknown action ${action}`);
      return move(tx, parties, step, payload);
    },

    async list(userId: string, limit: number) {
      const requests = (await store.listRequests(db.user(userId), limit)).map((row) => ({
        ...shownBetween(row),
        content: row.content,
        reward: formatAmount(row.reward, USD_DECIMALS),
        status: row.status,
      }));
      return { requests, count: requests.length };
    },
  };
}
