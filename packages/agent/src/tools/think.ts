import { z } from 'zod';
import { tool, type Tool } from './tool.ts';

const ARGS = {
  think: z.object({ thought: z.string().min(1) }),
};

export const thinkTools = (): Tool[] => [
  tool({
    name: 'think',
    toolset: 'think',
    description: 'Write down a thought before acting. Nothing happens by it.',
    args: ARGS.think,
    repeatable: true,
    run: async () => 'Noted.',
  }),
];
