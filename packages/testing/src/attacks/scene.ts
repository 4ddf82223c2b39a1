import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { startBystander, type Slowest } from './bystander.ts';
import { testDatabase, type TestDatabase } from '../database/server.ts';
import { TEST_SECRETS } from '../http/server.ts';
import { createDirector, steps, type Director, type Step } from '../services/director.ts';
import { cookieOf, elsewhere, send, type Reply } from '../services/people.ts';
import { ownSettings, startProgram, type Program } from '../processes/program.ts';
import { addUser, type TestUser } from '../services/users.ts';

/** The whole product in a process of its own, somebody who attacks it, and somebody else who only wants to work. */
export interface Scene {
  web: string;
  backend: string;
  summarizer: string;
  dataDir: string;
  database: TestDatabase;
  director: Director;
  program: Program;
  attacker: Actor;
  bystander: Actor;
  /** Somebody else. */
  person: (given?: Parameters<typeof addUser>[1]) => Promise<Actor>;
  /**
   * Asks for health and chats as the bystander, again and again and in a thread of its own, until the attack has ended;
   * the slowest of each in milliseconds. Fails when one of them is refused.
   */
  during: (attack: () => Promise<unknown>) => Promise<Slowest>;
  /**
   * Fails unless everybody else was answered while the attack ran, within half a second or, on a machine that is busy
   * with something else, six times what it took just before; and unless the process is still the same.
   */
  unharmed: (attack: () => Promise<unknown>) => Promise<void>;
  /** Megabytes that the process takes. */
  memory: () => number;
  stop: () => Promise<void>;
}

interface Actor extends TestUser {
  /** An agent of this person. */
  agentId: string;
  cookie: string;
  /** Through web, with the session's cookie, from an address of its own each time: limits have their own tests. */
  ask: (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Reply>;
  /** Through the backend, as web would ask for this user. */
  askBackend: (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Reply>;
  /** The key of the own agent. */
  token: () => Promise<string>;
  /** Tells the own agent, which does what a script says. */
  chat: (...script: Step[]) => Promise<Reply>;
}

const BOUND_MS = 500;
const QUIET_MS = 500;
/** Two looks of a service that has nothing to do (packages/kernel/src/memory.ts). */
const REST_MS = 2_200;
const WARM_UP = 5;
/** Than on the same machine just before. Beside other tests the bound is what it is: whoever fails there is tried again. */
const SLOWER = process.env['TROUPE_BESIDE'] === '1' ? 0 : 6;

type Env = Record<string, string>;

export async function startScene(env: Env | ((database: TestDatabase) => Promise<Env>) = {}): Promise<Scene> {
  const database = await testDatabase();
  const director = await createDirector();
  const somebody = await startBystander(director.provider.url);
  const own = await ownSettings();
  const program = startProgram({
    ...own.env,
    DATABASE_URL: database.url,
    OPENROUTER_API_KEY: 'test-provider-key-0123456789',
    OPENROUTER_BASE_URL: somebody.provider,
    INTERNAL_API_KEY: TEST_SECRETS.internalKey,
    SESSION_SECRET: TEST_SECRETS.sessionSecret,
    LOG_LEVEL: 'error',
    ...(typeof env === 'function' ? await env(database) : env),
  });
  await program.ready;
  const web = `http://127.0.0.1:${own.env['WEB_PORT']}`;
  const backend = `http://127.0.0.1:${own.env['BACKEND_PORT']}`;
  const summarizer = `http://127.0.0.1:${own.env['SUMMARIZER_PORT']}`;

  async function person(given: Parameters<typeof addUser>[1] = {}): Promise<Actor> {
    const user = await addUser(database, { plan: 'network', ...given });
    const cookie = await cookieOf(database.db, user);
    const internal = () => ({ authorization: `Bearer ${TEST_SECRETS.internalKey}`, 'x-client-ip': elsewhere() });
    const ask: Actor['ask'] = (method, path, body, headers = {}) =>
      send(web + path, method, body, { cookie, ...internal(), ...headers });
    const made = await ask('POST', '/api/agents/provision', { name: 'Ada' });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const agentId = made.body.agent.id as string;
    return {
      ...user,
      agentId,
      cookie,
      ask,
      askBackend: (method, path, body, headers = {}) =>
        send(backend + path, method, body, {
          ...internal(),
          'x-user-id': user.id,
          'x-user-email': user.email,
          ...headers,
        }),
      token: async () => (await ask('GET', `/api/agents/${agentId}/token`)).body.token as string,
      chat: (...script) => ask('POST', '/api/chat', { agentId, message: steps(...script) }),
    };
  }

  const attacker = await person();
  const bystander = await person();
  // What loading left is given back, which takes a moment that is not the attack's; and then whatever is loaded at first use is loaded.
  await delay(REST_MS);
  for (let times = 0; times < WARM_UP; times += 1) await bystander.chat({ say: 'ready' });

  const during: Scene['during'] = (attack) => {
    const headers = { cookie: bystander.cookie, authorization: `Bearer ${TEST_SECRETS.internalKey}` };
    return somebody.during({ web, agentId: bystander.agentId, headers }, attack);
  };

  return {
    web,
    backend,
    summarizer,
    dataDir: own.dataDir,
    database,
    director,
    program,
    attacker,
    bystander,
    person,
    during,
    async unharmed(attack) {
      // Other tests may use the machine at the same time: what is slow without the attack is not its doing.
      const quiet = await during(() => delay(QUIET_MS));
      const { health, chat } = await during(attack);
      const bound = Math.max(BOUND_MS, SLOWER * Math.max(quiet.health, quiet.chat));
      const ended = await Promise.race([program.exit, delay(10)]);
      assert.equal(ended, undefined, `the process ended:\n${program.output()}`);
      const tell = (during: number, before: number): string =>
        `took ${Math.round(during)} ms during the attack, and ${Math.round(before)} before`;
      assert.ok(health < bound, `health ${tell(health, quiet.health)}`);
      assert.ok(chat < bound, `another user's chat ${tell(chat, quiet.chat)}`);
    },
    memory: () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${program.pid}/status`, 'utf8'))?.[1]) / 1024,
    async stop() {
      program.kill('SIGTERM');
      await program.exit;
      await somebody.leave();
      await director.provider.close();
      await database.drop();
      await own.remove();
    },
  };
}
