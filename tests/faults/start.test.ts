import assert from 'node:assert/strict';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { testRuntime } from '@troupe/testing/database/runtime';
import { isAlive, ownSettings, processTree, startProgram } from '@troupe/testing/processes/program';

/** What `npm start` promises about starting and ending, on real processes. */

async function own(t: TestContext) {
  const settings = await ownSettings();
  t.after(settings.remove);
  return settings;
}

function start(t: TestContext, env: Record<string, string>) {
  const program = startProgram(env);
  t.after(async () => {
    program.kill('SIGKILL');
    await program.exit;
  });
  return program;
}

async function gone(pids: readonly number[]): Promise<number[]> {
  for (let tries = 0; tries < 100 && pids.some(isAlive); tries += 1) await delay(50);
  return pids.filter(isAlive);
}

const health = async (env: Record<string, string>): Promise<string> => {
  const answer = await fetch(`http://127.0.0.1:${env['WEB_PORT']}/api/health`);
  return ((await answer.json()) as { health: string }).health;
};

/** One sentence, no stack, exit code 1. */
async function refused(program: ReturnType<typeof startProgram>, sentence: RegExp): Promise<void> {
  const { code } = await program.exit;
  const said = program
    .output()
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('{'));
  const sentences = said.filter((line) => !/^ {2}\S.* … [\d.]+ s$/.test(line));
  assert.equal(code, 1, program.output());
  assert.equal(sentences.length, 1, program.output());
  assert.match(sentences[0] ?? '', sentence);
}

describe('ending', () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    test(`${signal} ends everything, the database included, with 0`, async (t) => {
      const { env } = await own(t);
      const program = start(t, env);
      await program.ready;
      // Its own calls have a bound in time, which a machine that is busy with other tests may pass.
      while ((await health(env)) !== 'healthy') await delay(200);
      const pids = processTree(program.pid);
      assert.ok(pids.length > 3, 'the database has processes of its own');
      const asked = performance.now();
      // a terminal and npm both pass the signal on
      program.kill(signal);
      program.kill(signal);
      assert.deepEqual(await program.exit, { code: 0, signal: null }, program.output());
      assert.ok(performance.now() - asked < 10_000);
      assert.deepEqual(await gone(pids), []);
    });
  }

  test('a signal while it starts ends it too', async (t) => {
    const { env } = await own(t);
    const program = start(t, env);
    // Its first process of its own is the database, which is what a start waits for longest.
    while (processTree(program.pid).length < 2) await delay(5);
    const pids = processTree(program.pid);
    assert.doesNotMatch(program.output(), /Ctrl-C stops everything/, 'it is not there yet');
    program.kill('SIGTERM');
    await program.exit;
    assert.deepEqual(await gone(pids), []);
  });

  test('after kill -9 nothing is left running, and the next start works on the same data', async (t) => {
    const { env, dataDir } = await own(t);
    const first = start(t, env);
    await first.ready;
    const secrets = await readFile(path.join(dataDir, 'secrets.json'), 'utf8');
    const pids = processTree(first.pid);
    first.kill('SIGKILL');
    await first.exit;
    const second = start(t, env);
    await second.ready;
    assert.deepEqual(await gone(pids), []);
    assert.equal(await health(env), 'healthy');
    assert.equal(await readFile(path.join(dataDir, 'secrets.json'), 'utf8'), secrets);
  });
});

describe('what cannot start says why, and leaves nothing behind', () => {
  test('a port in use', async (t) => {
    const { env, dataDir } = await own(t);
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(Number(env['WEB_PORT']), '127.0.0.1', resolve));
    const program = start(t, env);
    await refused(program, /^Port \d+ on 127\.0\.0\.1 is in use: .*WEB_PORT/);
    await new Promise((resolve) => taken.close(resolve));
    const again = start(t, { ...env, DATA_DIR: dataDir });
    await again.ready;
  });

  test('a second start on the same data folder, and the first goes on', async (t) => {
    const { env } = await own(t);
    const first = start(t, env);
    await first.ready;
    const other = await own(t);
    await refused(start(t, { ...other.env, DATA_DIR: env['DATA_DIR'] ?? '' }), /already runs on .* DATA_DIR/);
    assert.equal(await health(env), 'healthy');
  });

  test('a damaged database folder is left as it is', async (t) => {
    const { env, dataDir } = await own(t);
    const first = start(t, env);
    await first.ready;
    first.kill('SIGTERM');
    await first.exit;
    await rm(path.join(dataDir, 'postgres/global/pg_control'));
    await refused(start(t, env), /is damaged .*restore it from a backup/);
    await rm(path.join(dataDir, 'postgres/PG_VERSION'));
    await refused(start(t, env), /is damaged .*restore it from a backup/);
    assert.ok(await readFile(path.join(dataDir, 'postgres/postgresql.conf')));
  });

  test('damaged secrets are never replaced', async (t) => {
    const { env, dataDir } = await own(t);
    await writeFile(path.join(dataDir, 'secrets.json'), '{ half');
    await refused(start(t, env), /secrets\.json is damaged: restore it/);
    assert.equal(await readFile(path.join(dataDir, 'secrets.json'), 'utf8'), '{ half');
  });

  test('a database that a newer version has changed is left as it is', async (t) => {
    const runtime = await testRuntime();
    const client = new pg.Client({ connectionString: runtime.databaseUrl });
    await client.connect();
    t.after(async () => {
      await client.end();
      await runtime.close();
    });
    await client.query("insert into schema_migrations (version, name, checksum) values (9001, '9001_future', 'x')");
    const { env } = await own(t);
    await refused(
      start(t, { ...env, DATABASE_URL: runtime.databaseUrl }),
      /The database has the migration 9001_future, which this version of Troupe does not know: start the newer version/,
    );
    assert.deepEqual((await client.query('select from users')).rows, []);
  });

  test('a data folder that cannot be made', async (t) => {
    const { env, dataDir } = await own(t);
    await writeFile(path.join(dataDir, 'file'), '');
    await refused(start(t, { ...env, DATA_DIR: path.join(dataDir, 'file/below') }), /set another DATA_DIR/);
  });

  test('settings that do not parse, all at once', async (t) => {
    const { env } = await own(t);
    const program = start(t, { ...env, TRUST_PROXY: 'yes', AGENT_DRIVER: 'vm' });
    assert.equal((await program.exit).code, 1);
    assert.match(
      program.output(),
      /^TRUST_PROXY is "yes", expected a whole number from 0 to 16\nAGENT_DRIVER is "vm", expected one of/,
    );
  });

  test('production without its secrets names them', async (t) => {
    const { env } = await own(t);
    await refused(
      start(t, { ...env, NODE_ENV: 'production' }),
      /INTERNAL_API_KEY, SESSION_SECRET, WALLET_ENCRYPTION_KEY/,
    );
  });
});
