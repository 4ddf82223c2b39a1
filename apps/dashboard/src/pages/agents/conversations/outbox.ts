import { say } from '@troupe/contract';
import { useCallback, useEffect, useRef, useState } from 'react';
import { call, statusOf } from '../../../api.ts';
import { useConnection } from '../../../live-context.tsx';
import { forget, keep, kept } from '../../../keeping.ts';

/** What was written and is not known to have arrived. It outlives the page: nothing typed is lost. */

export interface Letter {
  /** The platform takes the same letter once, however often it is sent. */
  id: string;
  text: string;
  /** Its number in the conversation, once it has arrived. */
  seq?: number;
  /** Why it was refused: it waits for a person. */
  problem?: string;
}

export interface Sent {
  sessionId: string;
  seq: number;
}

/** By hand: `randomUUID` is there only under https. */
const newId = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');

const AGAIN_MS = 4000;
const keyOf = (agentId: string) => `outbox:${agentId}`;

/** The connection or the service is at fault, not the letter. */
const isAway = (error: unknown): boolean => {
  const status = statusOf(error);
  return status === undefined || status === 0 || status >= 500 || status === 429;
};

export function useOutbox(agentId: string, onSent: (sent: Sent) => void) {
  const [letters, setLetters] = useState<Letter[]>(() => (kept(keyOf(agentId)) as Letter[] | undefined) ?? []);
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
    call(say, { params: { id: agentId }, body: { message: next.text, id: next.id } })
      .then((sent) => {
        change(next.id, { seq: sent.seq });
        onSent(sent);
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
    post: (text: string) => setLetters((old) => [...old, { id: newId(), text }]),
    again: (id: string) => change(id, { problem: undefined }),
    drop: (id: string) => setLetters((old) => old.filter((letter) => letter.id !== id)),
  };
}
