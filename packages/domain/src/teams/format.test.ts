import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { stringify } from 'yaml';
import * as format from './format.ts';
import type { Rule } from './format.ts';
import { readTeamYaml, teamYaml } from './team-yaml.ts';
import type { TeamReading } from './team.ts';

/** Every key of the format's table does what the table says: it changes the team, or is named in the reply. */

type Ok = Extract<TeamReading, { ok: true }>;
type Document = Record<string, unknown>;

const read = (document: unknown): TeamReading => readTeamYaml(stringify(document));

function taken(document: unknown): Ok {
  const reading = read(document);
  assert.ok(reading.ok, reading.ok ? '' : reading.error);
  return reading;
}

/** A value for each key that is carried; what a key without one is given does not matter, it is named all the same. */
const SAMPLES: Readonly<Record<string, unknown>> = {
  'team.version': '2',
  'team.name': 'Crew',
  'team.description': 'Does things',
  'team.metadata': { author: 'me' },
  'team.agents': { root: {}, other: {} },
  'team.models': { m: { provider: 'p', model: 'x' } },
  'team.mcps': { docs: { command: 'docs-server' } },
  'team.permissions': { deny: ['shell'] },
  'team.providers': { mine: { base_url: 'https://models.example/v1' } },
  'team.rag': { guide: { docs: ['./docs'] } },
  'metadata.author': 'me',
  'metadata.license': 'MIT',
  'metadata.readme': 'Read me',
  'metadata.description': 'Described',
  'metadata.version': '1.2',
  'metadata.tags': ['a'],
  'agent.role': 'Scout',
  'agent.tools': ['shell'],
  'agent.memory_shared': false,
  'agent.description': 'Looks',
  'agent.instruction': 'Look around.',
  'agent.model': 'openai/a,anthropic/b',
  'agent.fallback': { models: ['openai/b'] },
  'agent.toolsets': [{ type: 'todo' }],
  'agent.sub_agents': ['other'],
  'agent.skills': ['commit'],
  'agent.welcome_message': 'Hello',
  'agent.commands': [{ fix: 'Fix it.' }],
  'agent.add_date': true,
  'agent.add_environment_info': true,
  'agent.add_prompt_files': ['AGENTS.md'],
  'agent.max_iterations': 7,
  'agent.structured_output': { name: 'person', schema: { type: 'object' } },
  'agent.readonly': true,
  'agent.handoffs': ['other'],
  'agent.force_handoff': 'other',
  'agent.rag': ['guide'],
  'fallback.models': ['openai/b'],
  'model.max_tokens': 100,
  'model.temperature': 0.5,
  'model.top_p': 0.9,
  'model.frequency_penalty': 0.1,
  'model.presence_penalty': 0.2,
  'model.parallel_tool_calls': false,
  'model.thinking_budget': 2048,
  'model.base_url': 'https://models.example/v1',
  'model.provider_opts': { interleaved_thinking: true },
  'rag.tool': { description: 'About it' },
  'rag.description': 'About it',
  'rag.docs': ['./docs'],
  'rag.strategies': [{ type: 'bm25', k1: 2 }],
  'rag.results': { limit: 3 },
  'rag.tool.description': 'About it',
  'rag.tool.instruction': 'Cite it.',
  'rag.meaning.docs': ['./docs'],
  'rag.meaning.embedding_model': 'openai/other',
  'rag.meaning.model': 'openai/another',
  'rag.meaning.similarity_metric': 'cosine_similarity',
  'rag.meaning.limit': 3,
  'rag.meaning.chunking': { size: 500 },
  'rag.strategy.docs': ['./docs'],
  'rag.strategy.k1': 2,
  'rag.strategy.b': 0.5,
  'rag.strategy.threshold': 0.3,
  'rag.strategy.limit': 3,
  'rag.strategy.chunking': { size: 500 },
  'rag.chunking.size': 500,
  'rag.chunking.overlap': 50,
  'rag.results.limit': 3,
  'rag.results.fusion': { strategy: 'rrf', k: 60 },
  'rag.ref': 'other',
  'toolset.instruction': 'Be careful. {ORIGINAL_INSTRUCTIONS}',
  'toolset.tools': ['read_file'],
  'toolset.model': 'openai/small',
  'toolset.defer': ['read_file'],
  'toolset.toon': 'read_.*,list',
  'mcp.args': ['--all'],
  'mcp.env': { A: 'b' },
  'mcp.name': 'docs',
  'mcp.tools': ['search'],
  'model.routing': [{ model: 'openai/small', examples: ['hello'] }],
  'toolset.post_edit': [{ path: '*.go', cmd: 'gofmt -w $path' }],
  'model_picker.models': ['openai/big'],
  'openapi.url': 'https://api.example/v2.json',
  'openapi.headers': { 'X-Key': 'k' },
  'a2a.name': 'blue',
  'a2a.url': 'https://agents.example/b',
  'a2a.headers': { 'X-Key': 'k' },
  'todo.shared': true,
  'memory.path': './m.db',
};

/** Read for the sake of files that have them: they change nothing here, as the table says. */
const WITHOUT_EFFECT = new Set([
  'team.version',
  'team.models',
  'team.mcps',
  'team.providers',
  'todo.shared',
  'model.track_usage',
  'model.token_key',
  'rag.strategy.database',
  'rag.meaning.database',
  'rag.meaning.vector_dimensions',
  'rag.meaning.similarity_metric',
  'rag.meaning.batch_size',
  'rag.meaning.embedding_batch_size',
  'rag.meaning.max_embedding_concurrency',
  'rag.meaning.max_indexing_concurrency',
  'rag.chunking.respect_word_boundaries',
  'rag.results.deduplicate',
  'rag.results.fusion',
]);

function check(
  place: string,
  rules: Readonly<Record<string, Rule>>,
  given: Document,
  put: (given: Document) => Document,
) {
  const before = taken(put(given));
  for (const [key, { fate, says }] of Object.entries(rules)) {
    const name = `${place}.${key}`;
    if (Object.hasOwn(given, key) && !Object.hasOwn(SAMPLES, name)) continue;
    const reading = read(put({ ...given, [key]: SAMPLES[name] ?? 'something' }));
    if (fate === 'refused') {
      assert.ok(!reading.ok, `${name} is taken`);
      assert.ok(reading.error.includes(key) && reading.error.endsWith(says), reading.error);
      continue;
    }
    if (WITHOUT_EFFECT.has(name) && !Object.hasOwn(SAMPLES, name)) continue;
    assert.ok(reading.ok, `${name}: ${reading.ok ? '' : reading.error}`);
    const named = reading.notCarried.filter(({ at }) => at.includes(key));
    if (fate === 'lost') {
      assert.deepEqual(
        named.map((one) => one.says),
        [says],
        name,
      );
      continue;
    }
    if (fate === 'asked') {
      assert.ok(
        reading.toGive.some((one) => one.says === says),
        name,
      );
      continue;
    }
    assert.deepEqual(named, [], name);
    if (!WITHOUT_EFFECT.has(name)) assert.notDeepEqual(reading.team, before.team, `${name} is dropped`);
    assert.deepEqual(taken(JSON.parse(JSON.stringify(put(given)))), before);
    const again = readTeamYaml(teamYaml(reading.team));
    assert.ok(again.ok, `${name}: ${again.ok ? '' : again.error}`);
    assert.deepEqual(again.team, reading.team, `${name} is lost when the team is written down`);
  }
}

const other = { instruction: 'Help.' };
const withAgent = (agent: Document): Document => ({ rag: { guide: {}, other: {} }, agents: { root: agent, other } });

test('every key of a team, its metadata, agents and models is carried, named as lost, or refused', () => {
  check('team', format.TEAM_KEYS, { agents: { root: {} } }, (given) => given);
  check('metadata', format.METADATA_KEYS, {}, (metadata) => ({ metadata, agents: { root: {} } }));
  check('agent', format.AGENT_KEYS, { sub_agents: [] }, withAgent);
  check('fallback', format.FALLBACK_KEYS, {}, (fallback) => withAgent({ fallback }));
  const model = { provider: 'amazon-bedrock', model: 'x', thinking_budget: 1024 };
  check('model', format.MODEL_KEYS, model, (m) => ({ models: { m }, ...withAgent({ model: 'm' }) }));
});

test('every key of a source of documents is carried or named as lost', () => {
  const source = (guide: Document): Document => ({ rag: { guide }, agents: { root: { rag: ['guide'] } } });
  const strategy = (one: Document): Document => source({ strategies: [one] });
  const bm25 = { type: 'bm25', chunking: {} };
  check('rag', format.RAG_KEYS, {}, source);
  check('rag.tool', format.RAG_TOOL_KEYS, {}, (tool) => source({ tool }));
  check('rag.strategy', format.RAG_STRATEGY_KEYS, bm25, strategy);
  const meaning = { type: 'chunked-embeddings', embedding_model: 'openai/e', chunking: {} };
  check('rag.meaning', format.RAG_MEANING_KEYS, meaning, strategy);
  check('rag.chunking', format.RAG_CHUNKING_KEYS, {}, (chunking) => strategy({ ...bm25, chunking }));
  check('rag.results', format.RAG_RESULT_KEYS, {}, (results) => source({ results }));
});

const REQUIRED: Readonly<Record<string, Document>> = {
  mcp: { command: 'docs-server' },
  model_picker: { models: ['openai/small'] },
  openapi: { url: 'https://api.example/openapi.json' },
  a2a: { url: 'https://agents.example/a' },
  script: { shell: { hello: { cmd: 'echo hello' } } },
  api: { api_config: { name: 'puzzle', endpoint: 'https://api.example/puzzle' } },
  rag: { ref: 'guide' },
};

test('every toolset is carried or named as lost, and so is each of its keys', () => {
  for (const [type, { fate, says }] of Object.entries(format.TOOLSETS)) {
    const put = (toolset: Document): Document => withAgent({ toolsets: [toolset] });
    const given = { type, ...REQUIRED[type] };
    if (fate === 'lost') {
      const { notCarried, team } = taken(put(given));
      assert.deepEqual(notCarried, [{ at: `agents.root.toolsets.0 (${type})`, says }]);
      assert.deepEqual([team.agents[0]?.tools, team.agents[0]?.mcp], [[], []]);
      continue;
    }
    assert.notDeepEqual(taken(put(given)).team, taken(withAgent({})).team, type);
    const { type: _type, remote: _remote, tools, config: _config, ...rest } = format.toolsetKeys(type);
    const { ref, ...keys } = rest;
    const place = type === 'filesystem' ? 'toolset' : type;
    const own = type === 'filesystem' || type === 'mcp' ? { ...keys, tools: tools! } : keys;
    const { instruction: _i, model: _m, defer: _d, ...apart } = own;
    check(place, type === 'filesystem' ? own : type === 'rag' ? { ref: ref!, tools: tools! } : apart, given, put);
  }
});

test('a key that nobody knows is an error wherever it stands', () => {
  const documents: [at: string, document: Document][] = [
    ['x', { x: 1, agents: { root: {} } }],
    ['metadata.x', { metadata: { x: 1 }, agents: { root: {} } }],
    ['agents.root.x', withAgent({ x: 1 })],
    ['agents.root.fallback.x', withAgent({ fallback: { x: 1 } })],
    ['models.m.x', { models: { m: { provider: 'p', model: 'q', x: 1 } }, ...withAgent({ model: 'm' }) }],
    ['mcps.a.x', { mcps: { a: { command: 'b', x: 1 } }, ...withAgent({}) }],
    [
      'agents.root.toolsets.0.remote.x',
      withAgent({ toolsets: [{ type: 'mcp', remote: { url: 'http://a.example', x: 1 } }] }),
    ],
    ...Object.keys(format.TOOLSETS)
      .filter((type) => format.TOOLSETS[type]?.fate === 'carried')
      .map((type): [string, Document] => [
        'agents.root.toolsets.0.x',
        withAgent({ toolsets: [{ type, ...REQUIRED[type], x: 1 }] }),
      ]),
  ];
  for (const [at, document] of documents) {
    const reading = read(document);
    assert.ok(!reading.ok, at);
    assert.ok(reading.error.startsWith(`Invalid team: ${at}: unknown key; known are `), reading.error);
  }
});

test('servers by reference: of the document, of the catalogue, and one that is not known', () => {
  const { team, notCarried, toGive } = taken({
    mcps: { hub: { ref: 'docker:github', env: { TOKEN: '${GITHUB_TOKEN}' }, tools: ['a', 'b'] } },
    ...withAgent({
      toolsets: [
        { type: 'mcp', ref: 'hub', tools: ['a'] },
        { type: 'mcp', ref: 'docker:duckduckgo' },
        { type: 'mcp', ref: 'docker:no-such-server' },
        { type: 'mcp', ref: 'docker:fetch' },
        {
          type: 'mcp',
          remote: { url: 'https://mcp.example/sse', transport_type: 'sse', headers: { Auth: 'Bearer ${env.T}' } },
        },
        { type: 'mcp', command: 'docker', args: ['mcp', 'gateway', 'run'] },
      ],
    }),
  });
  const [root] = team.agents;
  assert.deepEqual(
    root?.mcp.map(({ name, command, remote, env, tools }) => [
      name,
      command ?? remote?.url,
      env ?? remote?.headers,
      tools,
    ]),
    [
      ['hub', 'https://api.githubcopilot.com/mcp/', undefined, ['a']],
      ['duckduckgo', 'uvx', undefined, undefined],
      ['fetch-server', 'uvx', undefined, undefined],
      ['mcp4', 'https://mcp.example/sse', undefined, undefined],
    ],
  );
  assert.deepEqual(
    notCarried.map(({ at }) => at),
    ['agents.root.toolsets.2.ref', 'agents.root.toolsets.5'],
  );
  // A placeholder is never sent as if it were the secret.
  assert.ok(!JSON.stringify(team).includes('${'));
  assert.deepEqual(
    toGive.filter(({ says }) => says.includes('is not in the file')).map(({ at }) => at),
    ['agents.root.toolsets.0.env.TOKEN', 'agents.root.toolsets.4.remote.headers.Auth'],
  );
});

test('an allow-list names tools of its toolset; one that is not here is told and opens nothing', () => {
  const { team, notCarried } = taken(
    withAgent({ toolsets: [{ type: 'filesystem', tools: ['read_multiple_files', 'launch'] }] }),
  );
  assert.deepEqual(team.agents[0]?.traits?.offered, { filesystem: ['read_file'] });
  assert.match(notCarried[0]?.says ?? '', /there is no tool launch in filesystem/);
});

test('agents share a memory when they name the same path', () => {
  const memory = (path: string) => ({ toolsets: [{ type: 'memory', path }] });
  const { team } = taken({ agents: { root: memory('a'), b: memory('a'), c: memory('c'), d: {} } });
  assert.deepEqual(
    team.agents.map(({ memoryShared }) => memoryShared),
    [true, true, false, true],
  );
});

const NAMES = { carried: 'yes', asked: 'to be given', lost: 'left out, named', refused: 'refused' } as const;

const row = (name: string, { fate, says }: Rule): string =>
  `| \`${name}\` | ${NAMES[fate]} | ${says.replace(/^./, (first) => first.toUpperCase()).replace(/([^.])$/, '$1.')} |`;

const rows = (rules: Readonly<Record<string, Rule>>, before = ''): string[] =>
  Object.entries(rules).map(([key, rule]) => row(`${before}${key}`, rule));

const table = (head: string, lines: string[]): string => [`| ${head} | Read | |`, '|---|---|---|', ...lines].join('\n');

test('the table of docs/teams.md is the reader’s', async () => {
  const page = await readFile(new URL('../../../../docs/teams.md', import.meta.url), 'utf8');
  const { type: _type, ...common } = format.toolsetKeys('think');
  const { shared: _shared, ...everywhere } = common;
  const tables = [
    table('Of the document', [...rows(format.TEAM_KEYS), ...rows(format.METADATA_KEYS, 'metadata.')]),
    table('Of an agent', [...rows(format.AGENT_KEYS), ...rows(format.FALLBACK_KEYS, 'fallback.')]),
    table('Of a model', [
      ...rows(format.MODEL_KEYS),
      ...rows(format.PROVIDER_OPTS, 'provider_opts.'),
      ...rows(format.PROVIDER_KEYS, 'providers.*.'),
    ]),
    table('Of a source of documents', [
      ...rows(format.RAG_KEYS),
      ...rows(format.RAG_TOOL_KEYS, 'tool.'),
      ...rows(format.RAG_STRATEGY_KEYS, 'strategies.'),
      ...rows(format.RAG_MEANING_KEYS, 'strategies (by meaning).'),
      ...rows(format.RAG_CHUNKING_KEYS, 'strategies.chunking.'),
      ...rows(format.RAG_RESULT_KEYS, 'results.'),
    ]),
    table('Toolset', rows(format.TOOLSETS)),
    table('Of a toolset', [
      ...rows(everywhere, '*.'),
      ...Object.entries(format.TOOLSETS).flatMap(([type, { keys }]) => rows(keys, `${type}.`)),
    ]),
  ];
  for (const expected of tables) assert.ok(page.includes(expected), `docs/teams.md lacks this table:\n${expected}`);
});
