import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';
import { steps } from '@troupe/testing/services/director';

/** The tokens of trials were summed over the ten evaluations that are kept: whoever had more of them had no limit. */

let scene: Scene;
before(async () => (scene = await startScene()));
after(() => scene.stop());

const TIMES = 16;
/** As many trials as the day's tokens are enough for: more than evaluations are kept. */
const ENOUGH_FOR = 12;

/** Tries the cases once; the tokens that it took. */
async function evaluated(agentId: string): Promise<{ status: string; tokens: number }> {
  const { attacker } = scene;
  const begun = await attacker.ask('POST', `/api/agents/${agentId}/evaluations`, {});
  assert.ok(begun.status < 300, JSON.stringify(begun.body));
  for (let n = 0; n < 300; n += 1) {
    const { body } = await attacker.ask('GET', `/api/agents/${agentId}/evaluations/${begun.body.id}`);
    const [result] = body.results;
    if (body.status !== 'running') return { status: result.status, tokens: result.tokens };
    await delay(100);
  }
  throw new Error('an evaluation did not end');
}

test('trials end with the tokens of the day, however many evaluations there are', { timeout: 240_000 }, async () => {
  const { attacker } = scene;
  const { agentId } = attacker;
  const made = await attacker.ask('POST', `/api/agents/${agentId}/evaluation-cases`, {
    name: 'case',
    input: steps({ say: 'Brest' }),
    checks: [{ kind: 'contains', text: 'Brest' }],
  });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const { tokens } = await evaluated(agentId);
  assert.ok(tokens > 0);
  const { body: had } = await attacker.ask('GET', `/api/agents/${agentId}/config`);
  const config = { ...had.config, safety: { ...had.config.safety, maxTokensPerDay: tokens * ENOUGH_FOR } };
  const set = await attacker.ask('PUT', `/api/agents/${agentId}/config`, config);
  assert.equal(set.status, 200, JSON.stringify(set.body));
  const statuses: string[] = [];
  for (let n = 1; n < TIMES; n += 1) statuses.push((await evaluated(agentId)).status);
  assert.equal(statuses.filter((status) => status === 'passed').length, ENOUGH_FOR - 1, statuses.join());
  assert.equal(statuses.at(-1), 'skipped');
});
