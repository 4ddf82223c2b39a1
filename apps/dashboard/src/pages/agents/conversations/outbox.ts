import { web } from '@troupe/contract';
import { useCallback, useEffect, useRef, useState } from 'react';
import { call, statusOf } from '../../../api.ts';
import { useConnection } from '../../../live-context.tsx';
import { forget, keep, kept } from '../../../keeping.ts';
import type { Written } from './composer.tsx';

/** What was written and is not known to have arrived. It outlives the page: nothing typed is lost. */

/** Where it goes: a conversation by its topic or id, or a new branch of one after a step. */
export type Target = { topic: string } | { sessionId: string } | { branchOf: string; at: number };

export interface Letter extends Written {
  /** The platform takes the same letter once, however often it is sent. */
  id: string;
  to: Target;
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

/** By hand: `randomUUID` is there only under https. */
export const newId = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');

const AGAIN_MS = 4000;
const keyOf = (agentId: string) => `outbox:${agentId}`;

/** The connection or the service is at fault, not the letter. */
const isAway = (error: unknown): boolean => {
  const status = statusOf(error);
  return status === undefined || status === 0 || status >= 500 || status === 429;
};

function send(agentId: string, { id, text, attachments, model, to }: Letter): Promise<Sent> {
  const more = { id, ...(attachments.length > 0 && { attachments }), ...(model !== undefined && { model }) };
  if (!('branchOf' in to))
    return call(web.conversations.say, { params: { id: agentId }, body: { message: text, ...to, ...more } });
  const params = { id: agentId, sessionId: to.branchOf };
  return call(web.conversations.branch, { params, body: { at: to.at, message: text, ...more } });
}

/** One that an older page left behind says less. */
const read = (agentId: string): Letter[] =>
  ((kept(keyOf(agentId)) as (Pick<Letter, 'id' | 'text'> & Partial<Letter>)[] | undefined) ?? []).map((one) => ({
    ...one,
    attachments: one.attachments ?? [],
    to: one.to ?? { topic: 'dashboard' },
  }));

export function useOutbox(agentId: string, onSent: (sent: Sent, letter: Letter) => void) {
  const [letters, setLetters] = useState<Letter[]>(() => read(agentId));
  const [waits, setWaits] = useState(false);
  const { state } = useConnection();
  const busy = useRef(false);

  useEffect(() => {
    const open = letters.filter(({ seq }) => seq === undefined);
    if (open.length > 0) keep(keyOf(agentId), open);
    else forget(keyOf(agentId));
  }, [agentId, letters]);

  const change = useCallback(
    (id: string, to: Partial<Letter>) =>
      setLetters((old) => old.map((letter) => (letter.id === id ? { ...letter, ...to } : letter))),
    [],
  );

  const next = letters.find(({ seq, problem }) => seq === undefined && problem === undefined);
  useEffect(() => {
    if (!next || busy.current || waits) return;
    busy.current = true;
    send(agentId, next)
      .then((sent) => {
        change(next.id, { seq: sent.seq, sessionId: sent.sessionId });
        onSent(sent, next);
      })
      .catch((error: Error) => {
        if (isAway(error)) setWaits(true);
        else change(next.id, { problem: error.message });
      })
      .finally(() => {
        busy.current = false;
      });
  }, [agentId, next, waits, change, onSent]);

  // When the stream is back it is tried at once, and in any case after a while.
  useEffect(() => {
    if (!waits) return;
    const timer = setTimeout(() => setWaits(false), state === 'live' ? AGAIN_MS / 4 : AGAIN_MS);
    return () => clearTimeout(timer);
  }, [waits, state]);

  return {
    letters,
    waits,
    post: (written: Written, to: Target) => setLetters((old) => [...old, { id: newId(), to, ...written }]),
    again: (id: string) => change(id, { problem: undefined }),
    drop: (id: string) => setLetters((old) => old.filter((letter) => letter.id !== id)),
  };
}
