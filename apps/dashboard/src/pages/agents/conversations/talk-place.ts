import { web } from '@troupe/contract';
import type { WebAgent } from '@troupe/contract';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useMemo, useRef, useState } from 'react';
import { stale, useCall } from '../../../api.ts';
import type { SessionRef } from './conversation.ts';
import { listQuery } from './list-query.ts';
import { NEW_PLACE, newestOf, OWN_TOPIC, topicOf } from './letters.ts';
import type { Letter, Sent, Target } from './letters.ts';

/** Leads to a conversation, and to a step in it. */
function useOpen() {
  const navigate = useNavigate();
  return useCallback(
    (sessionId: string | undefined, step?: number, replace = false) =>
      void navigate({
        to: '.',
        search: { tab: 'chat', c: sessionId, ...(step !== undefined && { at: step }) } as never,
        replace,
      }),
    [navigate],
  );
}

/** Which conversation is shown, as the address says; without a word in it, the one that was used last. */
export function usePlace(agent: WebAgent) {
  const { c, at } = useSearch({ strict: false }) as { c?: string; at?: string | number };
  const queries = useQueryClient();
  const list = useCall(web.conversations.list, { params: { id: agent.id }, query: listQuery(false) });
  const [made, setMade] = useState<Record<string, string>>({});

  const topic = topicOf(c);
  const newest = newestOf(list.data?.sessions ?? []);
  // What is read stays on screen, whatever is used elsewhere meanwhile.
  const first = useRef<string>(undefined);
  if (c === undefined) first.current ??= newest?.id;
  else first.current = undefined;

  const id = c === undefined ? (first.current ?? made[OWN_TOPIC]) : c.startsWith(NEW_PLACE) ? made[topic] : c;
  const listed = list.data?.sessions.find((one) => one.id === id);
  const head = useCall(
    web.conversations.get,
    { params: { id: agent.id, sessionId: id ?? '' }, query: { limit: '1' } },
    { enabled: id !== undefined && list.data !== undefined && !listed, retry: false },
  );
  const session = listed ?? head.data?.session;
  const ref = useMemo<SessionRef | undefined>(
    () => (session ? { agentId: agent.id, sessionId: session.id, lastSeq: session.lastSeq } : undefined),
    // Steps that come later are the stream's.
    [agent.id, session?.id],
  );

  const open = useOpen();
  const onSent = useCallback(
    ({ sessionId }: Sent, { to }: Letter) => {
      // One more message in a conversation is told by the stream.
      if (!('sessionId' in to)) void stale(queries, web.conversations.list);
      if ('branchOf' in to) {
        void stale(queries, web.conversations.listBranches);
        open(sessionId);
      }
      if (!('topic' in to)) return;
      setMade((old) => ({ ...old, [to.topic]: sessionId }));
      if (to.topic !== OWN_TOPIC) open(sessionId, undefined, true);
    },
    [open, queries],
  );

  const isWaiting = id !== undefined && !session;
  return {
    list,
    head,
    session,
    ref,
    at,
    /** Names the place, from before its first message on. */
    place: session?.key ?? topic,
    target: (session ? { sessionId: session.id } : { topic }) as Target,
    isWaiting,
    open,
    onSent,
  };
}
