import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { readAccess } from './access.ts';
import { kubernetesCluster } from './kubernetes.ts';

const folder = await mkdtemp(path.join(tmpdir(), 'troupe-kubeconfig-'));
after(() => rm(folder, { recursive: true, force: true }));
const PORT = { KUBERNETES_SERVICE_PORT: 443 };

async function written(text: string): Promise<{ KUBECONFIG: string; KUBERNETES_SERVICE_PORT: number }> {
  const KUBECONFIG = path.join(folder, 'kubeconfig');
  await writeFile(KUBECONFIG, text);
  return { KUBECONFIG, ...PORT };
}
const config = (cluster: object, user: object, context: object = {}): string =>
  JSON.stringify({
    'current-context': 'here',
    contexts: [{ name: 'here', context: { cluster: 'c', user: 'u', ...context } }],
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user }],
  });
const SERVER = { server: 'https://127.0.0.1:1' };

test('a kubeconfig that cannot be used stops the start with a sentence that says why', async () => {
  const wrongs: [string, RegExp][] = [
    [': [', /which is no YAML\.$/],
    ['', /which has no context "": choose one with current-context\.$/],
    [config(SERVER, {}, { user: 'x' }), /which has no user "x": choose one/],
    [config({}, {}), /whose cluster has no address in "server"\.$/],
    [config(SERVER, { exec: { command: 'sh' } }), /whose user signs in by a program: make a kubeconfig with a token/],
    [config(SERVER, { 'client-certificate-data': 'eA==' }), /a certificate or a key that cannot be used\.$/],
    [config({ ...SERVER, 'certificate-authority': 'no.crt' }, {}), /names a file that cannot be read\.$/],
  ];
  for (const [text, why] of wrongs)
    await assert.rejects(readAccess(await written(text)), (error: Error) => {
      assert.equal(error.name, 'StartError');
      assert.match(error.message, /^KUBECONFIG is "[^"]+", [^\n]+\.$/);
      assert.match(error.message, why);
      return true;
    });
  await assert.rejects(readAccess({ KUBECONFIG: '/nowhere', ...PORT }), {
    message: 'KUBECONFIG is "/nowhere", which cannot be read.',
  });
  await assert.rejects(readAccess(PORT), /this is no pod of a cluster and KUBECONFIG names no file/);
  await assert.rejects(
    readAccess({ KUBERNETES_SERVICE_HOST: '10.0.0.1', ...PORT }, folder),
    /^StartError: This pod has no/,
  );
});

test('what a kubeconfig says is taken, and a namespace of the settings before its own', async () => {
  const settings = await written(config(SERVER, { token: 't' }, { namespace: 'theirs' }));
  const access = await readAccess(settings);
  assert.deepEqual(
    [access.server.href, await access.token(), access.namespace, access.inside],
    ['https://127.0.0.1:1/', 't', 'theirs', false],
  );
  assert.equal((await readAccess({ ...settings, KUBERNETES_NAMESPACE: 'ours' })).namespace, 'ours');
});

test('an account’s token is read again, because Kubernetes exchanges it', async () => {
  for (const name of ['token', 'namespace', 'ca.crt']) await writeFile(path.join(folder, name), `${name} 1\n`);
  const { token, namespace, inside } = await readAccess({ KUBERNETES_SERVICE_HOST: '10.0.0.1', ...PORT }, folder);
  assert.deepEqual([await token(), namespace, inside], ['token 1', 'namespace 1', true]);
  await writeFile(path.join(folder, 'token'), 'token 2\n');
  assert.equal(await token(), 'token 2');
});

test('a cluster that lets nobody in stops the start; one that is away does not', async () => {
  const server = createServer((_, response) => {
    response.writeHead(401, { 'content-type': 'application/json' });
    response.end('{"kind":"Status","message":"Unauthorized"}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await assert.rejects(
    kubernetesCluster(await written(config({ server: `http://127.0.0.1:${port}` }, { token: 't' }))),
    {
      name: 'StartError',
      message: `The Kubernetes API server 127.0.0.1:${port} lets nobody in with this access: Unauthorized.`,
    },
  );
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  const { client, paths } = await kubernetesCluster(await written(config(SERVER, { token: 't' })));
  await assert.rejects(client.get(`${paths.pods}/x`), {
    status: 503,
    message: 'The Kubernetes API server does not answer at the moment. Try again in a few seconds.',
    headers: { 'retry-after': '5' },
  });
});
