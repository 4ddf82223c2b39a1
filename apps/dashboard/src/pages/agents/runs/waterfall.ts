import type { BackgroundTask, SessionStep } from '@troupe/contract';

/** A run as bars over time: when the model thought, when tools worked, when it waited for a person. */

export interface Bar {
  key: string;
  kind: 'prompt' | 'model' | 'tool' | 'person' | 'note' | 'branch';
  name: string;
  /** The step that it ends with: the log up to it is what was known then. */
  seq: number;
  start: number;
  end: number;
  isError: boolean;
  step: SessionStep;
  /** Of a tool: what it was called with. */
  args?: string;
  /** Of a branch: the work that a member does meanwhile. */
  task?: BackgroundTask;
}

export interface Run {
  bars: Bar[];
  start: number;
  end: number;
  outcome: string | undefined;
  reason: string | undefined;
  costMicros: number;
  tokens: number;
  /** Time that passed while it waited for a person. */
  waitedMs: number;
  /** Without that, and without what members did after its end. */
  workedMs: number;
}

const time = (step: SessionStep): number => new Date(step.at).getTime();

function barOf(
  step: SessionStep,
  calls: Map<string, string>,
  asked: Map<string, number>,
): Omit<Bar, 'step'> | undefined {
  const end = time(step);
  const base = { key: String(step.seq), seq: step.seq, end, isError: false };
  const lasting = end - Math.max(0, step.spent?.ms ?? 0);
  switch (step.type) {
    case 'user':
      return { ...base, kind: 'prompt', name: step.content ?? '', start: end };
    case 'assistant':
      return { ...base, kind: 'model', name: step.model ?? '', start: lasting };
    case 'tool_result':
      return {
        ...base,
        kind: 'tool',
        name: step.tool ?? '',
        start: lasting,
        isError: step.isError === true,
        args: calls.get(step.callId ?? '') ?? '',
      };
    case 'approval_decided':
      return {
        ...base,
        kind: 'person',
        name: '',
        start: asked.get(step.approvalId ?? '') ?? end,
        isError: !step.approved,
      };
    case 'compaction':
    case 'handoff':
    case 'recovered':
    case 'cancel_requested':
      return { ...base, kind: 'note', name: step.type, start: end };
    default:
      return undefined;
  }
}

/** What waits at this moment, up to now. */
const waiting = (steps: SessionStep[], asked: Map<string, number>, now: number): Bar[] => {
  const decided = new Set(steps.filter(({ type }) => type === 'approval_decided').map(({ approvalId }) => approvalId));
  if (steps.at(-1)?.type === 'run_ended') return [];
  return steps
    .filter(({ type, approvalId }) => type === 'approval_requested' && !decided.has(approvalId))
    .map((step) => ({
      key: `${step.seq}-waits`,
      kind: 'person',
      name: '',
      seq: step.seq,
      start: asked.get(step.approvalId ?? '') ?? now,
      end: now,
      isError: false,
      step,
    }));
};

/** Each task behind the call that began it; one whose call is not at hand comes last. */
function withBranches(bars: Bar[], tasks: readonly BackgroundTask[], now: number): Bar[] {
  const branchOf = (task: BackgroundTask, { seq, step }: Bar): Bar => ({
    key: `task-${task.id}`,
    kind: 'branch',
    name: task.member,
    seq,
    start: new Date(task.createdAt).getTime(),
    end: task.endedAt === null ? now : new Date(task.endedAt).getTime(),
    isError: task.status === 'failed',
    step,
    task,
  });
  const last = bars.at(-1);
  const isHere = new Set(bars.map(({ step }) => step.callId));
  const adrift = last ? tasks.filter(({ id }) => !isHere.has(id)).map((task) => branchOf(task, last)) : [];
  return [
    ...bars.flatMap((bar) => [
      bar,
      ...tasks
        .filter(({ id }) => bar.step.type === 'tool_result' && id === bar.step.callId)
        .map((task) => branchOf(task, bar)),
    ]),
    ...adrift,
  ];
}

/** `tasks`: what the run gave members to do in the background. */
export function readRun(steps: SessionStep[], now: number, tasks: readonly BackgroundTask[] = []): Run {
  const calls = new Map(
    steps.flatMap(({ toolCalls = [] }) => toolCalls.map(({ callId, args }): [string, string] => [callId, args])),
  );
  const asked = new Map(
    steps
      .filter(({ type }) => type === 'approval_requested')
      .map((step): [string, number] => [step.approvalId ?? '', time(step)]),
  );
  const done = steps.flatMap((step) => {
    const bar = barOf(step, calls, asked);
    return bar ? [{ ...bar, step }] : [];
  });
  const own = [...done, ...waiting(steps, asked, now)];
  const bars = withBranches(own, tasks, now);
  const last = steps.at(-1);
  const ended = last?.type === 'run_ended' ? last : undefined;
  const start = Math.min(...bars.map((bar) => bar.start));
  const until = ended ? time(ended) : now;
  const endOf = (some: Bar[]) => Math.max(until, ...some.map((bar) => bar.end));
  const end = endOf(bars);
  const waitedMs = bars.filter(({ kind }) => kind === 'person').reduce((sum, bar) => sum + bar.end - bar.start, 0);
  const spent = steps.filter(({ type }) => type === 'assistant' || type === 'tool_result').map((step) => step.spent);
  return {
    bars,
    start: bars.length > 0 ? start : now,
    end: bars.length > 0 ? Math.max(end, start + 1) : now + 1,
    outcome: ended?.outcome,
    reason: ended?.reason,
    costMicros: spent.reduce((sum, one) => sum + (one?.costMicros ?? 0), 0),
    tokens: spent.reduce((sum, one) => sum + (one?.tokens ?? 0), 0),
    waitedMs,
    workedMs: own.length > 0 ? Math.max(0, endOf(own) - start - waitedMs) : 0,
  };
}

/** The step of the agent's own that took longest, and its part of the work; of one or two there is nothing to say. */
export function slowestOf({ bars, workedMs }: Run): { bar: Bar; share: number } | undefined {
  const own = bars.filter(({ kind }) => kind === 'model' || kind === 'tool');
  const length = ({ start, end }: Bar) => end - start;
  const bar = own.reduce<Bar | undefined>((most, one) => (most && length(most) >= length(one) ? most : one), undefined);
  if (!bar || own.length < 3 || length(bar) <= 0) return undefined;
  return { bar, share: Math.min(1, length(bar) / Math.max(1, workedMs)) };
}

/** A step that took no time can be seen, too. */
const THINNEST = 0.6;

/** Where a bar stands, in percent of the run. */
export function placeOf(bar: Pick<Bar, 'start' | 'end'>, run: Pick<Run, 'start' | 'end'>) {
  const whole = Math.max(1, run.end - run.start);
  const left = Math.max(0, Math.min(100 - THINNEST, ((bar.start - run.start) / whole) * 100));
  const width = Math.max(THINNEST, Math.min(100 - left, ((bar.end - bar.start) / whole) * 100));
  return { left, width };
}
