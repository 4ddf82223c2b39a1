import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { testDatabase, type TestDatabase } from '@troupe/testing/database/server';
import { TEST_SECRETS } from '@troupe/testing/http/server';
import { ownSettings, startProgram, type Program } from '@troupe/testing/processes/program';
import { createDirector, steps, type Director } from '@troupe/testing/services/director';
import { cookieOf, elsewhere, send, type Body } from '@troupe/testing/services/people';
import { addUser } from '@troupe/testing/services/users';

/** A trial whose process is killed ends exactly once, is paid once, and leaves nothing behind. */

let database: TestDatabase;
let director: Director;
let own: Awaited<ReturnType<typeof ownSettings>>;
let program: Program;
let env: Record<string, string>;
before(async () => {
  database = await testDatabase();
  director = await createDirector();
  own = await ownSettings();
  env = {
    ...own.env,
    DATABASE_URL: database.url,
    OPENROUTER_API_KEY: 'test-provider-key-0123456789',
    OPENROUTER_BASE_URL: director.provider.url,
    INTERNAL_API_KEY: TEST_SECRETS.internalKey,
    SESSION_SECRET: TEST_SECRETS.sessionSecret,
    LOG_LEVEL: 'error',
  };
  program = startProgram(env);
  await program.ready;
});
after(async () => {
  program.kill('SIGTERM');
  await program.exit;
  await director.provider.close();
  await database.drop();
  await own.remove();
});

const rows = async () => ({
  agents: (await database.db.system.selectFrom('agents').select('id').execute()).length,
  sessions: (await database.db.system.selectFrom('agent_sessions').select('id').execute()).length,
});

test(
  'a case under trial is interrupted once; the others are tried; nothing of it stays',
  { timeout: 240_000 },
  async () => {
    const user = await addUser(database, { plan: 'network' });
    const cookie = await cookieOf(database.db, user);
    const web = `http://127.0.0.1:${own.env['WEB_PORT']}`;
    const ask = async (method: string, path: string, body?: unknown): Promise<Body> => {
      const internal = { authorization: `Bearer ${TEST_SECRETS.internalKey}`, 'x-client-ip': elsewhere() };
      const answer = await send(web + path, method, body, { cookie, ...internal });
      assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`);
      return answer.body;
    };
    const made = await ask('POST', '/api/agents/provision', { name: 'Ada', model: 'openai/gpt-4o-mini' });
    const cases = `/api/agents/${made.agent.id}/evaluation-cases`;
    const checks = [{ kind: 'contains', text: 'hello' }];
    const hangs = steps({ tool: 'write_file', args: { path: 'a', content: 'b' } }, { wait: 'gate', say: 'hello' });
    await ask('POST', cases, { name: 'hangs', input: hangs, checks });
    for (const name of ['second', 'third', 'fourth'])
      await ask('POST', cases, { name, input: steps({ say: `hello ${name}` }), checks });
    const atFirst = await rows();
    const { id } = await ask('POST', `/api/agents/${made.agent.id}/evaluations`, {});
    await director.waits('gate');
    program.kill('SIGKILL');
    await program.exit;
    program = startProgram(env);
    await program.ready;
    let found: Body;
    do {
      await delay(500);
      found = await ask('GET', `/api/agents/${made.agent.id}/evaluations/${id}`);
    } while (found.status === 'running');
    const states = found.results.map(({ name, status }: Body) => [name, status]);
    assert.equal(found.status, 'failed', JSON.stringify(states));
    assert.deepEqual(
      states.find(([name]: string[]) => name === 'hangs'),
      ['hangs', 'interrupted'],
    );
    // Each of the others has its end: one that was under trial as well was interrupted, none was asked twice.
    for (const [name, status] of states)
      assert.ok(
        name === 'hangs' || ['passed', 'interrupted'].includes(status),
        `${name}: ${JSON.stringify(found.results)}`,
      );
    const askedFor = (words: string): number => director.calls.filter(({ user: said }) => said.includes(words)).length;
    assert.equal(director.calls.filter(({ step }) => step === 'wait').length, 1);
    for (const name of ['second', 'third', 'fourth']) assert.ok(askedFor(`hello ${name}`) <= 1, name);
    assert.deepEqual(await rows(), atFirst);
    // The agent itself answers, and can be tried again.
    const chat = await ask('POST', '/api/chat', { agentId: made.agent.id, message: steps({ say: 'here' }) });
    assert.equal(chat.reply, 'here');
  },
);
