import { spawn } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');

const SIGNALS = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);

/**
 * @typedef {object} RunOptions
 * @property {NodeJS.ProcessEnv} [env]
 * @property {string} [cwd]
 * @property {boolean} [quiet] keep the output and hand it back instead of showing it
 *
 * Runs a command to its end, hands our signals on to it, and never leaves it behind.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {RunOptions} [options]
 * @returns {Promise<{ code: number, output: string, interrupted: boolean }>} interrupted: we were asked to end
 */
export function run(command, args, { env = process.env, cwd = ROOT, quiet = false } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env, stdio: quiet ? ['ignore', 'pipe', 'pipe'] : 'inherit' });
    let output = '';
    let interrupted = false;
    child.stdout?.on('data', (chunk) => (output += chunk));
    child.stderr?.on('data', (chunk) => (output += chunk));
    /** @param {NodeJS.Signals} signal */
    const forward = (signal) => {
      interrupted = true;
      child.kill(signal);
    };
    for (const signal of SIGNALS) process.on(signal, forward);
    const release = () => SIGNALS.forEach((signal) => process.off(signal, forward));
    child.on('error', (error) => {
      release();
      reject(error);
    });
    child.on('close', (code, signal) => {
      release();
      // 128 + number is what a shell says of a process that a signal ended
      resolve({ code: code ?? (signal === 'SIGINT' ? 130 : 143), output, interrupted });
    });
  });
}
