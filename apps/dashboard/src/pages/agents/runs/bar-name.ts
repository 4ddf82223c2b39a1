import type { SessionStep } from '@troupe/contract';
import { modelName } from '../../../models.ts';
import { runs as texts } from '../../../texts/runs.ts';
import { toolLine } from '../conversations/tool-words.ts';
import type { Bar } from './waterfall.ts';

/** Read once: arguments may be as long as a file. */
const lines = new WeakMap<SessionStep, string>();

function lineOf({ step, name, args = '' }: Bar): string {
  const line = lines.get(step) ?? toolLine(name, args);
  lines.set(step, line);
  return line;
}

/** What a step of a run is called; nothing where its kind says it all. */
export function barName(bar: Bar): string {
  if (bar.kind === 'model') return modelName(bar.name);
  if (bar.kind === 'tool') return lineOf(bar);
  return bar.kind === 'note' ? (texts.notes[bar.name] ?? bar.name) : bar.name;
}
