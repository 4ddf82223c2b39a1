import type { AgentDefinition } from '@troupe/domain';
import { narrow } from './limits.ts';
import type { Acting, RunDeps, RunLog } from './run.ts';

/**
 * A conversation that was handed over: it stays in the log of the agent that it began with, and another one answers in it,
 * with its own instruction, model, tools and files.
 */

/** The other's definition over the same log. */
class LentLog implements RunLog {
  readonly definition: AgentDefinition;
  readonly #log: RunLog;

  constructor(log: RunLog, definition: AgentDefinition) {
    this.#log = log;
    const limits = narrow(log.definition.limits, definition.limits);
    this.definition = { ...definition, limits };
  }

  get sessionId(): string {
    return this.#log.sessionId;
  }

  // What was found on the way is of the other's memory.
  takeRecalled(): undefined {
    return undefined;
  }

  events: RunLog['events'] = () => this.#log.events();
  tokensToday: RunLog['tokensToday'] = () => this.#log.tokensToday();
  commit: RunLog['commit'] = (...given) => this.#log.commit(...given);
  conclude: RunLog['conclude'] = (...given) => this.#log.conclude(...given);
  refresh: RunLog['refresh'] = () => this.#log.refresh();
}

/** Who takes the next step, and with what. One that cannot be had leaves it to the agent whose conversation it is. */
export async function onStage(deps: RunDeps, run: RunLog, acting: Acting | undefined) {
  if (!acting || acting.agentId === deps.agentId) return { deps, run };
  const lent = await deps.lend?.(acting).catch((err: unknown) => {
    deps.log.warn({ err, agentId: acting.agentId }, 'a conversation was handed to an agent that cannot be had now');
    return undefined;
  });
  if (!lent) return { deps, run };
  const { store, audience, background, onRun, newId, now, compactAt } = deps;
  const its = { ...lent.deps, lend: deps.lend, audience, newId, now, compactAt };
  // What it begins belongs to this conversation.
  const kept = { ...(background && { background }), ...(onRun && { onRun }) };
  return { deps: { ...its, ...kept, store: lent.deps.store ?? store }, run: new LentLog(run, lent.definition) };
}
