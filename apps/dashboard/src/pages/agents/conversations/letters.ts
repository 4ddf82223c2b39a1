import type { SessionHead } from '@troupe/contract';
import { statusOf } from '../../../api.ts';
import type { Written } from './composer.tsx';

/** Where it goes: a conversation by its topic or id, or a new branch of one after a step. */
export type Target = { topic: string } | { sessionId: string } | { branchOf: string; at: number };

export interface Letter extends Written {
  /** The platform takes the same letter once, however often it is sent. */
  id: string;
  to: Target;
  /** What goes on there is stopped first. */
  stops?: string;
  /** Where it arrived, once it has. */
  sessionId?: string;
  seq?: number;
  /** Why it was refused: it waits for a person. */
  problem?: string;
}

export interface Sent {
  sessionId: string;
  seq: number;
}

/** The connection or the service is at fault, not the letter. */
export const isAway = (error: unknown): boolean => {
  const status = statusOf(error);
  return status === undefined || status === 0 || status >= 500 || status === 429;
};

/** What was kept of those that are not sent. One that an older page left behind says less. */
export const lettersOf = (kept: unknown): Letter[] =>
  (Array.isArray(kept) ? (kept as (Partial<Letter> | null)[]) : []).flatMap((one) =>
    typeof one?.id === 'string' && typeof one.text === 'string'
      ? [
          {
            ...one,
            id: one.id,
            text: one.text,
            attachments: one.attachments ?? [],
            to: one.to ?? { topic: 'dashboard' },
          },
        ]
      : [],
  );

/** Whether a letter belongs to what is shown. */
export const isHere = ({ to, sessionId }: Letter, shown: string | undefined, place: string): boolean =>
  sessionId !== undefined
    ? sessionId === shown
    : 'topic' in to
      ? to.topic === place
      : ('branchOf' in to ? to.branchOf : to.sessionId) === shown;

/** Begun in this dashboard; all others came another way. */
export const isOwn = ({ channel, key }: Pick<SessionHead, 'channel' | 'key'>): boolean =>
  channel === 'api' && /^(dashboard|talk-)/.test(key);

/** What a new conversation that the address names is called; without a word in it, the platform's own. */
export const topicOf = (place: string | undefined): string =>
  place?.startsWith(NEW_PLACE) ? `talk-${place.slice(NEW_PLACE.length)}` : OWN_TOPIC;

/** The conversation that the platform keeps for its own dashboard, until there are more. */
export const OWN_TOPIC = 'dashboard';
export const NEW_PLACE = 'new-';

/** The one that was used last, of those that were begun here. */
export const newestOf = <Head extends Pick<SessionHead, 'channel' | 'key' | 'updatedAt'>>(
  sessions: readonly Head[],
): Head | undefined =>
  sessions
    .filter(isOwn)
    .reduce<Head | undefined>((best, one) => (best && best.updatedAt > one.updatedAt ? best : one), undefined);
