import { setTimeout as delay } from 'node:timers/promises';
import { EXIT, Problem, usage } from '../problem.mjs';
import { findAgent } from './agents.mjs';

/** @typedef {import('../context.d.mts').Context} Context */

const LOOK_MS = 500;

/**
 * Tries all cases of an agent and waits for the last of them. Ends with 1 when one has not passed.
 * @param {Context} context
 */
export async function evaluate({ words: [word], options, output, troupe: connect, signal }) {
  if (!word) throw usage('Which agent?');
  const troupe = await connect();
  const { id } = await findAgent(troupe, word, signal);
  const cost = options['max-cost'];
  const maxCostUsd = typeof cost === 'string' ? Number(cost) : undefined;
  if (maxCostUsd !== undefined && !(maxCostUsd >= 0)) throw usage('--max-cost is an amount in dollars.');
  const body = maxCostUsd === undefined ? {} : { maxCostUsd };
  const started = await troupe.call('POST /api/agents/:id/evaluations', { params: { id }, body, signal });
  const params = { id, evaluationId: started.id };
  try {
    let found = await troupe.call('GET /api/agents/:id/evaluations/:evaluationId', { params, signal });
    while (found.status === 'running') {
      await delay(LOOK_MS, undefined, { signal });
      found = await troupe.call('GET /api/agents/:id/evaluations/:evaluationId', { params, signal });
    }
    output.show(found, () => {
      const rows = found.results.map(({ name, status, checks, error }) => ({
        name,
        status,
        says: (error ?? checks.find(({ passed }) => passed !== true)?.says ?? '').slice(0, 100),
      }));
      output.table(rows, ['name', 'status', 'says']);
    });
    const left = found.results.filter(({ status }) => status !== 'passed').length;
    if (found.status !== 'passed')
      throw new Problem(`${left} of ${found.results.length} cases have not passed`, EXIT.failed);
  } catch (error) {
    // Whoever stops waiting wants no more of it to be paid.
    if (signal.aborted) await troupe.call('POST /api/agents/:id/evaluations/:evaluationId/stop', { params });
    throw error;
  }
}
