import type { Kept } from '../agent.ts';
import type { BackgroundTask } from '../store/background.ts';
import { sendJson, whole, type Exchange } from './exchange.ts';

/** Work that the agent has in the background, as its owner sees it. */

/** Without what is between the agent and its tasks. */
function shown(task: BackgroundTask) {
  const { limits: _limits, tells: _tells, ...rest } = task;
  return rest;
}

export async function listTasks(exchange: Exchange<Kept>): Promise<void> {
  const { agent, query } = exchange;
  const limit = whole(query, 'limit', 50, 100);
  const sessionId = query.get('session') ?? undefined;
  const offset = whole(query, 'offset', 0, 1e6);
  const found = await agent.store.tasks({ limit: limit + 1, offset, ...(sessionId !== undefined && { sessionId }) });
  sendJson(exchange, { tasks: found.slice(0, limit).map(shown), hasMore: found.length > limit });
}

export async function readTask(exchange: Exchange<Kept>): Promise<void> {
  sendJson(exchange, { task: shown(await exchange.agent.task(exchange.params[0] ?? '')) });
}

export async function stopTask(exchange: Exchange): Promise<void> {
  const stopped = await exchange.agent.stopTask(exchange.params[0] ?? '', exchange.principal.kind);
  sendJson(exchange, { success: true, stopped });
}
