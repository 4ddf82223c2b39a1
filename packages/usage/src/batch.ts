import { newId } from '@troupe/kernel';
import type { SpendReservation } from './spend.ts';

export interface AiEvent {
  userId: string;
  /** Empty: called without an agent. */
  agentId: string;
  runId: string | undefined;
  /** The API key that a program showed. */
  keyId?: string | undefined;
  model: string;
  provider: string;
  inputTokens: number;
  outputTokens: number;
  /** Of the input: read from the provider's cache. */
  cachedTokens?: number;
  /** Of the output: thought, not said. */
  reasoningTokens?: number;
  costMicros: number;
  latencyMs: number;
  success: boolean;
  /** The provider did not count the tokens. */
  estimated: boolean;
  /** Made without a reservation: caps that were set meanwhile count it when it is written. */
  unreserved?: boolean;
  /** Made with one: so do caps that it was not made for. */
  reservation?: SpendReservation | undefined;
}

export interface ToolEvent {
  userId: string;
  agentId: string;
  tool: string;
  durationMs: number;
  success: boolean;
}

/** Calls that differ in numbers alone, and their sums. */
interface Group {
  userId: string;
  agentId: string;
  runId: string | undefined;
  keyId: string | undefined;
  model: string;
  provider: string;
  success: boolean;
  estimated: boolean;
  unreserved: boolean;
  /** Of one of the calls: all are counted in the same counters. */
  reservation: SpendReservation | undefined;
  /** The day's first millisecond. */
  day: number;
  calls: number;
  inputTokens: number;
  outputTokens: number;
  costMicros: number;
  latencyMs: number;
}

/** One number for each call; `group` is the place of its group. */
interface Columns {
  group: number[];
  inputTokens: number[];
  outputTokens: number[];
  cachedTokens: number[];
  reasoningTokens: number[];
  costMicros: number[];
  latencyMs: number[];
  /** Milliseconds since the epoch. */
  at: number[];
}

/**
 * What is written together. Those who call are few and their calls many: a call is kept as eight numbers, because a
 * thousand objects that wait cost the collector of garbage and the database more than the calls themselves.
 */
export interface Batch {
  id: string;
  places: Map<string, number>;
  groups: Group[];
  columns: Columns;
  tools: (ToolEvent & { at: number })[];
}

const MAX_EVENTS = 1_000;
const DAY_MS = 86_400_000;

export const newBatch = (id: string = newId()): Batch => ({
  id,
  places: new Map(),
  groups: [],
  columns: {
    group: [],
    inputTokens: [],
    outputTokens: [],
    cachedTokens: [],
    reasoningTokens: [],
    costMicros: [],
    latencyMs: [],
    at: [],
  },
  tools: [],
});

export const sizeOf = ({ columns, tools }: Batch): number => columns.at.length + tools.length;

export const isFull = (batch: Batch): boolean => sizeOf(batch) >= MAX_EVENTS;

export function addCall(batch: Batch, event: AiEvent, at: number): void {
  const place = placeOf(batch, event, at - (at % DAY_MS));
  const { inputTokens, outputTokens, cachedTokens = 0, reasoningTokens = 0, costMicros, latencyMs } = event;
  const group = batch.groups[place]!;
  group.calls += 1;
  group.inputTokens += inputTokens;
  group.outputTokens += outputTokens;
  group.costMicros += costMicros;
  group.latencyMs += latencyMs;
  const { columns } = batch;
  columns.group.push(place);
  columns.inputTokens.push(inputTokens);
  columns.outputTokens.push(outputTokens);
  columns.cachedTokens.push(cachedTokens);
  columns.reasoningTokens.push(reasoningTokens);
  columns.costMicros.push(costMicros);
  columns.latencyMs.push(latencyMs);
  columns.at.push(at);
}

function placeOf({ places, groups }: Batch, event: AiEvent, day: number): number {
  const { userId, agentId, runId, keyId, model, provider, success, estimated, reservation } = event;
  const { unreserved = false } = event;
  const flags = (success ? 4 : 0) + (estimated ? 2 : 0) + (unreserved ? 1 : 0);
  const counted = reservation ? JSON.stringify(reservation.counters) : '';
  const key = `${flags} ${day}\n${userId}\n${agentId}\n${runId ?? ''}\n${keyId ?? ''}\n${model}\n${provider}\n${counted}`;
  let place = places.get(key);
  if (place === undefined) {
    place = groups.length;
    places.set(key, place);
    const sums = { calls: 0, inputTokens: 0, outputTokens: 0, costMicros: 0, latencyMs: 0 };
    const about = { userId, agentId, runId, keyId, model, provider, success, estimated, unreserved, reservation };
    groups.push({ ...about, day, ...sums });
  }
  return place;
}

/** Its events one by one, under ids that are the same at the next try. */
export function singles({ id, groups, columns, tools }: Batch): Batch[] {
  const calls = columns.at.map((at, index) => {
    const single = newBatch(`${id}-${index}`);
    const numbers = {
      inputTokens: columns.inputTokens[index]!,
      outputTokens: columns.outputTokens[index]!,
      cachedTokens: columns.cachedTokens[index]!,
      reasoningTokens: columns.reasoningTokens[index]!,
      costMicros: columns.costMicros[index]!,
      latencyMs: columns.latencyMs[index]!,
    };
    addCall(single, { ...writable(groups[columns.group[index]!]!), ...numbers }, at);
    return single;
  });
  return [...calls, ...tools.map((tool, index) => ({ ...newBatch(`${id}-tool-${index}`), tools: [writable(tool)] }))];
}

/** Without what no text in the database can hold: NUL and halves of characters. */
function writable<T extends object>(event: T): T {
  const clean = (value: unknown): unknown =>
    typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '\ufffd') : value;
  return Object.fromEntries(Object.entries(event).map(([name, value]) => [name, clean(value)])) as T;
}
