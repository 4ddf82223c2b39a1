import { TRIED_SECONDS, type backend, type TypesOf } from '@troupe/contract';
import { isPlan } from '@troupe/domain';
import type { Thinker, Thinking, Trials } from '@troupe/fleet';
import { AppError, createFairQueue, newId } from '@troupe/kernel';
import { readPurpose, type Roster } from '@troupe/roster';
import { keptOf } from '../trial-kept.ts';

interface SayDeps {
  roster: Roster;
  trials: Trials;
  thinking: (agent: Thinker) => Thinking;
}

export type SayService = ReturnType<typeof createSay>;

type Asked = TypesOf<typeof backend.say.tryOnce>['body'];
type Tried = TypesOf<typeof backend.say.tryOnce>['reply'];

/** Somebody waits for each of them, and each may have programs running. */
const AT_ONCE = { width: 4, perKey: 1, waiting: 20, waitingPerKey: 1, waitMs: 20_000 };

/** Asks agents that are not there yet. */
export function createSay({ roster, trials, thinking }: SayDeps) {
  const turns = createFairQueue(AT_ONCE);

  async function tried(userId: string, asked: Asked, signal: AbortSignal): Promise<Tried> {
    const { name, model, instruction, tools, message: input, maxUsd } = asked;
    const about = {
      name,
      model,
      definition: readPurpose({ instruction, tools }),
      ownConfig: { model: { default: model } },
    };
    const definition = await roster.of(userId).draft(about);
    const plan = isPlan(asked.plan) ? asked.plan : ('free' as const);
    const row = { id: newId(), user_id: userId, plan, ai_provider: '', provider_key: null, team_id: null };
    // What it costs is its owner's, and no agent's: there is none.
    const { model: thinks } = thinking({ ...row, id: '' });
    const maxCostMicros = Math.min(Math.round(maxUsd * 1e6), definition.limits.maxCostMicros);
    const trial = await trials.run({
      row,
      model: thinks,
      definition,
      input,
      stubs: [],
      maxSeconds: TRIED_SECONDS,
      maxCostMicros,
      signal,
    });
    const { costMicros, ms, ...told } = keptOf(trial);
    const late = `It came to no answer within ${TRIED_SECONDS} seconds.`;
    return {
      ...told,
      reason: trial.outcome === 'done' ? null : (trial.reason ?? late),
      costUsd: costMicros / 1e6,
      seconds: ms / 1000,
    };
  }

  return {
    async tryOnce(userId: string | undefined, asked: Asked, signal: AbortSignal): Promise<Tried> {
      if (userId === undefined) throw new AppError(400, 'User required');
      const done = await turns.run(userId, () => tried(userId, asked, signal), signal);
      if (signal.aborted) throw new AppError(499, 'Client closed request');
      return done;
    },
  };
}
