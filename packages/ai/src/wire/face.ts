import type { ErrorShape } from '@troupe/contract';
import type { ChatDelta, ChatRequest, ChatResult } from '../types.ts';

/**
 * How callers of one protocol speak: what `Wire` is towards providers, this is towards clients. Between the two stands
 * OpenAI's chat format, so any client can use any provider.
 */
export interface Face<Body> {
  errors: ErrorShape;
  request: (body: Body) => ChatRequest;
  wantsStream: (body: Body) => boolean;
  reply: (result: ChatResult, context: FaceContext<Body>) => Record<string, unknown>;
  writer: (context: FaceContext<Body>) => StreamWriter;
}

export interface FaceContext<Body> {
  body: Body;
  /** Seconds since the epoch. */
  created: number;
  /** What is kept of the answer under a name of ours, before its end is told. */
  kept?: { id: string; keep: (answer: Record<string, unknown>) => Promise<void> } | undefined;
}

/** Writes server-sent events; what it is given together it writes together. */
export interface StreamWriter {
  write: (deltas: readonly ChatDelta[]) => string;
  /** To be awaited before what was written last is sent. */
  settled?: () => Promise<void> | undefined;
  /** The stream ends with this instead. */
  fail: (failure: Failure) => string;
}

export interface Failure {
  status: number;
  message: string;
  /** What is said of it beside the message. */
  more?: Readonly<Record<string, unknown>>;
}

/** Left out and null are the same. */
export const given = <T>(value: T | null | undefined): T | undefined => value ?? undefined;

/**
 * Without what is undefined: a request says only what the caller said. As a new object: one of which something was deleted
 * is slow for all who read it after.
 */
export function said<T extends object>(values: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const told: Partial<T> = {};
  for (const name in values) if (values[name] !== undefined) told[name] = values[name];
  return told as { [K in keyof T]: Exclude<T[K], undefined> };
}
