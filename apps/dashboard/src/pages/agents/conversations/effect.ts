import { visible } from '../../../visible.ts';

/** What a call of a tool would do, in terms of what it changes: what a person decides about. */

export type Effect =
  | { kind: 'file'; path: string; text: string }
  | { kind: 'edit'; path: string; edits: { before: string; after: string }[] }
  | { kind: 'move'; from: string; to: string }
  | { kind: 'remove'; path: string }
  | { kind: 'command'; command: string; folder: string }
  | { kind: 'page'; url: string }
  | { kind: 'task'; to: string; task: string; expected: string }
  | { kind: 'other'; fields: [string, string][] };

type Args = Record<string, unknown>;

const isObject = (value: unknown): value is Args =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const text = (value: unknown): string =>
  value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value);

/** Arguments as the model wrote them: usually JSON, but it may be broken. */
export function argsOf(args: string): Args {
  try {
    const parsed: unknown = JSON.parse(args);
    return isObject(parsed) ? parsed : { '': args };
  } catch {
    return { '': args };
  }
}

const edits = (value: unknown): { before: string; after: string }[] =>
  (Array.isArray(value) ? value : []).filter(isObject).map((one) => ({
    before: text(one['oldText']),
    after: text(one['newText']),
  }));

const other = (args: Args): Effect => ({
  kind: 'other',
  fields: Object.entries(args).map(([key, value]) => [key, text(value)]),
});

export function effectOf(tool: string, json: string): Effect {
  const args = argsOf(json);
  // Broken, or cut because it is long: what is left of it says nothing about the whole.
  if (Object.hasOwn(args, '')) return other(args);
  const path = text(args['path']);
  switch (tool) {
    case 'write_file':
      return { kind: 'file', path, text: text(args['content']) };
    case 'edit_file':
      return { kind: 'edit', path, edits: edits(args['edits']) };
    case 'move_file':
      return { kind: 'move', from: text(args['source']), to: text(args['destination']) };
    case 'delete_file':
      return { kind: 'remove', path };
    case 'shell':
      return { kind: 'command', command: text(args['cmd']), folder: text(args['cwd']) };
    case 'fetch':
      return { kind: 'page', url: text(args['url']) };
    case 'transfer_task':
      return {
        kind: 'task',
        to: text(args['agent']),
        task: text(args['task']),
        expected: text(args['expected_output']),
      };
    default:
      return other(args);
  }
}

/** As a person may see it who decides: a character that is not seen, or turns others around, would let it look like another call. */
export function seen(effect: Effect): Effect {
  switch (effect.kind) {
    case 'edit':
      return {
        ...effect,
        path: visible(effect.path),
        edits: effect.edits.map(({ before, after }) => ({ before: visible(before), after: visible(after) })),
      };
    case 'other':
      return { ...effect, fields: effect.fields.map(([name, value]) => [visible(name), visible(value)]) };
    default:
      return Object.fromEntries(Object.entries(effect).map(([key, value]) => [key, visible(value)])) as Effect;
  }
}
