import { setTimeout as delay } from 'node:timers/promises';
import { eventsOf } from '@troupe/contract';
import type { Database } from '@troupe/db';
import { TALK, type Writer } from '../rounds/load.ts';
import type { World } from '../rounds/world.ts';

/** A page that follows one conversation without an end, and goes on from the last step that it knows. */
export interface Follower {
  /** Ends it once it knows all that is stored; what it was told wrong, a sentence each. */
  stop: () => Promise<string[]>;
  /** How often it had to come back. */
  resumed: () => number;
}

const PAUSE_MS = 250;
const CATCH_UP_MS = 30_000;

export async function follow({ db, over: worldIsOver }: Pick<World, 'db' | 'over'>, who: Writer): Promise<Follower> {
  const { agentId, ask } = who;
  const session = await talkOf(db, agentId);
  const stopped = new AbortController();
  const over = AbortSignal.any([stopped.signal, worldIsOver]);
  const heard: number[] = [];
  let opened = 0;
  let last = `${session}:0`;
  const once = async (): Promise<void> => {
    const headers = { accept: 'text/event-stream', 'last-event-id': last };
    const response = await ask('GET', `/api/live?watch=${agentId}:${session}:0`, undefined, {
      headers,
      signal: over,
    });
    if (response.status !== 200) return void (await response.arrayBuffer());
    opened += 1;
    for await (const { event, id, data } of eventsOf(response)) {
      if (event !== 'step' || id === undefined) continue;
      last = id;
      heard.push((JSON.parse(data) as { step: { seq: number } }).step.seq);
    }
  };
  const following = (async () => {
    while (!over.aborted) {
      await once().catch(() => undefined);
      await delay(PAUSE_MS, undefined, { signal: over }).catch(() => undefined);
    }
  })();
  return {
    resumed: () => opened - 1,
    async stop() {
      const stored = await stepsOf(db, session);
      const until = Date.now() + CATCH_UP_MS;
      while (heard.length < stored.length && Date.now() < until) await delay(50);
      stopped.abort();
      await following;
      return wrongIn(heard, stored, agentId);
    },
  };
}

function wrongIn(heard: readonly number[], stored: readonly number[], agentId: string): string[] {
  const told = (what: string, steps: readonly number[]): string[] =>
    steps.length === 0 ? [] : [`who followed ${agentId} was told ${what}: ${steps.slice(0, 5).join(', ')}`];
  const once = new Set(heard);
  return [
    ...told(
      'twice',
      heard.filter((seq, at) => heard.indexOf(seq) !== at),
    ),
    ...told(
      'never',
      stored.filter((seq) => !once.has(seq)),
    ),
    ...told(
      'out of order',
      heard.filter((seq, at) => at > 0 && seq < heard[at - 1]!),
    ),
  ];
}

/** The conversation, once it has begun. */
async function talkOf(db: Database, agentId: string): Promise<string> {
  for (;;) {
    const found = await db.system
      .selectFrom('agent_sessions')
      .select('id')
      .where('agent_id', '=', agentId)
      .where('key', '=', TALK)
      .executeTakeFirst();
    if (found) return found.id;
    await delay(50);
  }
}

const stepsOf = async (db: Database, session: string): Promise<number[]> =>
  (
    await db.system.selectFrom('agent_events').select('seq').where('session_id', '=', session).orderBy('seq').execute()
  ).map(({ seq }) => seq);
