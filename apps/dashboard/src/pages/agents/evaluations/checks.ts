import type { EvaluationCheck } from '@troupe/contract';
import { evaluations as texts } from '../../../texts/evaluations.ts';

/** A check as a form has it: its kind, and one value in words. */
export interface CheckDraft {
  kind: EvaluationCheck['kind'];
  value: string;
  /** Words that a tool's arguments contain; only some have them. */
  with?: string | undefined;
}

export const CHECK_KINDS = [
  'contains',
  'lacks',
  'called',
  'not_called',
  'judge',
  'regex',
  'schema',
  'cost',
  'time',
] as const satisfies readonly EvaluationCheck['kind'][];

export const draftOf = (check: EvaluationCheck): CheckDraft => {
  switch (check.kind) {
    case 'contains':
    case 'lacks':
      return { kind: check.kind, value: check.text };
    case 'regex':
      return { kind: check.kind, value: check.pattern };
    case 'schema':
      return { kind: check.kind, value: JSON.stringify(check.schema) };
    case 'called':
      return { kind: check.kind, value: check.tool, with: check.with };
    case 'not_called':
      return { kind: check.kind, value: check.tool };
    case 'cost':
      return { kind: check.kind, value: String(check.mostUsd) };
    case 'time':
      return { kind: check.kind, value: String(check.mostSeconds) };
    case 'judge':
      return { kind: check.kind, value: check.criteria };
  }
};

/** Undefined: it is no object. */
export function schemaIn(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    // Told beside the field while it is written.
    return undefined;
  }
}

export function checkOf({ kind, value, with: words }: CheckDraft): EvaluationCheck {
  switch (kind) {
    case 'contains':
    case 'lacks':
      return { kind, text: value };
    case 'regex':
      return { kind, pattern: value };
    case 'schema':
      return { kind, schema: schemaIn(value) ?? {} };
    case 'called':
      return { kind, tool: value.trim(), ...(words && { with: words }) };
    case 'not_called':
      return { kind, tool: value.trim() };
    case 'cost':
      return { kind, mostUsd: Number(value) };
    case 'time':
      return { kind, mostSeconds: Number(value) };
    case 'judge':
      return { kind, criteria: value };
  }
}

/** In a line. */
export function sayCheck(check: EvaluationCheck): string {
  const { kind, value, with: words } = draftOf(check);
  return `${texts.kinds[kind] ?? kind}: ${value}${words ? ` (${words})` : ''}`;
}
