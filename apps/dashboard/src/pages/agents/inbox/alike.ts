import { inbox as texts } from '../../../texts/access.ts';
import type { Waiting } from './waiting.ts';

export type Call = Extract<Waiting, { kind: 'approval' }>;

/** Two that one word may decide: calls of the same tool, or questions; of anything else the same kind. */
export function isAlike(one: Waiting, other: Waiting): boolean {
  if (one.kind !== 'approval' || other.kind !== 'approval') return one.kind === other.kind;
  const [asks, asksToo] = [one.item.question !== undefined, other.item.question !== undefined];
  return asks === asksToo && (asks || one.item.tool === other.item.tool);
}

export interface Together {
  /** Undefined: something else than calls and questions is among them. */
  calls: Call[] | undefined;
  areQuestions: boolean;
  /** Why they cannot be allowed by one word. */
  unlike: string | undefined;
}

/** What can be done to all of them at once. */
export function togetherOf(chosen: readonly Waiting[]): Together {
  const calls = chosen.filter((one) => one.kind === 'approval');
  if (calls.length < chosen.length) return { calls: undefined, areQuestions: false, unlike: texts.onlyCalls };
  const [first] = calls;
  const isOne = first !== undefined && calls.every((one) => isAlike(first, one));
  return {
    calls,
    areQuestions: isOne && first.item.question !== undefined,
    unlike: isOne ? undefined : texts.unlike,
  };
}
