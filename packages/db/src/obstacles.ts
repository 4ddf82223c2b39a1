import type pg from 'pg';
import { StartError } from '@troupe/kernel';

/** Rows with which a migration would fail, and what the operator can do about them. */
interface Obstacle {
  table: string;
  /** Each row's `found` is one thing that stands in the way. */
  query: string;
  say: (found: string) => string;
}

const OBSTACLES: Readonly<Record<string, Obstacle>> = {
  '0082_agent_host_names': {
    table: 'public.agents',
    query: `select string_agg(id, ' and ' order by id) as found from public.agents group by lower(id) having count(*) > 1 order by 1`,
    say: (found) =>
      `There are agents whose ids differ only in capitals (${found}), and an id is a host name now, in which capitals make no difference. ` +
      'Nothing was changed: start the version that you had before, delete all but one of each, and start this one again.',
  },
};

/** Before the first of them is applied: afterwards the version before could not be started any more. */
export async function checkObstacles(client: pg.Client, pending: readonly { name: string }[]): Promise<void> {
  for (const { name } of pending) {
    const obstacle = OBSTACLES[name];
    if (!obstacle) continue;
    const { rows: made } = await client.query('select where to_regclass($1) is not null', [obstacle.table]);
    if (made.length === 0) continue;
    await client.query('begin read only; set local role svc_system');
    const { rows } = await client.query<{ found: string }>(obstacle.query);
    await client.query('rollback');
    if (rows.length > 0) throw new StartError(obstacle.say(rows.map(({ found }) => found).join('; ')));
  }
}
