import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { send, type Reply } from '../services/people.ts';
import { startProgram } from '../processes/program.ts';

/** A whole platform, its owner, and the scripts that back it up and restore it. */

export const SCRIPTS = path.resolve(import.meta.dirname, '../../../../scripts');
const OWNER = 'owner@troupe.local';

export type Env = Record<string, string>;

/** What a script has of our environment: what was compiled once is not compiled again. */
export const scriptEnv = (): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
});

/** `npm run backup` or `npm run restore`. */
export function script(name: 'backup' | 'restore', file: string, env: Env): Promise<{ code: number; said: string }> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [path.join(SCRIPTS, `${name}.ts`), file],
      { env: { ...scriptEnv(), ...env } },
      (error, _, said) => resolve({ code: Number(error?.code ?? 0), said }),
    );
  });
}

export async function started(t: TestContext, env: Env) {
  const program = startProgram(env);
  t.after(async () => {
    program.kill('SIGKILL');
    await program.exit;
  });
  await program.ready;
  return {
    web: `http://127.0.0.1:${env['WEB_PORT']}`,
    password: /Password\s+(\S+)/.exec(program.output())?.[1] ?? '',
    async stop() {
      program.kill('SIGTERM');
      assert.equal((await program.exit).code, 0, program.output());
    },
  };
}
type Platform = Awaited<ReturnType<typeof started>>;

export async function signIn({ web }: Platform, password: string) {
  const answer = await fetch(`${web}/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: OWNER, password }),
  });
  assert.equal(answer.status, 200, await answer.text());
  const cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? '';
  return (method: string, at: string, body?: unknown) => send(web + at, method, body, { cookie });
}
export type Ask = Awaited<ReturnType<typeof signIn>>;

export const good = async (answer: Promise<Reply>): Promise<Reply['body']> => {
  const { status, body } = await answer;
  assert.ok(status < 300, `${status} ${JSON.stringify(body)}`);
  return body;
};
