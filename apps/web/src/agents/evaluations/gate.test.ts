import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createDirector, steps, type Director } from '@troupe/testing/services/director';
import { person, send, type Body, type Person } from '@troupe/testing/services/people';
import { startServices, type Services } from '@troupe/testing/services/services';

/** With the gate on, no way of changing an agent leads around its cases, and each can be insisted on. */

let services: Services;
let director: Director;
let ann: Person;
let agent: string;
before(async () => {
  director = await createDirector();
  services = await startServices({ OPENROUTER_API_KEY: 'k', OPENROUTER_BASE_URL: director.provider.url });
  ann = await person(services, { plan: 'network' });
  const yaml_config =
    'agents:\n  root:\n    instruction: Work.\n    add_prompt_files: [AGENTS.md]\n    toolsets:\n      - type: filesystem\n';
  const made = await ann.ask('POST', '/api/provision/team', { plan: 'network', yaml_config });
  assert.equal(made.status, 200, JSON.stringify(made.body));
  agent = made.body.agents[0].agentId;
});
after(async () => {
  await services.stop();
  await director.provider.close();
});

const definition = async () =>
  (await ann.ask('GET', `/api/agents/${agent}/mcp-servers`)).body.servers.map(({ name }: Body) => name);
const instruction = async () => (await ann.ask('GET', `/api/agents/${agent}/purpose`)).body.instruction;
const gated = ({ status, body }: { status: number; body: Body }, way: string) =>
  assert.deepEqual(
    [status, body.code ?? body.error?.code],
    [409, 'CASES_NOT_PASSED'],
    `${way}: ${JSON.stringify(body)}`,
  );
const putFile = async (path: string, more = '') => {
  const answer = await fetch(`${services.web}/api/agents/${agent}/files/content?path=${path}${more}`, {
    method: 'PUT',
    headers: { ...ann.headers(), 'content-type': 'application/octet-stream' },
    body: 'Be rude.',
  });
  return { status: answer.status, body: (await answer.json()) as Body };
};

test('connections, files that it is always shown, restores, clients and defaults are held', async () => {
  const backup = (await ann.ask('POST', `/api/agents/${agent}/backups`)).body.backup.id;
  await ann.ask('PUT', `/api/agents/${agent}/purpose`, { instruction: 'Be kind.' });
  const input = steps({ say: 'hello' });
  const checks = [{ kind: 'contains', text: 'hello' }];
  await ann.ask('POST', `/api/agents/${agent}/evaluation-cases`, { name: 'greets', input, checks });
  await ann.ask('PUT', `/api/agents/${agent}/evaluation-gate`, { enabled: true });

  const servers = `/api/agents/${agent}/mcp-servers/notes`;
  const server = { url: 'https://notes.example/mcp' };
  gated(await ann.ask('PUT', servers, server), 'attach');
  assert.equal((await ann.ask('PUT', `${servers}?force=true`, server)).status, 200);
  gated(await ann.ask('DELETE', servers), 'detach');
  assert.deepEqual(await definition(), ['notes']);
  assert.equal((await ann.ask('DELETE', `${servers}?force=true`)).status, 200);

  for (const path of ['AGENTS.md', './x/../AGENTS.md']) gated(await putFile(path), path);
  assert.equal((await putFile('notes.md')).status, 201, 'another file is no part of what it is');
  assert.equal((await putFile('AGENTS.md', '&force=true')).status, 201);
  gated(await ann.ask('DELETE', `/api/agents/${agent}/files?path=AGENTS.md`), 'delete');
  assert.equal((await ann.ask('DELETE', `/api/agents/${agent}/files?path=AGENTS.md&force=true`)).status, 200);

  const client = (body: object) =>
    send(`${services.backend}/v1/agents/${agent}`, 'POST', body, { authorization: `Bearer ${ann.key}` });
  const refused = await client({ system: 'Be rude.' });
  assert.equal(refused.status, 409, JSON.stringify(refused.body));

  gated(await ann.ask('POST', `/api/agents/${agent}/backups/${backup}/restore`), 'restore');
  assert.equal(await instruction(), 'Be kind.');

  const saved = await ann.ask('POST', '/api/config', { config: { memory: { ttlDays: 7 } } });
  assert.equal(saved.status, 200, JSON.stringify(saved.body));
  const told = async () =>
    (await ann.ask('GET', '/api/notices')).body.notices.some(({ kind }: Body) => kind === 'defaults_not_taken');
  for (const end = Date.now() + 20_000; !(await told()); await delay(50))
    assert.ok(Date.now() < end, 'nobody was told');

  const restored = await ann.ask('POST', `/api/agents/${agent}/backups/${backup}/restore?force=true`);
  assert.equal(restored.status, 200, JSON.stringify(restored.body));
  assert.equal(await instruction(), 'Work.');
});

test('a change is not made once its agent was stopped, though all cases have passed', async () => {
  const { system } = services.runtime.db;
  const made = await ann.ask('POST', '/api/agents/provision', { name: 'Late', model: 'openai/gpt-4o-mini' });
  const id = made.body.agent.id;
  const one = { name: 'held', input: steps({ wait: 'stop' }), checks: [{ kind: 'contains', text: 'ok' }] };
  assert.equal((await ann.ask('POST', `/api/agents/${id}/evaluation-cases`, one)).status, 201);
  const change = { purpose: { instruction: 'Be late.' } };
  const begun = await ann.ask('POST', `/api/agents/${id}/evaluations`, { change, takes: true });
  assert.equal(begun.status, 202, JSON.stringify(begun.body));
  await director.waits('stop');
  await system.updateTable('agents').set({ status: 'stopped' }).where('id', '=', id).execute();
  director.go('stop');
  const read = async (): Promise<Body> => (await ann.ask('GET', `/api/agents/${id}/evaluations/${begun.body.id}`)).body;
  let found = await read();
  while (found.takenAt === null && found.notTaken === null && found.status !== 'failed') {
    await delay(30);
    found = await read();
  }
  assert.deepEqual([found.status, found.takenAt, found.notTaken], ['passed', null, 'The agent is not running']);
  assert.equal((await ann.ask('GET', `/api/agents/${id}/purpose`)).body.instruction, '');
});
