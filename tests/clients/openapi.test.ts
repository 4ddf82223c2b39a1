import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { compiled, judge } from '@troupe/testing/http/generators';
import { needs } from '@troupe/testing/machine/needs';
import { startWorld, type World } from '@troupe/testing/services/world';

/** The OpenAPI documents of a start, judged by Redocly, and used by clients that two public generators make of them. */

// oxlint-disable-next-line typescript/no-explicit-any -- known to the generator alone
type Any = any;

const SERVICES = ['web', 'backend'] as const;
/** What Redocly advises against: 4xx that nobody can cause, and paths where a word stands where others have an id. */
const ADVICE = new Set(['operation-4xx-response', 'no-ambiguous-paths']);
const CHAT = { model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content: 'Say hello.' }] };

describe('the OpenAPI documents', { skip: needs('the judges') }, () => {
  let world: World;
  let folder: string;
  before(async () => {
    world = await startWorld();
    folder = await mkdtemp(path.join(tmpdir(), 'troupe-openapi-'));
    for (const service of SERVICES) {
      const document = await fetch(`${world.services[service]}/api/openapi.json`);
      await writeFile(path.join(folder, `${service}.json`), await document.text());
    }
  });
  after(async () => {
    await world.stop();
    await rm(folder, { recursive: true, force: true });
  });

  for (const service of SERVICES)
    it(`of ${service} is valid`, async () => {
      const said = await judge(folder, 'redocly', ['lint', '--format=json', '--max-problems=1000', `${service}.json`]);
      const { totals, problems } = JSON.parse(said.slice(said.indexOf('{'), said.lastIndexOf('}') + 1)) as Any;
      assert.equal(totals.errors, 0);
      assert.deepEqual(
        (problems as { ruleId: string }[]).filter(({ ruleId }) => !ADVICE.has(ruleId)),
        [],
      );
    });

  it('make clients of @hey-api/openapi-ts', async () => {
    const made: Record<string, Any> = {};
    for (const service of SERVICES) {
      await judge(folder, 'openapi-ts', ['-i', `${service}.json`, '-o', `hey-${service}`, '--no-log-file']);
      const load = await compiled(folder, `hey-${service}`);
      made[service] = load('index.js');
      const auth = ({ scheme }: { scheme?: string }) => (scheme === 'bearer' ? world.user.key : undefined);
      (load('client.gen.js') as Any).client.setConfig({ baseUrl: world.services[service], auth });
    }
    const { error: refused, data } = await made['web'].postApiAgentsProvision({ body: { name: 'Hedy' } });
    assert.equal(refused, undefined);
    assert.equal(data.agent.name, 'Hedy');
    const listed = await made['web'].getApiAgents();
    assert.ok(listed.data.agents.some(({ id }: { id: string }) => id === data.agent.id));
    const missing = await made['web'].getApiAgentsId({ path: { id: 'none' } });
    assert.deepEqual([missing.response.status, missing.error.error], [404, 'Agent not found']);
    const { data: said } = await made['backend'].postV1ChatCompletions({ body: CHAT });
    assert.equal(said.choices[0].message.content, 'Hello from the provider.');
  });

  it('make clients of swagger-typescript-api', async () => {
    const made: Record<string, Any> = {};
    for (const service of SERVICES) {
      await judge(folder, 'swagger-typescript-api', ['generate', '-p', `${service}.json`, '-o', `sta-${service}`]);
      const { Api } = (await compiled(folder, `sta-${service}`))('Api.js') as Any;
      const headers = { authorization: `Bearer ${world.user.key}` };
      made[service] = new Api({ baseUrl: world.services[service], baseApiParams: { headers } });
    }
    const { data } = await made['web'].api.postApiAgentsProvision({ name: 'Grace' });
    const listed = await made['web'].api.getApiAgents();
    assert.ok(listed.data.agents.some(({ id }: { id: string }) => id === data.agent.id));
    const said = await made['backend'].v1.postV1ChatCompletions(CHAT, { format: 'json' });
    assert.equal(said.data.choices[0].message.content, 'Hello from the provider.');
  });
});
