import { web } from '@troupe/contract';
import { useCallback, useEffect, useRef, useState } from 'react';
import { call } from '../../../api.ts';
import { useConnection } from '../../../live/context.tsx';
import { forget, keep, kept } from '../../../keeping.ts';
import { newId } from '../../../ids.ts';
import { isTooFast, retryDelay } from '../../../retrying.ts';
import type { Written } from './composer.tsx';
import { isAway, lettersOf } from './letters.ts';
import type { Letter, Sent, Target } from './letters.ts';

/** What was written and is not known to have arrived. It outlives the page: nothing typed is lost. */

/** Where the platform does not say when: sooner while the stream is there. */
const AGAIN_MS = { live: 1000, else: 4000 };
const keyOf = (agentId: string) => `outbox:${agentId}`;

function send(agentId: string, { id, text, attachments, model, to }: Letter): Promise<Sent> {
  const more = { id, ...(attachments.length > 0 && { attachments }), ...(model !== undefined && { model }) };
  if (!('branchOf' in to))
    return call(web.conversations.say, { params: { id: agentId }, body: { message: text, ...to, ...more } });
  const params = { id: agentId, sessionId: to.branchOf };
  return call(web.conversations.branch, { params, body: { at: to.at, message: text, ...more } });
}

export function useOutbox(agentId: string, onSent: (sent: Sent, letter: Letter) => void) {
  const [letters, setLetters] = useState<Letter[]>(() => lettersOf(kept(keyOf(agentId))));
  /** Until when nothing is sent; without a time: as soon as there is hope. */
  const [waits, setWaits] = useState<{ ms?: number }>();
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

  const deliver = async (letter: Letter) => {
    const sent = await send(agentId, letter);
    change(letter.id, { seq: sent.seq, sessionId: sent.sessionId });
    onSent(sent, letter);
  };
  // A step of its own: sent a second time, the letter must not stop its own answer.
  const interrupt = async ({ id, stops = '' }: Letter) => {
    await call(web.conversations.cancel, { params: { id: agentId, sessionId: stops } });
    change(id, { stops: undefined });
  };

  const next = letters.find(({ seq, problem }) => seq === undefined && problem === undefined);
  useEffect(() => {
    if (!next || busy.current || waits) return;
    busy.current = true;
    const step = next.stops === undefined ? deliver : interrupt;
    step(next)
      .catch((error: Error) => {
        if (isAway(error)) setWaits(isTooFast(error) ? { ms: retryDelay(0, error) } : {});
        else change(next.id, { problem: error.message });
      })
      .finally(() => {
        busy.current = false;
      });
  }, [agentId, next, waits, change, onSent]);

  // When the stream is back it is tried at once, and in any case after a while.
  useEffect(() => {
    if (!waits) return;
    const timer = setTimeout(() => setWaits(undefined), waits.ms ?? (state === 'live' ? AGAIN_MS.live : AGAIN_MS.else));
    return () => clearTimeout(timer);
  }, [waits, state]);

  return {
    letters,
    waits: waits !== undefined,
    post: (written: Written, to: Target, stops?: string) =>
      setLetters((old) => [...old, { id: newId(), to, ...written, ...(stops !== undefined && { stops }) }]),
    again: (id: string) => change(id, { problem: undefined }),
    drop: (id: string) => setLetters((old) => old.filter((letter) => letter.id !== id)),
  };
}
