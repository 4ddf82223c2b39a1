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

test('a search by meaning is named, and its documents are searched by words', () => {
  const embeddings = { type: 'chunked-embeddings', embedding_model: 'openai/e', docs: ['./more'], anything: 1 };
  const { team, notCarried, toGive } = taken({
    rag: { guide: { docs: ['./docs'], strategies: [embeddings] } },
    agents: { root: { rag: ['guide'] } },
  });
  assert.deepEqual(team.knowledge?.[0]?.docs, ['./docs', './more']);
  assert.deepEqual(notCarried, [
    { at: 'rag.guide.strategies.0 (chunked-embeddings)', says: 'documents are found by their words, not by meaning' },
  ]);
  assert.equal(toGive.length, 2);
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
