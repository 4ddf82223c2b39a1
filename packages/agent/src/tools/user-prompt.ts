import { z } from 'zod';
import type { Question } from '../session/events.ts';
import { tool, type Tool } from './tool.ts';

/** A question to the person whose agent it is. It waits as an approval does, and is answered with words. */

const ARGS = z.object({
  message: z.string().trim().min(1).max(4000).describe('The question'),
  title: z.string().trim().max(200).optional(),
  options: z.array(z.string().trim().min(1).max(200)).max(10).optional().describe('Answers to choose from, if any'),
});

/** What is asked; undefined: the arguments are none of a question. */
function questionOf(args: unknown): Question | undefined {
  const { data } = ARGS.safeParse(args);
  if (!data) return undefined;
  const { message, title, options } = data;
  return { message, ...(title && { title }), ...(options && options.length > 0 && { options }) };
}

export const userPromptTools = (): Tool[] => [
  {
    ...tool({
      name: 'user_prompt',
      toolset: 'user_prompt',
      description: 'Ask your owner a question and wait for the answer, which may take long. Ask only what you need.',
      args: ARGS,
      repeatable: true,
      run: async (_, { answer = '' }) => (answer === '' ? 'They agreed, without words.' : answer),
    }),
    asks: questionOf,
  },
];
