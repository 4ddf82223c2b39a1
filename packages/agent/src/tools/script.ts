import type { ScriptTool } from '@troupe/domain';
import type { RunCommand } from './shell.ts';
import { failed, type Tool } from './tool.ts';

/** Commands that the agent's definition gives a name: the model chooses their arguments, never the command. */

const SECONDS = 120;
const MAX_ARGUMENT = 100_000;

export const scriptTools = (scripts: Readonly<Record<string, ScriptTool>>, run: RunCommand): Tool[] =>
  Object.entries(scripts).map(([name, { cmd, description, args = {}, required = [], env = {}, working_dir: cwd }]) => ({
    name,
    toolset: 'script',
    description: description ?? `Runs: ${cmd}`.slice(0, 1000),
    parameters: {
      type: 'object',
      properties: Object.fromEntries(Object.entries(args).map(([key, about]) => [key, { type: 'string', ...about }])),
      required,
    },
    repeatable: false,
    async run(given, context) {
      const values = argumentsFor(given, args, required);
      if (typeof values === 'string') return failed(values);
      return run({ cmd, cwd, env: { ...env, ...values }, seconds: SECONDS }, context);
    },
  }));

/** Arguments reach the command as variables, so that none of them is read as a part of it. */
export function argumentsFor(
  given: unknown,
  args: Readonly<Record<string, unknown>>,
  required: readonly string[],
): Record<string, string> | string {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return 'Invalid arguments: give an object.';
  const values: Record<string, string> = {};
  for (const [key, value] of Object.entries(given)) {
    if (!Object.hasOwn(args, key)) return `Invalid arguments. There is no argument ${key.slice(0, 100)}.`;
    if (value === null || value === undefined) continue;
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    if (text.length > MAX_ARGUMENT || text.includes('\0')) return `Invalid arguments. ${key} is too long.`;
    values[key] = text;
  }
  const missing = required.find((key) => values[key] === undefined);
  return missing === undefined ? values : `Invalid arguments. ${missing} is required.`;
}
