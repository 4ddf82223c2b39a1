import path from 'node:path';
import { run } from './run.mjs';
import { Stop } from './step.mjs';

// nothing that we install needs its install script, and some of them would compile for minutes
const OPTIONS = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-progress', '--loglevel=error'];

/**
 * Runs npm under the given Node, so that what npm picks (optional binaries, install scripts) fits that Node.
 * @param {string} node
 * @param {readonly string[]} args
 */
export async function npm(node, args) {
  const cli = process.env['npm_execpath'];
  const env = { ...process.env, PATH: [path.dirname(node), process.env['PATH']].join(path.delimiter) };
  const [command, first] = cli?.endsWith('npm-cli.js') ? [node, [cli]] : ['npm', []];
  const { code, output, interrupted } = await run(command, [...first, ...args, ...OPTIONS], { env, quiet: true }).catch(
    (error) => {
      throw new Stop(`npm could not be started (${error.message}): install npm and start again.`);
    },
  );
  if (code === 0) return;
  if (interrupted) process.exit(1);
  throw new Stop(`${reason(output)}\n\n${output.trim().split('\n').slice(-15).join('\n')}`);
}

/** @param {string} output */
function reason(output) {
  if (/ENOSPC/.test(output)) return 'The disk is full: free some space and start again.';
  if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ECONNRESET/.test(output))
    return 'The npm registry cannot be reached: check the network and start again.';
  if (/EACCES|EPERM|EROFS/.test(output))
    return 'The project folder cannot be written: check its owner and start again.';
  return 'npm failed; this is what it said:';
}
