import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { askBackend, person, provisioned, type Person } from '@troupe/testing/services/people';
import { startServices, type Services } from '@troupe/testing/services/services';

/** What the backend does for users' MCP servers; what people do with them is tried in web. */

let services: Services;
let ann: Person;
let bob: Person;
let agentId: string;
before(async () => {
  services = await startServices();
  ann = await person(services, { plan: 'label' });
  bob = await person(services, { plan: 'label' });
  agentId = await provisioned(ann);
  await ann.ask('PUT', '/api/mcp-servers/notes', { url: 'https://notes.example/mcp', headers: { 'x-key': 'open' } });
  await ann.ask('PUT', '/api/mcp-servers/program', { command: 'node', args: ['x.mjs'], env: { KEY: 'value' } });
});
after(() => services.stop());

const as = (who: Person) => ({ 'x-user-id': who.id, 'x-user-email': who.email });
const forAgent = (who: Person) => ({ 'x-agent-id': agentId, 'x-user-id': who.id });

test('an agent that runs elsewhere gets its owner’s servers, and nobody else’s agent does', async () => {
  const { body } = await askBackend(services, 'GET', '/v1/mcp_servers', undefined, forAgent(ann));
  const [notes, program] = body.servers;
  assert.deepEqual([notes.headers, program.env, program.args], [{ 'x-key': 'open' }, { KEY: 'value' }, ['x.mjs']]);
  const { status } = await askBackend(services, 'GET', '/v1/mcp_servers', undefined, forAgent(bob));
  assert.equal(status, 404);
  await ann.ask('PUT', `/api/agents/${agentId}/mcp-servers/notes/use`, { use: false });
  const after = await askBackend(services, 'GET', '/v1/mcp_servers', undefined, forAgent(ann));
  assert.deepEqual(
    after.body.servers.map(({ name, isOff }: { name: string; isOff: boolean }) => [name, isOff]),
    [
      ['notes', true],
      ['program', false],
    ],
  );
});

test('what it tells of a server that is not its owner’s is kept nowhere', async () => {
  await bob.ask('PUT', '/api/mcp-servers/secret', { url: 'https://secret.example/mcp' });
  const { db } = services.runtime;
  const row = await db.system
    .selectFrom('mcp_servers')
    .select('id')
    .where('name', '=', 'secret')
    .executeTakeFirstOrThrow();
  const told = { state: 'failed', error: 'made up' };
  const { status } = await askBackend(services, 'POST', `/v1/mcp_servers/${row.id}/state`, told, forAgent(ann));
  assert.equal(status, 404);
  const kept = await db.system.selectFrom('mcp_server_agents').select('error').where('error', 'is not', null).execute();
  assert.deepEqual(kept, []);
});

test('access is asked for a service of one’s own alone', async () => {
  const body = { redirectUri: 'https://here.example/cb', state: '0'.repeat(32) };
  const consent = (name: string, who: Person) =>
    askBackend(services, 'POST', `/api/mcp-servers/${name}/consent`, body, as(who));
  assert.deepEqual((await consent('program', ann)).body, { error: 'A program asks nobody for access' });
  assert.equal((await consent('notes', bob)).status, 404);
  const finished = await askBackend(
    services,
    'POST',
    '/api/mcp-servers/notes/consented',
    { code: 'c', state: '0'.repeat(32) },
    as(ann),
  );
  assert.deepEqual(finished, { status: 400, body: { error: 'Nobody asked for this authorization' } });
});
