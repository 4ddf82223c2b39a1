import { usage } from '../problem.mjs';
import { findAgent } from './agents.mjs';

/** @typedef {import('../context.d.mts').Context} Context */

/** @param {Context} context */
export async function usageOf({ options, output, troupe: connect, signal }) {
  const { by = 'day', days } = options;
  if (by !== 'day' && by !== 'model') throw usage('--by is day or model.');
  const query = typeof days === 'string' ? { days } : {};
  const troupe = await connect();
  if (by === 'model') {
    const found = await troupe.call('GET /api/usage/by-model', { query, signal });
    return output.show(found, () => {
      const rows = found.rows.map(({ model, total_tokens: tokens, cost_usd: cost }) => ({
        model,
        tokens,
        usd: cost.toFixed(4),
      }));
      output.table(rows, ['model', 'tokens', 'usd']);
    });
  }
  const found = await troupe.call('GET /api/usage/daily', { query, signal });
  output.show(found, () => {
    const rows = found.rows.map(({ date, total_tokens: tokens, cost_usd: cost, turns }) => ({
      date,
      tokens,
      turns,
      usd: cost.toFixed(4),
    }));
    output.table(rows, ['date', 'tokens', 'turns', 'usd']);
  });
}

/** @param {Context} context */
export async function logs({ words: [word], output, troupe: connect, signal }) {
  const troupe = await connect();
  const { id } = await findAgent(troupe, word, signal);
  const found = await troupe.call('GET /api/agents/:id/logs', { params: { id }, signal });
  output.show(found, () => {
    for (const { timestamp, level, message } of found.logs) output.line(`${timestamp} ${level.padEnd(5)} ${message}`);
  });
}
