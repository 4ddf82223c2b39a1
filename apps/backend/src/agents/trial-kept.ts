import type { Trial } from '@troupe/fleet';

const ANSWER_KEPT = 8_000;
const CALLS_KEPT = 50;
const ARGS_KEPT = 300;

export const cut = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most).toWellFormed()}…` : text;

/** What of a trial is told: a model may say and call more than anybody reads. */
export const keptOf = ({ answer, calls, spent }: Trial) => ({
  answer: cut(answer, ANSWER_KEPT),
  calls: calls
    .slice(0, CALLS_KEPT)
    .map((call) => ({ ...call, tool: cut(call.tool, 200), args: cut(call.args, ARGS_KEPT) })),
  tokens: spent.tokens,
  costMicros: spent.costMicros,
  ms: spent.ms,
});
