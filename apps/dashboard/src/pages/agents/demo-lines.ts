export interface Line {
  mine: boolean;
  text: string;
  model?: string;
}

/** What the demo is told of before: what the visitor said. */
export const saidBefore = (lines: readonly Line[]) =>
  lines.filter(({ mine }) => mine).map(({ text }) => ({ role: 'user' as const, content: text }));
