import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { memberToken } from '@troupe/roster';
import { askBackend, person, type Person } from '@troupe/testing/services/people';
import { startServices, type Services } from '@troupe/testing/services/services';

/** Agents in containers call from one address: each counts by itself, and nobody else does under its name. */

let services: Services;
let boss: Person;
let lead: string;
let helper: string;
before(async () => {
  services = await startServices();
  boss = await person(services, { plan: 'network' });
  [lead, helper] = await team();
});
after(() => services.stop());

async function team(): Promise<[string, string]> {
  const member = (name: string) => ({
    name,
    role: 'Helper',
    description: 'Helps',
    instruction: 'Help.',
    model: 'xiaomi/mimo-v2-pro',
    memoryShared: true,
    tools: ['think'],
  });
  const made = await boss.ask('POST', '/api/provision/team', {
    plan: 'network',
    customAgents: [member('chief'), member('scout')],
  });
  assert.equal(made.status, 200, JSON.stringify(made.body));
  return made.body.agents.map(({ agentId }: { agentId: string }) => agentId);
}

const tokenOf = (agentId: string): string => memberToken(services.runtime.secrets.sessionSecret, agentId);

/** All from this one address; `left` is what the limit still lets pass. */
async function call(method: string, path: string, bearer: string, body?: unknown) {
  const response = await fetch(services.backend + path, {
    method,
    headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const told = response.headers.get('ratelimit-remaining');
  return { status: response.status, left: told === null ? null : Number(told), text: await response.text() };
}
const hand = (to: string, bearer: string, runId: string) =>
  call('POST', `/api/runtime/proxy/${to}/execute`, bearer, { taskId: 't', runId, prompt: 'think' });

describe('calls of agents', () => {
  test('to members of their team count for the caller, not for the address', async () => {
    const [first, second] = [await hand(helper, tokenOf(lead), 'a'), await hand(helper, tokenOf(lead), 'b')];
    assert.deepEqual([first.status, first.left, second.status, second.left], [200, 119, 200, 118], first.text);
    assert.equal((await hand(lead, tokenOf(helper), 'c')).left, 119, 'another agent has a count of its own');
    for (let calls = 3; calls <= 120; calls += 1)
      await call('GET', `/api/runtime/proxy/${helper}/ready`, tokenOf(lead));
    const over = await hand(helper, tokenOf(lead), 'd');
    assert.deepEqual([over.status, over.text], [429, '{"error":"Too many requests, please slow down."}']);
    assert.equal((await hand(lead, tokenOf(helper), 'e')).status, 200, 'one that asks too often stops nobody else');
    assert.equal((await call('GET', `/api/runtime/proxy/${helper}/ready`, 'nothing')).left, 119, 'nor the address');
  });

  test('a token that somebody made up counts for the address, and opens nothing', async () => {
    const [, signature] = tokenOf(lead).split('.');
    const before = (await call('GET', `/api/runtime/proxy/${helper}/ready`, 'nothing')).left!;
    for (const [index, made] of [`mbr_${helper}.${signature}`, `mbr_${lead}.`, 'mbr_'].entries()) {
      const refused = await hand(helper, made, `forged-${index}`);
      assert.deepEqual([refused.status, refused.left], [401, before - 1 - index], made);
    }
  });

  test('a member is known by its own token while it runs, and only in its team', async () => {
    const [stranger] = await team();
    assert.equal((await hand(helper, tokenOf(stranger), 'f')).status, 401);
    assert.equal((await hand(stranger, tokenOf(helper), 'g')).status, 401);
    await askBackend(services, 'POST', `/api/agents/${helper}/stop`, {});
    assert.equal((await hand(lead, tokenOf(helper), 'h')).status, 401);
    await askBackend(services, 'POST', `/api/agents/${helper}/start`, {});
    assert.equal((await hand(lead, tokenOf(helper), 'i')).status, 200);
  });

  test('to the models count for each agent, not for their owner', async () => {
    const keyOf = async (id: string) => `sk_${(await boss.ask('GET', `/api/agents/${id}/token`)).body.token}`;
    const left = async (key: string) => (await call('GET', '/v1/models', key)).left;
    assert.deepEqual(
      [await left(await keyOf(lead)), await left(await keyOf(lead)), await left(await keyOf(helper))],
      [599, 598, 599],
    );
  });
});
