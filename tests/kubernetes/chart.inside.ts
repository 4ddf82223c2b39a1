import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { request } from 'node:http';
import { connect, createServer, type Server } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { emptyDatabase } from '@troupe/testing/database/server';
import { exampleValues, hookOf, renderChart, type KubeObject } from '@troupe/testing/kubernetes/chart';
import { thisCluster, type ThisCluster } from '@troupe/testing/kubernetes/cluster';
import { addImages, IMAGE } from '@troupe/testing/kubernetes/images';
import { addPlatform } from '@troupe/testing/kubernetes/platform-image';

const NAMESPACE = 'house';
const TRIED = 'tried';
/** The machine, as pods see it, and addresses of the services: this cluster has no names. */
const HOST = '10.90.0.1';
const WEB = '10.90.8.100';
const BACKEND = '10.90.8.101';
const PLATFORM = 'troupe.local/troupe';
const KEY = 'chart-internal-key-0123456789abcdef';
const NODE_GONE_MS = 90_000;
/** How long nobody may be answered when one of two machines is gone. */
const LONGEST_SILENCE_MS = 15_000;

const values = (databaseUrl: string, redisUrl: string, tag: string) => ({
  host: 'troupe.test',
  baseUrl: `http://${WEB}:3000`,
  image: { repository: PLATFORM, tag },
  agents: { image: IMAGE },
  stopWaitSeconds: 10,
  nodeGoneSeconds: 10,
  // the built-in model is only there outside production
  settings: { NODE_ENV: 'development', TRUST_PROXY: '0', BACKEND_URL: `http://${BACKEND}:3001` },
  secrets: {
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    INTERNAL_API_KEY: KEY,
    SESSION_SECRET: 'chart-session-secret-0123456789',
    WALLET_ENCRYPTION_KEY: 'chart-wallet-key-0123456789',
  },
  web: { resources: { requests: { cpu: '50m' } }, service: { clusterIP: WEB } },
  backend: { resources: { requests: { cpu: '50m' } }, service: { clusterIP: BACKEND } },
});

interface Answer {
  status: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- objects of every kind, as a cluster takes them
  body: any;
  cookie: string;
}

/** Each call on a connection of its own, as from different people; rejects when there is no answer. */
const ask = (method: string, path: string, body?: unknown, cookie = '', ms = 60_000): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const headers = {
      cookie,
      authorization: `Bearer ${KEY}`,
      'x-client-ip': `10.1.${Math.floor(Math.random() * 250)}.${Math.floor(Math.random() * 250)}`,
      'content-type': 'application/json',
    };
    const asked = request({ host: WEB, port: 3000, method, path, headers, agent: false, timeout: ms }, (response) => {
      let text = '';
      response.on('data', (piece: Buffer) => (text += String(piece)));
      response.once('error', reject);
      response.once('end', () => {
        const given = response.headers['set-cookie']?.map((line) => line.split(';')[0]).join('; ') ?? '';
        resolve({
          status: response.statusCode ?? 0,
          body: /^[[{]/.test(text) ? JSON.parse(text) : text,
          cookie: given,
        });
      });
    });
    asked.once('timeout', () => asked.destroy(new Error(`no answer within ${ms} ms`)));
    asked.once('error', reject);
    asked.end(body === undefined ? undefined : JSON.stringify(body));
  });

/** Whether all that was sent is in what came back: the server drops what it does not know without a word. */
function lost(sent: unknown, got: unknown, where: string): string[] {
  if (Array.isArray(sent))
    return sent.flatMap((one, at) => lost(one, Array.isArray(got) ? got[at] : undefined, `${where}[${at}]`));
  if (typeof sent === 'object' && sent !== null)
    return Object.entries(sent).flatMap(([key, one]) =>
      lost(one, (got as Record<string, unknown> | undefined)?.[key], `${where}.${key}`),
    );
  return sent === got ? [] : [`${where}: ${JSON.stringify(sent)} became ${JSON.stringify(got)}`];
}

/** deploy/chart on two nodes, as helm would install it. Run by kubernetes.test.ts. */
describe('the chart', () => {
  let here: ThisCluster;
  let apiVersions: string[];
  before(async () => {
    here = thisCluster();
    apiVersions = (await here.kubectl(['api-versions'])).trim().split('\n');
  });

  test('every object of every example is taken by the API server, with all that it says', async () => {
    await here.kubectl(['create', 'namespace', TRIED]);
    for (const example of exampleValues()) {
      const objects = renderChart([example], { namespace: TRIED, apiVersions });
      assert.ok(objects.length > 14, example);
      const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
      const args = ['--namespace', TRIED, 'create', '--dry-run=server', '--validate', '-o', 'json', '-f', '-'];
      // one after the other
      const taken = (await here.kubectl(args, list)).replaceAll(/^}\n{/gm, '},{');
      const items = JSON.parse(`[${taken}]`) as KubeObject[];
      assert.deepEqual(
        objects.flatMap((object, at) => lost(object, items[at], `${example} ${object.kind} ${object.metadata.name}`)),
        [],
      );
    }
  });

  describe('installed', () => {
    let database: Awaited<ReturnType<typeof emptyDatabase>>;
    let door: Server;
    let redis: ChildProcess;
    let urls: [database: string, redis: string];
    let cookie: string;
    const kube = (args: readonly string[], input?: string) => here.kubectl(['--namespace', NAMESPACE, ...args], input);

    before(async () => {
      await here.kubectl(['create', 'namespace', NAMESPACE]);
      await addImages(here);
      await addPlatform(here, [`${PLATFORM}:1`, `${PLATFORM}:2`]);
      database = await emptyDatabase();
      door = await doorTo(database.url);
      redis = spawn('redis-server', ['--bind', HOST, '--port', '6399', '--protected-mode', 'no', '--save', ''], {
        stdio: 'ignore',
      });
      const { port } = door.address() as { port: number };
      const { pathname, username } = new URL(database.url);
      urls = [`postgresql://${username}@${HOST}:${port}${pathname}`, `redis://${HOST}:6399`];
    });
    after(async () => {
      await here?.kubectl(['delete', 'namespace', NAMESPACE, '--wait=false']);
      redis?.kill();
      door?.close();
      await database?.drop();
    });

    const rendered = (tag: string) => renderChart([values(...urls, tag)], { namespace: NAMESPACE, apiVersions });
    const apply = (objects: readonly KubeObject[]) =>
      kube(['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
    const rolledOut = async () => {
      for (const name of ['web', 'backend', 'summarizer'])
        await kube(['rollout', 'status', `deployment/troupe-${name}`, '--timeout', '240s']);
    };
    /** Runs the Job of that moment to its end, and returns what it said. */
    async function hook(moment: string, objects: readonly KubeObject[]): Promise<string> {
      const job = objects.find((object) => hookOf(object).includes(moment));
      assert.ok(job, moment);
      await kube(['delete', 'job', job.metadata.name, '--ignore-not-found']);
      await apply([job]);
      await kube(['wait', '--for', 'condition=Complete', '--timeout', '180s', `job/${job.metadata.name}`]);
      return kube(['logs', `job/${job.metadata.name}`]);
    }
    const say = (agentId: string, message: string, ms?: number) =>
      ask('POST', '/api/chat', { agentId, message }, cookie, ms);
    async function reply(agentId: string, message: string): Promise<string> {
      const { status, body } = await say(agentId, message);
      assert.equal(status, 200, JSON.stringify(body));
      return body.reply;
    }
    async function made(): Promise<string> {
      const { status, body } = await ask('POST', '/api/agents/provision', { name: 'Ada' }, cookie);
      assert.equal(status, 201, JSON.stringify(body));
      const { id } = body.agent;
      const running = async () => (await ask('GET', `/api/agents/${id}`, undefined, cookie)).body.agent.status;
      while ((await running()) === 'provisioning') await delay(500);
      assert.equal(await running(), 'running');
      return id;
    }

    test('it comes up on both nodes, makes an owner, and an agent of his answers', async (t) => {
      const began = Date.now();
      const objects = rendered('1');
      await apply(objects.filter((object) => hookOf(object).length === 0));
      await rolledOut();
      const said = await hook('post-install', objects);
      t.diagnostic(`installed and ready after ${Math.round((Date.now() - began) / 1000)} s`);
      const password = /Password\s+(\S+)/.exec(said)?.[1];
      assert.ok(password, said);
      const entered = await ask('POST', '/api/auth/login', { email: 'owner@troupe.local', password });
      assert.equal(entered.status, 200, JSON.stringify(entered.body));
      cookie = entered.cookie;
      for (const name of ['web', 'backend']) assert.equal((await nodesOf(name)).size, 2, name);
      const id = await made();
      await reply(id, 'remember the harbour');
      assert.match(await reply(id, 'recall harbour'), /harbour/);
    });

    const podsOf = async (selector: string) =>
      (await here.json<{ items: KubeObject[] }>('--namespace', NAMESPACE, 'get', 'pods', '-l', selector)).items.filter(
        ({ metadata }) => !('deletionTimestamp' in metadata),
      );
    const nodesOf = async (name: string) =>
      new Set((await podsOf(`app.kubernetes.io/component=${name}`)).map(({ spec }) => spec.nodeName as string));

    test('an update that rolls fails no request', async (t) => {
      const id = await made();
      let answered = 0;
      const failed: string[] = [];
      const over = new AbortController();
      const asking = Array.from({ length: 4 }, async (_, who) => {
        while (!over.signal.aborted) {
          const asked = who === 0 ? say(id, 'hello') : ask('GET', '/api/agents', undefined, cookie);
          await asked.then(
            ({ status, body }) => (status === 200 ? (answered += 1) : failed.push(`${status} ${JSON.stringify(body)}`)),
            (error: unknown) => failed.push(String(error)),
          );
          await delay(50);
        }
      });
      const objects = rendered('2');
      const began = Date.now();
      try {
        assert.match(await hook('pre-upgrade', objects), /up to date/);
        await apply(objects.filter((object) => hookOf(object).length === 0));
        await rolledOut();
      } finally {
        over.abort();
        await Promise.all(asking);
      }
      t.diagnostic(`rolled an update in ${Math.round((Date.now() - began) / 1000)} s`);
      assert.deepEqual(failed, []);
      assert.ok(answered > 50, `${answered}`);
      for (const { spec } of await podsOf('app.kubernetes.io/instance=troupe,app.kubernetes.io/component!=setup'))
        assert.equal(spec.containers[0].image, `${PLATFORM}:2`);
      for (const name of ['web', 'backend']) assert.equal((await nodesOf(name)).size, 2, name);
    });

    test('a node is killed: people are answered, and its agents from the other one with their data', async (t) => {
      const id = await made();
      await reply(id, 'remember the lighthouse');
      const node = async () =>
        (await podsOf(`troupe.agent`)).find(({ metadata }) => metadata.name.includes(id))?.spec.nodeName;
      const first = await node();
      assert.ok(first);
      here.kill(first);
      const began = Date.now();
      let last = began;
      let silence = 0;
      const over = new AbortController();
      const watched = Array.from({ length: 4 }, async () => {
        while (!over.signal.aborted) {
          const { status } = await ask('GET', '/api/agents', undefined, cookie, 2000).catch(() => ({ status: 0 }));
          if (status === 200) {
            silence = Math.max(silence, Date.now() - last);
            last = Date.now();
          }
          await delay(200);
        }
      });
      const spoken = async () => (await say(id, 'hello', 10_000).catch(() => ({ status: 0 }))).status === 200;
      try {
        while (!(await spoken())) {
          assert.ok(Date.now() - began < NODE_GONE_MS, 'it answers again');
          await delay(500);
        }
      } finally {
        over.abort();
        await Promise.all(watched);
      }
      t.diagnostic(`answers again after ${Math.round((Date.now() - began) / 1000)} s`);
      t.diagnostic(`nobody was answered for at most ${Math.round(silence / 1000)} s`);
      assert.ok(silence < LONGEST_SILENCE_MS, `${silence} ms`);
      assert.match(await reply(id, 'recall lighthouse'), /lighthouse/);
      assert.notEqual(await node(), first);
      await here.repair();
    });
  });
});

/** PostgreSQL listens on a socket of this machine; pods come by an address. */
function doorTo(url: string): Promise<Server> {
  const { searchParams, port } = new URL(url);
  const socket = `${searchParams.get('host')}/.s.PGSQL.${port}`;
  const server = createServer((client) => {
    const inner = connect(socket);
    for (const [a, b] of [
      [client, inner],
      [inner, client],
    ] as const)
      a.on('error', () => b.destroy()).pipe(b);
  });
  return new Promise((resolve) => server.listen(0, HOST, () => resolve(server)));
}
