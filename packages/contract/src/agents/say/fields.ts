import { z } from 'zod';

/** How long somebody waits for an agent that is only tried, and what it may spend meanwhile. */
export const TRIED_SECONDS = 120;
export const TRIED_USD = 0.5;

/** What came of it: nothing else is left of an agent that was only tried. */
export const triedOnce = z.object({
  answer: z.string(),
  reason: z.string().nullable().describe('Why there is no answer, or none to its end'),
  calls: z
    .array(
      z.object({
        tool: z.string(),
        args: z.string().describe('As the model wrote them, their beginning'),
        isError: z.boolean(),
        isRun: z.boolean().describe('False: it would act outside, so it was not run'),
      }),
    )
    .describe('The first 50'),
  tokens: z.number(),
  costUsd: z.number(),
  seconds: z.number(),
});
