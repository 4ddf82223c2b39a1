import type { AgentChannel, ChannelReceipt } from '@troupe/contract';
import { ago, moment } from '../../../format.ts';
import { channels as texts } from '../../../texts/channels.ts';

/** When somebody wrote last; where nobody has lately, since when it listens, or when that was last tried. */
export function latelyOf(
  { kind, isSet, state, at }: Pick<AgentChannel, 'kind' | 'isSet' | 'state' | 'at'>,
  receipts: readonly Pick<ChannelReceipt, 'channel' | 'receivedAt'>[],
): string {
  if (!isSet) return '';
  const last = receipts
    .filter(({ channel }) => channel === kind)
    .reduce((newest, { receivedAt }) => (receivedAt > newest ? receivedAt : newest), '');
  if (last !== '') return texts.lastMessage(ago(last));
  if (at === null) return '';
  return state === 'listening' ? texts.since(moment(at)) : texts.lastTried(ago(at));
}
