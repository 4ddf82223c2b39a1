import { createInterface } from 'node:readline';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { createTroupe } from '@troupe/client';
import { forgetAccount, writeAccount } from '../config.mjs';
import { EXIT, Problem, usage } from '../problem.mjs';
import { keyByBrowser } from './browser.mjs';

/** @typedef {import('../context.d.mts').Context} Context */

const DEFAULT_URL = 'http://127.0.0.1:3000';
const ASK_EVERY_MS = 1000;

/** @param {unknown} given */
function address(given) {
  const url = URL.canParse(String(given)) ? new URL(String(given)) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) throw usage(`${String(given)} is no address of a platform.`);
  return url.href.replace(/\/+$/, '');
}

/** @param {Context} context */
export async function login({ options, output, file, signal }) {
  const url = address(options['url'] ?? DEFAULT_URL);
  const key = await keyFor(url, options, signal);
  if (key === '') throw usage('An API key is needed.');
  const about = await createTroupe({ url }).call('POST /api/keys/validate', { body: { apiKey: key }, signal });
  await writeAccount(file, { url, key });
  output.show({ url, email: about.email, plan: about.plan }, () =>
    output.line(`Signed in to ${url} as ${about.email}`),
  );
}

/**
 * @param {string} url
 * @param {Context['options']} options
 * @param {AbortSignal} signal
 */
async function keyFor(url, options, signal) {
  if (options['browser'] === true) return keyByBrowser(url, signal);
  const given = (typeof options['key'] === 'string' ? options['key'] : await askKey(signal)).trim();
  return given === '' && process.stdin.isTTY ? keyByBrowser(url, signal) : given;
}

/**
 * The first line of what is piped in, or what is typed.
 * @param {AbortSignal} signal
 */
async function askKey(signal) {
  const { stdin, stderr } = process;
  if (stdin.isTTY) stderr.write('Press Enter to sign in with the browser, or give an API key (it is not shown): ');
  const key = await (stdin.isTTY ? typed(signal) : firstLine());
  if (stdin.isTTY) stderr.write('\n');
  return key;
}

async function firstLine() {
  for await (const line of createInterface({ input: process.stdin })) return line;
  return '';
}

/**
 * Key by key, so that the terminal does not show them.
 * @param {AbortSignal} signal
 * @returns {Promise<string>}
 */
async function typed(signal) {
  const { stdin } = process;
  stdin.setRawMode(true);
  try {
    let text = '';
    for await (const part of stdin.setEncoding('utf8')) {
      for (const key of String(part)) {
        if (key === '\r' || key === '\n') return text;
        // Ctrl-C and Ctrl-D do not end the program by themselves here.
        if (key === '\u0003' || key === '\u0004' || signal.aborted) throw new Problem('Given up', 130);
        text = key === '\u007f' || key === '\b' ? text.slice(0, -1) : text + key;
      }
    }
    return text;
  } finally {
    stdin.setRawMode(false);
    stdin.pause();
  }
}

/** @param {Context} context */
export async function logout({ output, file }) {
  await forgetAccount(file);
  output.show({ success: true }, () => output.line('Signed out'));
}

/** @param {Context} context */
export async function whoami({ account, output, signal }) {
  const { url, key, device } = await account();
  if (key === undefined && device) {
    const { agentUrl } = device;
    return output.show({ url, agentUrl }, () => output.line(`A paired device of ${agentUrl}`));
  }
  if (key === undefined) throw new Problem('Not signed in: use troupe login', EXIT.signedOut);
  const about = await createTroupe({ url }).call('POST /api/keys/validate', { body: { apiKey: key }, signal });
  output.show({ url, email: about.email, plan: about.plan, userId: about.userId }, () =>
    output.line(`${about.email} (${about.plan ?? 'no plan'}) at ${url}`),
  );
}

/**
 * Asks to be a device of one agent, and waits until its owner has decided.
 * @param {Context} context
 */
export async function pair({ options, output, file, signal }) {
  const url = address(options['url'] ?? DEFAULT_URL);
  const { token } = options;
  if (options['agent-url'] === undefined || typeof token !== 'string')
    throw usage('troupe pair needs --agent-url and --token, both from the agent’s Manage page.');
  const agentUrl = address(options['agent-url']);
  const name = `troupe on ${hostname()}`.slice(0, 64);
  const asking = createTroupe({ url, key: token });
  const { deviceId, deviceSecret } = await asking.call('POST /api/devices/pair', { body: { name }, signal });
  if (!output.json) output.line('Waiting for the agent’s owner to approve this device…');
  const waiting = createTroupe({ url, key: deviceSecret });
  for (;;) {
    const input = { params: { deviceId }, signal };
    const { status, token: own } = await waiting.call('GET /api/devices/pair/:deviceId', input);
    if (status === 'approved' && own) {
      await writeAccount(file, { url, device: { agentUrl, token: own } });
      return output.show({ url, agentUrl, deviceId, status }, () => output.line(`Paired with ${agentUrl}`));
    }
    if (status !== 'pending') throw new Problem(`The owner has ${status} this device`);
    await delay(ASK_EVERY_MS, undefined, { signal });
  }
}
