import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import type { AppError } from '@troupe/kernel';
import type { AgentRow } from '@troupe/roster';
import type { Fleet } from './fleet.ts';
import { newAgent, type Door, type Grounds } from './testing.ts';

/** What every driver must do that runs agents outside of this process. */

/** Nothing that is shown of an agent where it runs is a secret of the platform. */
export function hasNoSecrets({ runtime }: Grounds, shown: unknown): void {
  const text = JSON.stringify(shown);
  for (const secret of [...Object.values(runtime.secrets), 'secret-of-sessions', 'seal-of-tokens'])
    if (typeof secret === 'string') assert.ok(!text.includes(secret), 'no secret of the platform');
  assert.ok(!text.includes(runtime.databaseUrl));
}

/**
 * An agent that remembers something is given an image that never becomes healthy: that gives way to the one before, with
 * all data. `more`: what else is done with that agent; `kept` looks once more, and tells its row.
 */
export async function givesWay(
  { grounds, door, fleet }: { grounds: Grounds; door: Door; fleet: Fleet },
  { image, sick }: { image: string; sick: string },
  more: (kept: () => Promise<AgentRow>) => Promise<void> = async () => {},
): Promise<void> {
  const { agent } = await fleet.start(await newAgent(grounds));
  const token = await grounds.roster.token(agent);
  const kept = async (): Promise<AgentRow> => {
    const row = await grounds.roster.get(agent.id);
    assert.deepEqual([row.status, row.image, row.failure], ['running', image, null]);
    assert.match(JSON.stringify((await door.ask(agent.id, 'GET', '/memory', token)).body), /kept/);
    return row;
  };
  try {
    await door.ask(agent.id, 'PUT', '/memory', token, { key: 'word', content: 'kept' });
    await assert.rejects(fleet.update(agent, sick), (error: AppError) => {
      assert.equal(error.status, 500);
      assert.equal(
        error.message,
        'Update failed, the previous image is running again: The agent did not become healthy in time',
      );
      assert.ok(existsSync(String(error.extra['backupPath'])));
      return true;
    });
    await kept();
    await more(kept);
  } finally {
    await fleet.remove(agent);
  }
}
