import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { hostname, platform } from 'node:os';
import { Problem } from '../problem.mjs';

/** Signing in where one is signed in already: the browser asks its person, and a program on this machine gets the answer. */

const WAIT_MS = 10 * 60_000;

/**
 * An API key, made for this computer.
 * @param {string} url
 * @param {AbortSignal} signal
 * @returns {Promise<string>}
 */
export async function keyByBrowser(url, signal) {
  const { issuer, authorization_endpoint: page } = await asked(`${url}/.well-known/oauth-authorization-server`, {
    signal,
  });
  const door = createServer();
  await new Promise((resolve, reject) => {
    door.once('error', reject);
    door.listen(0, '127.0.0.1', () => resolve(undefined));
  });
  try {
    const { port } = /** @type {import('node:net').AddressInfo} */ (door.address());
    const redirect = `http://127.0.0.1:${port}/callback`;
    const { client_id: client } = await asked(`${url}/oauth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ client_name: `troupe on ${hostname()}`, redirect_uris: [redirect] }),
      signal,
    });
    const [verifier, state] = [randomBytes(32).toString('base64url'), randomBytes(16).toString('base64url')];
    const question = URL.canParse(page) ? new URL(page) : null;
    // It is opened: anything else than a page would be run by whichever program is meant for it.
    if (question === null || !/^https?:$/.test(question.protocol))
      throw new Problem('The platform names no page to ask at');
    question.search = new URLSearchParams({
      client_id: client,
      redirect_uri: redirect,
      response_type: 'code',
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
      scope: 'account',
      state,
    }).toString();
    const answer = answered(door, { state, issuer }, signal);
    show(question.href);
    const form = new URLSearchParams({
      grant_type: 'authorization_code',
      code: await answer,
      client_id: client,
      redirect_uri: redirect,
      code_verifier: verifier,
    });
    const { access_token: key } = await asked(`${url}/oauth/token`, { method: 'POST', body: form, signal });
    return key;
  } finally {
    door.close();
    door.closeAllConnections();
  }
}

/**
 * @param {string} url
 * @param {RequestInit} init
 * @returns {Promise<any>}
 */
async function asked(url, init) {
  const response = await fetch(url, init);
  const body = /** @type {any} */ (await response.json().catch(() => ({})));
  if (!response.ok) throw new Problem(body.error_description ?? body.error ?? `${url} answered ${response.status}`);
  return body;
}

/**
 * The code that the browser comes back with. Whatever else knocks is told nothing.
 * @param {import('node:http').Server} door
 * @param {{ state: string, issuer: string }} expected
 * @param {AbortSignal} signal
 * @returns {Promise<string>}
 */
function answered(door, { state, issuer }, signal) {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Problem('Nobody answered in the browser')), WAIT_MS);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    door.on('request', (request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1');
      if (pathname !== '/callback' || searchParams.get('state') !== state || searchParams.get('iss') !== issuer)
        return void response.writeHead(404).end();
      clearTimeout(late);
      const code = searchParams.get('code');
      const words = code
        ? 'You are signed in. This window can be closed.'
        : 'Not signed in. This window can be closed.';
      response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' }).end(words);
      if (code) resolve(code);
      else reject(new Problem('You did not let this computer in'));
    });
  });
}

/**
 * What opens a page. No shell of any kind: the address is the platform's, and `&` in it would begin a command.
 * @param {string} system
 * @returns {[program: string, ...args: string[]]}
 */
export const openerOf = (system) =>
  system === 'darwin' ? ['open'] : system === 'win32' ? ['rundll32', 'url.dll,FileProtocolHandler'] : ['xdg-open'];

/** @param {string} page */
function show(page) {
  process.stderr.write(`Agree in the browser: ${page}\n`);
  if (!process.stderr.isTTY) return;
  const [program, ...args] = openerOf(platform());
  const opened = spawn(program, [...args, page], { stdio: 'ignore', detached: true });
  // There may be none here: the address is printed.
  opened.on('error', () => undefined);
  opened.unref();
}
