/** One agent asks another to spread something: requested, accepted by the one that was asked, and done by it. */

export const AMPLIFY_STATUSES = ['requested', 'accepted', 'done'] as const;
export type AmplifyStatus = (typeof AMPLIFY_STATUSES)[number];

const STEPS = { accept: { from: 'requested', to: 'accepted' }, done: { from: 'accepted', to: 'done' } } as const;
export type AmplifyMove = keyof typeof STEPS;

export interface AmplifyState {
  status: AmplifyStatus;
  /** The agent that was asked. */
  asked: string;
}

/** The status after a move of `by`, or why there is none. */
export function moveAmplify(
  { status, asked }: AmplifyState,
  move: AmplifyMove,
  by: string,
): { status: AmplifyStatus } | { refused: string } {
  const { from, to } = STEPS[move];
  if (by !== asked) return { refused: 'Waiting for the other side' };
  if (status !== from) return { refused: `Amplification is ${status}` };
  return { status: to };
}
