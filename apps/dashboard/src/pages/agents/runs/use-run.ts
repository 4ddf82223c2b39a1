import { web } from '@troupe/contract';
import type { BackgroundTask, SessionStep } from '@troupe/contract';
import { stepsOfRun } from '@troupe/domain';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { call, useCall } from '../../../api.ts';
import { useLive } from '../../../live/context.tsx';
import { withStep } from '../conversations/steps.ts';
import type { RunPlace } from './run-name.ts';
import { readRun } from './waterfall.ts';

const PAGE = 500;
const MOST_PAGES = 10;

/** From the prompt to the end of the run, or as far as it has come. */
async function readSteps({ agentId, sessionId, first }: RunPlace): Promise<SessionStep[]> {
  const steps: SessionStep[] = [];
  for (let page = 0, after = first - 1; page < MOST_PAGES; page += 1) {
    const query = { after: String(after), limit: String(PAGE) };
    const { events, hasMore } = await call(web.conversations.get, { params: { id: agentId, sessionId }, query });
    steps.push(...events);
    after = events.at(-1)?.seq ?? after;
    if (!hasMore || events.some(({ type, leaves }) => type === 'run_ended' && leaves !== first)) break;
  }
  return steps;
}

function useRunSteps({ agentId, sessionId, first }: RunPlace) {
  const queries = useQueryClient();
  const live = useLive();
  const queryKey = useMemo(() => ['run', agentId, sessionId, first] as const, [agentId, sessionId, first]);
  const queryFn = () => readSteps({ agentId, sessionId, first });
  const read = useQuery({ queryKey, queryFn, staleTime: Infinity });
  const steps = useMemo(() => stepsOfRun(read.data ?? [], first), [read.data, first]);
  const isOver = steps.at(-1)?.type === 'run_ended';
  const after = read.data?.at(-1)?.seq;
  useEffect(() => {
    if (isOver || after === undefined) return;
    const add = (step: SessionStep) => queries.setQueryData<SessionStep[]>(queryKey, (old = []) => withStep(old, step));
    return live.watch({ agentId, sessionId, after }, { step: add, text: () => {} });
    // Only where it begins: what comes is added by the watch itself.
  }, [agentId, sessionId, isOver, after === undefined, live, queries, queryKey]);
  return { read, steps, isOver };
}

const NO_TASKS: BackgroundTask[] = [];

/** What the run has in the background: looked at again with every step of its conversation, where their ends are told. */
function useTasks({ agentId, sessionId, first }: RunPlace, steps: SessionStep[]): BackgroundTask[] {
  const enabled = steps.some(({ toolCalls = [] }) => toolCalls.some(({ tool }) => tool === 'run_background_agent'));
  const input = { params: { id: agentId }, query: { session: sessionId, limit: '100' } };
  const found = useCall(web.background.list, input, { enabled });
  const live = useLive();
  const runs = found.data?.tasks.some(({ status }) => status === 'running') ?? false;
  const { refetch } = found;
  useEffect(() => {
    if (!enabled) return;
    if (!runs) return void refetch();
    const after = steps.at(-1)?.seq ?? 0;
    return live.watch({ agentId, sessionId, after }, { step: () => void refetch(), text: () => {} });
  }, [enabled, runs, steps.length, agentId, sessionId, live, refetch]);
  return useMemo(
    () => found.data?.tasks.filter(({ runSeq }) => runSeq === first).toReversed() ?? NO_TASKS,
    [found.data, first],
  );
}

/** A clock for what goes on. */
function useNow(runs: boolean): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!runs) return;
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [runs]);
  return now;
}

/** A run as it is at this moment, and as it goes on. */
export function useRun(place: RunPlace) {
  const { read, steps, isOver } = useRunSteps(place);
  const tasks = useTasks(place, steps);
  const now = useNow(read.data !== undefined && (!isOver || tasks.some(({ status }) => status === 'running')));
  const run = useMemo(() => readRun(steps, now, tasks), [steps, now, tasks]);
  return { read, run, isOver };
}
