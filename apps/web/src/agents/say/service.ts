import { AGENT_NAME_LENGTH, backend as onBackend, TRIED_SECONDS, TRIED_USD } from '@troupe/contract';
import type { web, Client, SaidPlan, TypesOf } from '@troupe/contract';
import type { Database } from '@troupe/db';
import {
  freeName,
  isTimeZone,
  parseSchedule,
  predictCost,
  proposedCap,
  understand,
  type Catalogue,
  type Said,
  type Subscriber,
} from '@troupe/domain';
import { AppError, iso, type BackendClient, type Clock, type User } from '@troupe/kernel';
import { createCaps } from '@troupe/usage';
import { reach } from '../../platform/reach.ts';
import { knownTools, requireEntitlement, type AgentsService } from '../agents/service.ts';
import { askModel } from '../ask-model.ts';
import { modelsOf, type KnownModels } from '../models/service.ts';
import type { TasksService } from '../tasks/service.ts';
import { HOW, readAnswer } from './model.ts';
import { namesLike, pastCosts } from './store.ts';

interface SayDeps {
  db: Database;
  clock: Clock;
  backend: BackendClient;
  catalogue: Catalogue;
  agents: AgentsService;
  tasks: TasksService;
  models: Pick<KnownModels, 'check'>;
  subscriber: (user: User) => Subscriber;
}

type Asked = TypesOf<typeof web.say.plan>['body'];
type Planned = TypesOf<typeof web.say.plan>['reply'];
type Tried = TypesOf<typeof web.say.tryOnce>['reply'];
type Offered = Awaited<ReturnType<typeof modelsOf>>;

export type SayService = ReturnType<typeof createSay>;

const NO_PLAN = 'The model’s answer is no plan that can be used. Say it in other words, or have it read by rules.';
const DAYS = 30;
const DAY_MS = 86_400_000;
const TASK_NAME = 60;

/** Has a model read the sentence. Its words become a plan to look at, and nothing else comes of them. */
async function byModel(as: Client, model: string, sentence: string, now: Date, signal: AbortSignal): Promise<Said> {
  const said = readAnswer(await askModel(as, { model, how: HOW, data: sentence }, signal), now);
  if (!said) throw new AppError(502, NO_PLAN, { code: 'NO_PLAN' });
  return said;
}

function createCosting({ db, clock }: SayDeps) {
  return async function costOf(user: User, said: Said, timezone: string, { models, default: id }: Offered) {
    const now = clock();
    const since = iso(new Date(now.getTime() - DAYS * DAY_MS)).slice(0, 10);
    const past = await pastCosts(db.user(user.id), user.id, since);
    const schedule = said.cron === null ? null : parseSchedule(said.cron, timezone, now);
    const cost = predictCost({
      model: models.find((one) => one.id === id) ?? { inputCost: 0, outputCost: 0 },
      pages: said.pages,
      runs: schedule ? schedule.countBetween(now, new Date(now.getTime() + DAYS * DAY_MS)) : 1,
      past: past.find(({ model }) => model === id),
    });
    return {
      pages: said.pages,
      past,
      perRunUsd: { low: cost.low, high: cost.high },
      perMonthUsd: { low: cost.monthLow, high: cost.monthHigh },
      runs: cost.runs,
      from: cost.from,
    };
  };
}

function planOf(said: Said, model: string, timezone: string, cap: number): SaidPlan {
  const { name, instruction, tools, prompt, cron, tells, capUsd } = said;
  const task = cron === null ? null : { name: prompt.slice(0, TASK_NAME).trim(), prompt, cronSchedule: cron, timezone };
  return { name, model, instruction, tools, task, tells, capUsd: capUsd ?? cap };
}

/** Makes what a plan says. What cannot be made whole is taken back. */
function createMaking({ db, clock, agents, tasks }: SayDeps) {
  const caps = createCaps({ db, clock });

  /** What can be known before anything is there. */
  function check({ tools, task }: SaidPlan): void {
    knownTools(tools);
    if (!task) return;
    if (!isTimeZone(task.timezone)) throw new AppError(400, 'Invalid timezone');
    if (!parseSchedule(task.cronSchedule, task.timezone, clock())) throw new AppError(400, 'Invalid cron schedule');
  }

  return async function make(user: User, plan: SaidPlan, address: string) {
    check(plan);
    const { name, model, instruction, tools, task, tells, capUsd } = plan;
    const { agent } = await agents.provision(user, { name, model, config: { instruction, tools } }, address);
    try {
      // The cap first: the task may be due at once.
      if (capUsd !== null)
        await caps.set(user.id, { scope: 'agent', agentId: agent.id, period: 'month', limitUsd: capUsd });
      const made = task && (await tasks.create(user, { ...task, agentId: agent.id, tells }));
      return { agentId: agent.id, taskId: made?.id ?? null };
    } catch (error) {
      await agents.remove(user, agent.id, address);
      throw error;
    }
  };
}

/** Beyond the trial's own time, for those who wait for their turn. */
const TRY_MS = (TRIED_SECONDS + 45) * 1000;

/** Asks an agent that is not there yet what its task would ask it. */
function createTrying({ backend, models, subscriber }: SayDeps) {
  return async function tryOnce(user: User, plan: SaidPlan, address: string, signal: AbortSignal): Promise<Tried> {
    const { name, model, instruction, tools, task, capUsd } = plan;
    const message = (task?.prompt ?? instruction).trim();
    if (message === '') throw new AppError(400, 'There is nothing to ask it: say what it does');
    const body = {
      name,
      model,
      instruction,
      message,
      tools: knownTools(tools),
      plan: requireEntitlement(subscriber(user), undefined),
      maxUsd: Math.min(capUsd ?? TRIED_USD, TRIED_USD),
    };
    await models.check([model]);
    return reach(backend.as(user, address).call(onBackend.say.tryOnce, { body, timeout: TRY_MS, signal }));
  };
}

export function createSay(deps: SayDeps) {
  const { db, clock, backend, catalogue, subscriber } = deps;
  const costOf = createCosting(deps);

  return {
    async plan(user: User, asked: Asked, address: string, signal: AbortSignal): Promise<Planned> {
      const { sentence, timezone = 'UTC', by = 'model' } = asked;
      if (!isTimeZone(timezone)) throw new AppError(400, 'Invalid timezone');
      requireEntitlement(subscriber(user), undefined);
      const as = backend.as(user, address);
      const offered = await reach(modelsOf(as, catalogue, user.plan));
      const isRuled = by === 'rules' || offered.sandboxOnly;
      const said = isRuled ? understand(sentence) : await byModel(as, offered.default, sentence, clock(), signal);
      const cost = await costOf(user, said, timezone, offered);
      // Two agents of one name cannot be told apart.
      const name = freeName(said.name, await namesLike(db.user(user.id), user.id, said.name), AGENT_NAME_LENGTH);
      return {
        plan: planOf({ ...said, name }, offered.default, timezone, proposedCap(cost.perMonthUsd.high)),
        by: isRuled ? 'rules' : 'model',
        isSandbox: offered.sandboxOnly,
        notes: said.notes,
        cost,
      };
    },
    make: createMaking(deps),
    tryOnce: createTrying(deps),
  };
}
