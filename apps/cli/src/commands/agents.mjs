import { EXIT, Problem, usage } from '../problem.mjs';

/** @typedef {import('../context.d.mts').Context} Context */
/** @typedef {import('@troupe/client').Troupe} Troupe */

/**
 * The agent of that id, or the only one of that name.
 * @param {Troupe} troupe
 * @param {string | undefined} word
 * @param {AbortSignal} signal
 */
export async function findAgent(troupe, word, signal) {
  if (!word) throw usage('Which agent?');
  /** @type {import('@troupe/client').Endpoints['GET /api/agents']['reply']['agents']} */
  const all = [];
  for (;;) {
    const page = await troupe.call('GET /api/agents', { query: { limit: '1000', offset: String(all.length) }, signal });
    all.push(...page.agents);
    if (!page.hasMore || page.agents.length === 0) break;
  }
  const byId = all.find(({ id }) => id === word);
  if (byId) return byId;
  const named = all.filter(({ name }) => name.toLowerCase() === word.toLowerCase());
  if (named.length > 1) throw new Problem(`${named.length} agents have the name ${word}: give an id`, EXIT.usage);
  if (named[0] === undefined) throw new Problem(`There is no agent ${word}`, EXIT.notFound);
  return named[0];
}

/** @param {Context} context */
export async function agents({ words: [action = 'list', word], options, output, troupe: connect, signal }) {
  const troupe = await connect();
  switch (action) {
    case 'list': {
      const { agents: own, ...rest } = await troupe.call('GET /api/agents', { signal });
      return output.show({ agents: own, ...rest }, () => {
        if (own.length === 0) output.line('No agents yet: troupe agents create NAME');
        else output.table(own, ['id', 'name', 'status', 'answers']);
      });
    }
    case 'create': {
      if (!word) throw usage('What is its name?');
      const { model, instructions } = options;
      const { agent } = await troupe.call('POST /api/agents/provision', {
        body: {
          name: word,
          ...(typeof model === 'string' && { model }),
          ...(typeof instructions === 'string' && { config: { instructions } }),
        },
        timeout: 60_000,
        signal,
      });
      return output.show(agent, () => output.line(`${agent.id}  ${agent.name} is ${agent.status}`));
    }
    case 'show': {
      const agent = await findAgent(troupe, word, signal);
      return output.show(agent, () => {
        for (const [name, value] of Object.entries(agent))
          if (name !== 'websocketUrl' && value !== null) output.line(`${name.padEnd(10)} ${String(value)}`);
      });
    }
    case 'delete': {
      const { id, name } = await findAgent(troupe, word, signal);
      if (!options['yes']) throw usage(`All of ${name} (${id}) would be gone: say --yes.`);
      const done = await troupe.call('DELETE /api/agents/:id', { params: { id }, timeout: 60_000, signal });
      return output.show(done, () => output.line(`${name} is deleted`));
    }
    default:
      throw usage(`troupe agents has no ${action}.`);
  }
}
