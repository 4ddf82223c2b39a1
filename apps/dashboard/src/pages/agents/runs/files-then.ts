import type { SessionStep } from '@troupe/contract';
import { argsOf, effectOf } from '../conversations/effect.ts';

/**
 * What was in a file at a step, put together from what the conversation says: the platform keeps files as they are now, not
 * as they were.
 */
export type FileThen =
  /** `unsure`: a program ran since, and may have written to it. */
  | { kind: 'text'; text: string; unsure: boolean }
  | { kind: 'removed' }
  /** It was there before, or something else has written it. */
  | { kind: 'unknown' };

/** What may write anywhere in the workspace. */
const PROGRAMS = new Set(['shell', 'run_code', 'run_background_job']);
/** A file that was read in part. */
const CUT = /\n\[\d+ more (?:lines|characters were cut off)\]$/;

/** By one name, however the model wrote it. */
const plain = (path: string): string =>
  path
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/');

type Known = Map<string, FileThen>;

/** What is at a path, and all that is below it. */
const under = (known: Known, path: string): [string, FileThen][] =>
  [...known].filter(([one]) => one === path || one.startsWith(`${path}/`));

function edited(was: FileThen | undefined, edits: readonly { before: string; after: string }[]): FileThen {
  if (was?.kind !== 'text') return { kind: 'unknown' };
  let { text } = was;
  for (const { before, after } of edits) {
    if (!text.includes(before)) return { kind: 'unknown' };
    text = text.replace(before, () => after);
  }
  return { ...was, text };
}

function read(known: Known, args: string, content: string): void {
  const { path, offset, limit } = argsOf(args);
  if (typeof path !== 'string' || offset !== undefined || limit !== undefined || CUT.test(content)) return;
  known.set(plain(path), { kind: 'text', text: content, unsure: false });
}

/** Takes in a call that went well. */
function apply(known: Known, tool: string, args: string, content: string): void {
  if (tool === 'read_file') return read(known, args, content);
  if (PROGRAMS.has(tool)) {
    for (const [path, one] of known) if (one.kind === 'text') known.set(path, { ...one, unsure: true });
    return;
  }
  const effect = effectOf(tool, args);
  if (effect.kind === 'file') known.set(plain(effect.path), { kind: 'text', text: effect.text, unsure: false });
  if (effect.kind === 'edit') known.set(plain(effect.path), edited(known.get(plain(effect.path)), effect.edits));
  if (effect.kind === 'remove') {
    for (const [path] of under(known, plain(effect.path))) known.set(path, { kind: 'removed' });
    known.set(plain(effect.path), { kind: 'removed' });
  }
  if (effect.kind !== 'move') return;
  const [from, to] = [plain(effect.from), plain(effect.to)];
  known.set(to, { kind: 'unknown' });
  for (const [path, one] of under(known, from)) {
    known.set(`${to}${path.slice(from.length)}`, one);
    known.set(path, { kind: 'removed' });
  }
}

/** The file as it was when the last of these steps was over. */
export function fileThen(steps: readonly SessionStep[], path: string): FileThen {
  const calls = new Map(
    steps.flatMap(({ toolCalls = [] }) => toolCalls.map(({ callId, args }): [string, string] => [callId, args])),
  );
  const known: Known = new Map();
  for (const { type, tool = '', callId = '', isError, content = '' } of steps) {
    const args = calls.get(callId);
    if (type === 'tool_result' && isError !== true && args !== undefined) apply(known, tool, args, content);
  }
  return known.get(plain(path)) ?? { kind: 'unknown' };
}
