import { z } from 'zod';
import type { SessionEvent } from '../session/events.ts';
import { failed, tool, type Tool } from './tool.ts';

/** The agent changes the model that answers, among those that its definition lists. */

const TOOLSET = 'model_picker';
const CHANGE = 'change_model';
const REVERT = 'revert_model';

const ARGS = { change: z.object({ model: z.string().max(200) }), revert: z.object({}) };

export const modelPickerTools = (models: readonly string[]): Tool[] => [
  tool({
    name: CHANGE,
    toolset: TOOLSET,
    description: `Let another model answer from your next step on. Models: ${models.join(', ')}.`,
    args: ARGS.change,
    repeatable: true,
    run: async ({ model }) =>
      named(models, model) === undefined
        ? failed(`There is no model ${model}. Models: ${models.join(', ')}.`)
        : `From the next step on ${named(models, model)} answers.`,
  }),
  tool({
    name: REVERT,
    toolset: TOOLSET,
    description: 'Let your own model answer again.',
    args: ARGS.revert,
    repeatable: true,
    run: async () => 'From the next step on your own model answers.',
  }),
];

/** A model is known by its whole name, or by the part after its provider. */
const named = (models: readonly string[], wanted: string): string | undefined =>
  models.find((one) => one === wanted) ?? models.find((one) => one.slice(one.indexOf('/') + 1) === wanted);

/** The model that was changed to last; undefined: none, or back since. */
export function pickedIn(events: readonly SessionEvent[], models: readonly string[]): string | undefined {
  const done = new Set(
    events.flatMap((event) => (event.type === 'tool_result' && !event.isError ? [event.callId] : [])),
  );
  const last = events
    .flatMap((event) => (event.type === 'assistant' ? event.toolCalls : []))
    .findLast((call) => (call.tool === CHANGE || call.tool === REVERT) && done.has(call.callId));
  if (last?.tool !== CHANGE) return undefined;
  const given = ARGS.change.safeParse(parsed(last.args));
  return given.success ? named(models, given.data.model) : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
