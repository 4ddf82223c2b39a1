/** Which files of a workspace a conversation is about: what its steps say, not what is in the workspace now. */

interface Step {
  seq: number;
  at: string;
  type: string;
  callId?: string | undefined;
  isError?: boolean | undefined;
  toolCalls?: readonly { callId: string; tool: string; args: string }[] | undefined;
  attachments?: readonly { path: string }[] | undefined;
}

export type TouchedHow = 'written' | 'read' | 'removed' | 'attached';

export interface TouchedFile {
  path: string;
  /** What was done to it last. A file that was written and then read is one that was written. */
  how: TouchedHow;
  /** The step in which that was. */
  seq: number;
  at: string;
}

export const MOST_TOUCHED = 200;

const HOW: Readonly<Record<string, TouchedHow>> = {
  write_file: 'written',
  edit_file: 'written',
  read_file: 'read',
  delete_file: 'removed',
};
/** A path longer than any file system has is no path. */
const LONGEST = 1000;

/** By one name, however the model wrote it; undefined: it is none. */
function plain(path: unknown): string | undefined {
  if (typeof path !== 'string' || path.length > LONGEST) return undefined;
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  return parts.length === 0 || parts.includes('..') ? undefined : parts.join('/');
}

/** As the model wrote them: usually JSON. */
function argsOf(args: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(args);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    // Broken words name no file.
    return {};
  }
}

function touchedBy(tool: string, args: string): [path: unknown, how: TouchedHow][] {
  const how = Object.hasOwn(HOW, tool) ? HOW[tool] : undefined;
  if (how) return [[argsOf(args)['path'], how]];
  if (tool !== 'move_file') return [];
  const { source, destination } = argsOf(args);
  return [
    [source, 'removed'],
    [destination, 'written'],
  ];
}

/** Takes steps in, page by page. */
export function createTouched(): { take: (steps: readonly Step[]) => void; files: () => TouchedFile[] } {
  const files = new Map<string, TouchedFile>();
  const calls = new Map<string, { tool: string; args: string }>();

  function touch(given: unknown, how: TouchedHow, { seq, at }: Step): void {
    const path = plain(given);
    if (path === undefined) return;
    const was = files.get(path);
    // Newest last, so that the oldest goes first.
    files.delete(path);
    const kept = how === 'read' && (was?.how === 'written' || was?.how === 'attached') ? was.how : how;
    files.set(path, { path, how: kept, seq, at });
    if (files.size > MOST_TOUCHED) files.delete(files.keys().next().value!);
  }

  return {
    take(steps) {
      for (const step of steps) {
        for (const { callId, tool, args } of step.toolCalls ?? []) calls.set(callId, { tool, args });
        for (const { path } of step.attachments ?? []) touch(path, 'attached', step);
        if (step.type !== 'tool_result' || step.callId === undefined) continue;
        const call = calls.get(step.callId);
        calls.delete(step.callId);
        if (!call || step.isError === true) continue;
        for (const [path, how] of touchedBy(call.tool, call.args)) touch(path, how, step);
      }
    },
    files: () => [...files.values()].reverse(),
  };
}
