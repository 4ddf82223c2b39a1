import { gateway, type SessionStep } from '@troupe/contract';
import { stepsOfRun as ownSteps } from '@troupe/domain';
import { AppError, type BackendClient, type User } from '@troupe/kernel';
import { reach } from '../platform/reach.ts';

const RUN_PAGES = 10;
const PAGE = 500;

export interface RunPlace {
  agentId: string;
  sessionId: string;
  /** The step that it began with. */
  run: number;
}

/** The steps of a finished run, its prompt first; without its end. */
export async function stepsOfRun(
  backend: BackendClient,
  user: User,
  { agentId, sessionId: id, run }: RunPlace,
  address: string,
): Promise<SessionStep[]> {
  const { call } = backend.as(user, address);
  const steps: SessionStep[] = [];
  for (let page = 0, after = run - 1; page < RUN_PAGES; page += 1) {
    const query = { after, limit: PAGE };
    const { events, hasMore } = await reach(call(gateway.conversations.get, { params: { agentId, id }, query }));
    steps.push(...events);
    if (steps[0]?.seq !== run || steps[0].type !== 'user') throw new AppError(404, 'Run not found');
    const own = ownSteps(steps, run);
    if (own.at(-1)?.type === 'run_ended') return own.slice(0, -1);
    if (!hasMore) throw new AppError(409, 'The run is still going on');
    after = events.at(-1)?.seq ?? after;
  }
  throw new AppError(409, 'The run has too many steps to be written down');
}
