import { mkdirSync, readdirSync, readFileSync, watch } from 'node:fs';
import { join } from 'node:path';
import { testRuntime } from '../database/runtime.ts';
import { randomHex, type Env } from '@troupe/kernel';
import { createWeb, type WebDeps } from '@troupe/web';
import { quickPasswords } from './passwords.ts';

/** What a service answered, read. */
export interface Reply {
  status: number;
  // Tests look into bodies of any shape.
  // oxlint-disable-next-line typescript/no-explicit-any -- each test says what it reads of an answer
  body: any;
  headers: Headers;
}

export interface Visitor {
  ask: (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Reply>;
  /** The session token in the cookie, as a browser would send it. */
  token: () => string | undefined;
}

export interface Person extends Visitor {
  id: string;
  email: string;
  password: string;
}

export type TestWeb = Awaited<ReturnType<typeof startWeb>>;

/** A whole web service that listens, on an empty database of its own, and people who use it. */
export async function startWeb({ env, ...given }: Partial<WebDeps> & { env?: Env } = {}) {
  const runtime = await testRuntime(env);
  const deps: WebDeps = {
    ...runtime,
    url: 'http://127.0.0.1:3000',
    backendUrl: 'http://127.0.0.1:9',
    version: '0.0.0-test',
    passwords: quickPasswords(),
    ...given,
  };
  const web = await createWeb(deps);
  await deps.jobs.start();
  const address = await web.server.listen(0, 'WEB_PORT');
  const outbox = join(runtime.dataDir, 'outbox');
  mkdirSync(outbox);

  async function signUp(given: Record<string, unknown> = {}): Promise<Person> {
    const guest = createVisitor(address);
    const account = { email: `${randomHex(8)}@example.com`, password: 'correct horse', ...given };
    const registered = await guest.ask('POST', '/api/register', account);
    if (registered.status !== 200) throw new Error(JSON.stringify(registered.body));
    await guest.ask('POST', '/api/auth/login', account);
    return { ...guest, ...account, id: registered.body.id as string };
  }

  return {
    address,
    deps,
    visitor: () => createVisitor(address),
    signUp,
    async signUpAdmin(): Promise<Person> {
      const person = await signUp();
      await deps.db.system.updateTable('users').set({ is_admin: true }).where('id', '=', person.id).execute();
      return person;
    },
    mailTo: (to: string, about: RegExp) => mailTo(outbox, to, about),
    mails: () => readMails(outbox),
    async stop() {
      await web.close();
      await runtime.close();
    },
  };
}

function createVisitor(address: string): Visitor {
  const jar = new Map<string, string>();
  return {
    token: () => jar.get('svc-session'),
    async ask(method, path, body, headers = {}) {
      const response = await fetch(address + path, {
        method,
        redirect: 'manual',
        headers: {
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(jar.size > 0 ? { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') } : {}),
          ...headers,
        },
        body: body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body),
      });
      for (const set of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
        if (value === '') jar.delete(name);
        else jar.set(name, value);
      }
      const text = await response.text();
      return {
        status: response.status,
        headers: response.headers,
        body: text.startsWith('{') ? JSON.parse(text) : text,
      };
    },
  };
}

const readMails = (outbox: string): string[] =>
  readdirSync(outbox)
    .sort()
    // A long line is folded with a trailing `=`; in quoted-printable `=` itself is `=3D`.
    .map((file) => readFileSync(join(outbox, file), 'utf8').replaceAll('=\r\n', '').replaceAll('=3D', '='));

/** The newest mail to that address about that; waits for it. */
function mailTo(outbox: string, to: string, about: RegExp): Promise<string> {
  const find = () => readMails(outbox).findLast((mail) => mail.includes(`To: ${to}`) && about.test(mail));
  return new Promise((resolve, reject) => {
    const watcher = watch(outbox, look);
    const late = setTimeout(() => finish(() => reject(new Error(`no mail to ${to} about ${about}`))), 10_000);
    function finish(then: () => void): void {
      clearTimeout(late);
      watcher.close();
      then();
    }
    function look(): void {
      const mail = find();
      if (mail) finish(() => resolve(mail));
    }
    look();
  });
}

/** The token of the link in a mail. */
export const tokenIn = (mail: string): string => /token=([0-9a-f]{64})/.exec(mail)?.[1] ?? '';
