import { web } from '@troupe/contract';
import type { SessionStep } from '@troupe/contract';
import { queryOptions, useQueries, useQuery, useQueryClient } from '@tanstack/react-query';
import type { QueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { call } from '../../../api.ts';
import { useLive } from '../../../live/context.tsx';
import { withStep } from './steps.ts';
import { stateOf } from './transcript.ts';
import { createWriting } from './writing.ts';
import type { Writing } from './writing.ts';

/** The steps of a session, from the newest backwards as far as somebody has looked, and on as they happen. */

export interface SessionRef {
  agentId: string;
  sessionId: string;
  lastSeq: number;
}

const PAGE = 200;
const KEPT_MS = 30 * 60_000;

const keyOf = ({ agentId, sessionId }: SessionRef) => ['steps', agentId, sessionId] as const;

/** All steps after one and up to another. A page may end early, where it gets large. */
export async function readSteps(
  { agentId, sessionId }: Omit<SessionRef, 'lastSeq'>,
  after: number,
  upTo: number,
): Promise<SessionStep[]> {
  const steps: SessionStep[] = [];
  while (after < upTo) {
    const query = { after: String(after), limit: String(Math.min(PAGE, upTo - after)) };
    const { events } = await call(web.conversations.get, { params: { id: agentId, sessionId }, query });
    if (events.length === 0) break;
    steps.push(...events);
    after = events.at(-1)!.seq;
  }
  return steps;
}

const stepsQuery = (ref: SessionRef) =>
  queryOptions({
    queryKey: keyOf(ref),
    // What is there is true for ever, and the live stream goes on from there: nothing is read twice.
    queryFn: async ({ client, queryKey }) =>
      client.getQueryData<SessionStep[]>(queryKey) ??
      (await readSteps(ref, Math.max(0, ref.lastSeq - PAGE), ref.lastSeq)),
    staleTime: Infinity,
    gcTime: KEPT_MS,
  });

/** The agent's past is another one now: it was reset, or a backup took its place. */
export const forgetSteps = (queries: QueryClient, agentId: string): void =>
  queries.removeQueries({ queryKey: ['steps', agentId] });

const append = (queries: QueryClient, ref: SessionRef, step: SessionStep): void =>
  void queries.setQueryData<SessionStep[]>(keyOf(ref), (old = []) => withStep(old, step));

export interface Conversation {
  steps: SessionStep[] | undefined;
  error: Error | null;
  refetch: () => void;
  writing: Writing;
  hasOlder: boolean;
  /** Reads the page before the first that is shown. */
  older: () => Promise<void>;
}

export function useConversation(ref: SessionRef | undefined): Conversation {
  const queries = useQueryClient();
  const live = useLive();
  const [writing] = useState(() => createWriting((show) => requestAnimationFrame(show)));
  const read = useQuery({
    ...stepsQuery(ref ?? { agentId: '', sessionId: '', lastSeq: 0 }),
    enabled: ref !== undefined,
  });
  const { agentId, sessionId } = ref ?? {};
  const isThere = read.data !== undefined;
  useEffect(() => {
    if (!agentId || !sessionId || !isThere) return;
    const own = { agentId, sessionId, lastSeq: 0 };
    const after = queries.getQueryData<SessionStep[]>(keyOf(own))?.at(-1)?.seq ?? 0;
    const stop = live.watch(
      { agentId, sessionId, after },
      {
        step(step) {
          append(queries, own, step);
          if (step.type === 'assistant' || step.type === 'run_ended') writing.clear();
        },
        text: writing.add,
      },
    );
    return () => {
      stop();
      writing.clear();
    };
  }, [agentId, sessionId, isThere, live, queries, writing]);

  const reading = useRef(false);
  const first = read.data?.[0]?.seq ?? 0;
  const older = useCallback(async () => {
    if (!agentId || !sessionId || first <= 1 || reading.current) return;
    reading.current = true;
    try {
      const own = { agentId, sessionId, lastSeq: 0 };
      const before = await readSteps(own, Math.max(0, first - 1 - PAGE), first - 1);
      queries.setQueryData<SessionStep[]>(keyOf(own), (old = []) =>
        old[0]?.seq === first ? [...before, ...old] : old,
      );
    } finally {
      reading.current = false;
    }
  }, [agentId, sessionId, first, queries]);

  return {
    steps: ref ? read.data : [],
    error: read.error,
    refetch: () => void read.refetch(),
    writing,
    hasOlder: first > 1,
    older,
  };
}

/** What a conversation that is on screen is doing, by its steps: the list of all is read only now and then. */
export function useStateOnScreen(agentId: string, sessionId: string | undefined) {
  const ref = { agentId, sessionId: sessionId ?? '', lastSeq: 0 };
  const { data } = useQuery({ ...stepsQuery(ref), enabled: false });
  return useMemo(() => (data && data.length > 0 ? stateOf(data) : undefined), [data]);
}

/** The newest steps of several sessions at once. */
export function useSteps(refs: SessionRef[]): (SessionStep[] | undefined)[] {
  const queries = useQueryClient();
  const live = useLive();
  const reads = useQueries({ queries: refs.map((ref) => stepsQuery(ref)) });
  const names = refs.map(({ agentId, sessionId }, index) => (reads[index]?.data ? `${agentId} ${sessionId}` : ''));
  const watched = useMemo(() => names.filter(Boolean), [names.join()]);
  useEffect(() => {
    const stops = watched.map((name) => {
      const [agentId = '', sessionId = ''] = name.split(' ');
      const own = { agentId, sessionId, lastSeq: 0 };
      const after = queries.getQueryData<SessionStep[]>(keyOf(own))?.at(-1)?.seq ?? 0;
      return live.watch({ agentId, sessionId, after }, { step: (step) => append(queries, own, step), text: () => {} });
    });
    return () => stops.forEach((stop) => stop());
  }, [watched, live, queries]);
  return reads.map(({ data }) => data);
}
