import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTeam, type TeamReading } from './team.ts';

/** Documents, providers and gateways of a document, and what they are here. */

type Ok = Extract<TeamReading, { ok: true }>;

function taken(document: unknown): Ok {
  const reading = readTeam(document);
  assert.ok(reading.ok, reading.ok ? '' : reading.error);
  return reading;
}

test('a search by meaning keeps its model, and what it says beside that is carried or named', () => {
  const embeddings = {
    type: 'semantic-embeddings',
    embedding_model: 'small',
    docs: ['./more'],
    chunking: { size: 800 },
    similarity_metric: 'euclidean',
    chat_model: 'openai/gpt-5',
    anything: 1,
  };
  const { team, notCarried, toGive } = taken({
    models: { small: { provider: 'openai', model: 'text-embedding-3-small' } },
    rag: { guide: { docs: ['./docs'], strategies: [embeddings] } },
    agents: { root: { rag: ['guide'] } },
  });
  assert.deepEqual(team.knowledge, [
    {
      name: 'guide',
      description: '',
      docs: ['./docs', './more'],
      tuning: { size: 800 },
      embeddings: 'openai/text-embedding-3-small',
    },
  ]);
  assert.deepEqual(
    notCarried.map(({ at }) => at),
    ['anything', 'chat_model', 'similarity_metric'].map((key) => `rag.guide.strategies.0.${key}`),
  );
  assert.match(toGive[0]?.says ?? '', /texts of guide .* go to openai\/text-embedding-3-small, on your account/);
  assert.equal(toGive.length, 3);
});

test('of several ways to search the first of each counts, and others are named', () => {
  const reading = taken({
    rag: {
      guide: {
        strategies: [
          { type: 'chunked-embeddings', embedding_model: 'openai/a', limit: 9, chunking: { size: 700 } },
          { type: 'bm25', k1: 2, limit: 3 },
          { type: 'chunked-embeddings', embedding_model: 'openai/b' },
          { type: 'chunked-embeddings' },
          { type: 'graph' },
        ],
      },
    },
    agents: { root: { rag: ['guide'] } },
  });
  const [guide] = reading.team.knowledge ?? [];
  assert.deepEqual([guide?.tuning, guide?.embeddings], [{ k1: 2, limit: 3 }, 'openai/a']);
  assert.deepEqual(
    reading.notCarried.map(({ at, says }) => [at, says]),
    [
      ['rag.guide.strategies.3', 'it names no model: documents are found by their words'],
      ['rag.guide.strategies.4 (graph)', 'documents are found by their words'],
      ['rag.guide.strategies', 'the first search by meaning counts for all'],
      ['rag.guide.strategies', 'limit and chunking of the search by words count for that by meaning'],
    ],
  );
});

test('a source that nobody has is refused', () => {
  const unknown = readTeam({ rag: {}, agents: { root: { rag: ['gone'] } } });
  assert.equal(!unknown.ok && unknown.error, 'Invalid team: agents.root.rag: gone is not among rag');
});

test('a model of a server of its own is that of a provider which is to be made', () => {
  const { team, toGive } = taken({
    providers: {
      my_gateway: { base_url: 'https://gateway.example/', token_key: 'GATE', api_type: 'openai_responses' },
    },
    models: {
      hub: { provider: 'openai', model: 'gpt-5', base_url: 'https://models.hub.example/v1', token_key: 'HUB' },
    },
    agents: { root: { model: 'my_gateway/gpt-4o' }, other: { model: 'hub' } },
  });
  assert.deepEqual(
    team.agents.map(({ model }) => model),
    ['my-gateway/gpt-4o', 'models-hub-example/gpt-5'],
  );
  assert.deepEqual(toGive, [
    {
      at: 'providers.my_gateway',
      says: 'an administrator makes a provider named my-gateway with the address https://gateway.example/ and the key that GATE stands for',
    },
    {
      at: 'models.hub.base_url',
      says: 'an administrator makes a provider named models-hub-example with the address https://models.hub.example/v1 and the key that HUB stands for',
    },
  ]);
});

test('Docker’s gateway is the servers that it is told to run; settings are arguments, to be given, or named', () => {
  const { team, notCarried, toGive } = taken({
    agents: {
      root: {
        toolsets: [
          { type: 'mcp', command: 'docker', args: ['mcp', 'gateway', 'run', '--servers=duckduckgo,filesystem'] },
          {
            type: 'mcp',
            ref: 'docker:inspektor-gadget',
            config: { kubeconfig: 'x', 'gadget-images': 'trace_dns', more: 1 },
          },
        ],
      },
    },
  });
  assert.deepEqual(
    team.agents[0]?.mcp.map(({ name, args }) => [name, args]),
    [
      ['duckduckgo', ['duckduckgo-mcp-server']],
      ['filesystem-server', ['-y', '@modelcontextprotocol/server-filesystem', '.']],
      ['inspektor-gadget', ['-gadget-discoverer=artifacthub', '-gadget-images=trace_dns']],
    ],
  );
  assert.deepEqual(
    notCarried.map(({ at }) => at),
    ['agents.root.toolsets.1.config.more'],
  );
  assert.ok(toGive.some(({ at }) => at === 'agents.root.toolsets.1.config.kubeconfig'));
});
