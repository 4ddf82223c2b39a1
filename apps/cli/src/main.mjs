#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { createTroupe } from '@troupe/client';
import { agents } from './commands/agents.mjs';
import { chat } from './commands/chat.mjs';
import { evaluate } from './commands/eval.mjs';
import { exporting } from './commands/export.mjs';
import { files } from './commands/files.mjs';
import { importing } from './commands/import.mjs';
import { login, logout, pair, whoami } from './commands/session.mjs';
import { tasks } from './commands/tasks.mjs';
import { logs, usageOf } from './commands/usage.mjs';
import { configFile, readAccount } from './config.mjs';
import { HELP } from './help.mjs';
import { clean, createOutput } from './output.mjs';
import { EXIT, Problem, problemOf, usage } from './problem.mjs';

/** @typedef {import('./context.d.mts').Context} Context */

/** @type {Record<string, (context: Context) => Promise<void>>} */
const COMMANDS = {
  login,
  logout,
  pair,
  whoami,
  agents,
  chat,
  logs,
  tasks,
  files,
  eval: evaluate,
  usage: usageOf,
  export: exporting,
  import: importing,
};

const text = /** @type {const} */ ({ type: 'string' });
const flag = /** @type {const} */ ({ type: 'boolean' });
const OPTIONS = {
  url: text,
  key: text,
  browser: flag,
  json: flag,
  help: { ...flag, short: 'h' },
  version: flag,
  yes: flag,
  yaml: flag,
  model: text,
  instructions: text,
  topic: text,
  agent: text,
  name: text,
  cron: text,
  prompt: text,
  timezone: text,
  days: text,
  by: text,
  output: { ...text, short: 'o' },
  path: text,
  plan: text,
  'max-cost': text,
  'agent-url': text,
  token: text,
};

/**
 * @param {string[]} args
 * @param {AbortSignal} signal
 */
async function run(args, signal) {
  const { values, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true });
  const output = createOutput(process.stdout, values.json === true);
  const [name, ...words] = positionals;
  if (values.version) return void process.stdout.write(`${version()}\n`);
  if (values.help || name === undefined || name === 'help') {
    process.stdout.write(HELP);
    if (!values.help && name === undefined) throw new Problem('Which command?', EXIT.usage);
    return;
  }
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined) throw usage(`There is no command ${name}.`);
  const { env } = process;
  const { url = env['TROUPE_URL'] || undefined, key = env['TROUPE_KEY'] || undefined } = values;
  const file = configFile(env);
  const account = async () => {
    const kept = (await readAccount(file)) ?? undefined;
    const found = { ...(kept ?? { url: '' }), ...(url && { url }), ...(key && { key }) };
    if (!found.url) throw new Problem('Not signed in: use troupe login', EXIT.signedOut);
    // A kept key belongs to the platform that it was kept for.
    if (url && kept && url !== kept.url && !key) return { url };
    return found;
  };
  const troupe = async () => {
    const { url, key, device } = await account();
    if (key === undefined && device !== undefined)
      throw new Problem(
        'A paired device talks to its agent only (troupe chat); sign in with a key for the rest',
        EXIT.signedOut,
      );
    if (key === undefined) throw new Problem('Not signed in: use troupe login', EXIT.signedOut);
    return createTroupe({ url, key });
  };
  await command({ words, options: { ...values, url, key }, output, file, account, troupe, signal });
}

function version() {
  const about = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  return about.version;
}

const interrupted = new AbortController();
process.once('SIGINT', () => interrupted.abort());
// A reader that has enough (troupe agents | head) is no error of ours.
process.stdout.on('error', (/** @type {NodeJS.ErrnoException} */ error) =>
  process.exit(error.code === 'EPIPE' ? 0 : 1),
);
try {
  await run(process.argv.slice(2), interrupted.signal);
} catch (error) {
  if (interrupted.signal.aborted) process.exitCode = 130;
  else {
    const problem = problemOf(error);
    // Whatever was answered may be in it.
    const told = problem === null ? (error instanceof Error ? error.stack : error) : `troupe: ${problem.message}`;
    process.stderr.write(`${clean(told)}\n`);
    process.exitCode = problem?.code ?? EXIT.failed;
  }
}
