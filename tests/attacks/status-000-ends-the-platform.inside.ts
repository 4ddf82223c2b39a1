import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { startBackendProcess, type BackendProcess } from '@troupe/testing/processes/backend';
import { SITES } from '@troupe/testing/machine/closed-network';
import { createDirector, steps, type Director } from '@troupe/testing/services/director';

/** Runs in a network that holds a hostile site on a public address and this process; started by the test of the same name. */

let director: Director;
let backend: BackendProcess;
const dataDir = mkdtempSync(path.join(tmpdir(), 'troupe-000-'));
const site = net.createServer((socket) => {
  socket.on('error', () => socket.destroy());
  socket.once('data', () => socket.end('HTTP/1.1 000 OK\r\n\r\nhi'));
});

before(async () => {
  await new Promise<void>((resolve) => site.listen(80, SITES['allowed.test'], resolve));
  director = await createDirector();
  backend = await startBackendProcess({
    DATABASE_URL: process.env['DATABASE_URL']!,
    DATA_DIR: dataDir,
    OPENROUTER_BASE_URL: director.provider.url,
  });
  await backend.ask('POST', '/api/deployments', {
    agentId: 'walker',
    config: { name: 'walker', plan: 'solo', tools: ['shell'] },
  });
  await backend.send('PUT', '/api/agents/walker', { config: { safety: { allowedDomains: ['allowed.test'] } } });
});
after(async () => {
  if (backend.child.exitCode === null) await backend.end('SIGTERM');
  await director.provider.close();
  site.close();
  rmSync(dataDir, { recursive: true, force: true });
});

test('the status 000 is a 502 to the command', async () => {
  const cmd = `node -e "require('http').get('http://allowed.test/',r=>{console.log(r.statusCode);r.pipe(process.stdout)}).on('error',e=>console.log('no way', e.code))"`;
  const response = await backend.chat('walker', steps({ tool: 'shell', args: { cmd } }, { say: 'done' }), 'c');
  assert.equal(response.status, 200, await response.clone().text());
  const { content } = (await backend.log('walker', 'c'))!.events.find(({ type }) => type === 'tool_result');
  assert.match(content, /^502\nThe other side answered with the status 0/);
  assert.equal(backend.child.exitCode, null);
});
