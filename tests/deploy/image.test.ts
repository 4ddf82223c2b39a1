import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { dockerEngine } from '@troupe/fleet';
import { randomHex } from '@troupe/kernel';
import { buildImage, type Engine } from '@troupe/testing/containers/image';
import { needs } from '@troupe/testing/machine/needs';
import { send } from '@troupe/testing/services/people';
import { ownSettings } from '@troupe/testing/processes/program';

/** A minute alone; on a busy machine, copying layers takes its time. */
const BUILD_MS = 400_000;

/** The image of deploy/Dockerfile, run as deploy/compose.yaml runs it, on a database of its own. */
describe('the image', { skip: needs('docker', 'bubblewrap'), timeout: BUILD_MS }, () => {
  const image = `troupe-test-${randomHex(4)}`;
  let engine: Engine;
  let web: string;
  let container: ReturnType<Engine['getContainer']>;
  let password: string;

  before(
    async () => {
      engine = await dockerEngine(process.env['DOCKER_HOST']);
      await buildImage(engine, image);
      const { env, remove } = await ownSettings();
      await remove();
      web = `http://127.0.0.1:${env['WEB_PORT']}`;
      const { WEB_PORT, BACKEND_PORT, SUMMARIZER_PORT } = env;
      container = await engine.createContainer({
        name: image,
        Image: image,
        // the machine's network: not every engine has one of its own
        Env: Object.entries({ WEB_PORT, BACKEND_PORT, SUMMARIZER_PORT, HOST: '127.0.0.1' }).map((pair) =>
          pair.join('='),
        ),
        Healthcheck: { Interval: 1e9 },
        HostConfig: {
          NetworkMode: 'host',
          Mounts: [{ Type: 'volume', Source: image, Target: '/data' }],
          Init: true,
          ReadonlyRootfs: true,
          Tmpfs: { '/tmp': '' },
          CapDrop: ['ALL'],
          SecurityOpt: ['no-new-privileges:true'],
        },
      });
      await container.start();
      await healthy();
      password = /Password\s+(\S+)/.exec(await said())?.[1] ?? '';
    },
    { timeout: BUILD_MS },
  );
  after(async () => {
    await container.remove({ force: true });
    await engine.getVolume(image).remove();
    for (const name of [image, `${image}-base`]) await engine.getImage(name).remove({ force: true });
    await engine.pruneImages({ filters: { dangling: ['true'] } });
  });

  const said = async (): Promise<string> => String(await container.logs({ stdout: true, stderr: true }));
  async function healthy(): Promise<void> {
    for (;;) {
      const { State } = await container.inspect();
      if (State.Health?.Status === 'healthy') return;
      if (!State.Running || State.Health?.Status === 'unhealthy') throw new Error(await said());
      await delay(200);
    }
  }
  const signIn = () => send(`${web}/api/auth/login`, 'POST', { email: 'owner@troupe.local', password });

  test('is healthy, serves the dashboard, and the owner signs in', async () => {
    const health = await send(`${web}/api/health`, 'GET');
    assert.deepEqual([health.status, health.body.health], [200, 'healthy']);
    const page = await send(`${web}/login`, 'GET', undefined, { accept: 'text/html' });
    assert.match(page.body, /<title>.*Troupe/);
    assert.equal((await signIn()).status, 200);
  });

  test('runs as a user of its own, without any right of root', async () => {
    const { State } = await container.inspect();
    const status = await readFile(`/proc/${State.Pid}/status`, 'utf8');
    assert.match(status, /^Uid:\s+10001\s/m);
    assert.match(status, /^CapBnd:\s+0+$/m);
    assert.match(status, /^NoNewPrivs:\s+1$/m);
  });

  test('ends with 0 when asked, and has everything when it comes back', async () => {
    await container.stop();
    assert.equal((await container.inspect()).State.ExitCode, 0, await said());
    await container.start();
    await healthy();
    assert.equal((await signIn()).status, 200);
  });
});
