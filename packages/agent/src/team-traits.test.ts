import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { ownTools, toolsetNames } from '@troupe/domain';
import { createSandbox } from './sandbox/sandbox.ts';
import { startTeam } from './team-testing.ts';
import { web, type Script } from './testing.ts';

/** What a team's document says is what its agents do. */

type Call = { tool: string; args: unknown };

/** Makes the calls at first, then says what came of them. */
const calling =
  (...calls: Call[]): Script =>
  ({ messages }) =>
    messages.at(-1)?.role === 'tool'
      ? messages
          .filter(({ role }) => role === 'tool')
          .map(({ content }) => String(content))
          .join(' | ')
      : { calls };

async function run(t: TestContext, yaml: string, script: Script, content = 'go') {
  const team = await startTeam(yaml, script);
  t.after(() => team.close());
  const answer = await team.agent('root').ask({ to: web, content });
  const names = (at = 0) => team.model.requests[at]?.tools?.map((one) => one.function.name) ?? [];
  const system = String(team.model.requests[0]?.messages[0]?.content);
  return { ...team, answer, names, system };
}

test('the names of own tools are those that the toolsets have', async (t) => {
  for (const toolset of toolsetNames) {
    const { names } = await run(t, `agents: { root: { tools: [${toolset}] } }`, () => 'ok');
    assert.deepEqual(names().toSorted(), ownTools(toolset).toSorted());
  }
});

test('only listed tools are offered, and a call of another finds none', async (t) => {
  const yaml =
    'agents: { root: { toolsets: [{ type: filesystem, tools: [read_file, list_directory] }, { type: think }] } }';
  const call = { tool: 'write_file', args: { path: 'a.txt', content: 'x' } };
  const { names, answer } = await run(t, yaml, calling(call));
  assert.deepEqual(names(), ['read_file', 'list_directory', 'think']);
  assert.match(answer.reply, /There is no tool write_file/);
});

test('a read-only agent has no tool that changes anything', async (t) => {
  const yaml = `
agents:
  root:
    readonly: true
    toolsets: [{ type: filesystem }, { type: shell }, { type: memory }, { type: script, shell: { go: { cmd: 'true' } } }]`;
  const { names } = await run(t, yaml, () => 'ok');
  assert.deepEqual(names(), [
    'read_file',
    'list_directory',
    'directory_tree',
    'search_files',
    'search_files_content',
    'search_memories',
    'get_memories',
  ]);
});

test('permissions: what is denied is not run, what is not named waits for the owner, what is allowed runs', async (t) => {
  const yaml = `
permissions: { deny: ['delete_file', 'write_file:path=secret/*'], allow: ['write_file:path=notes/*'] }
agents: { root: { tools: [filesystem] } }`;
  const write = (file: string): Call => ({ tool: 'write_file', args: { path: file, content: 'x' } });
  const first = [write('notes/a.md'), write('secret/b.md'), { tool: 'delete_file', args: { path: 'notes/a.md' } }];
  const { answer } = await run(t, yaml, calling(...first));
  const [wrote, ...denied] = answer.reply.split(' | ');
  assert.match(wrote ?? '', /^Wrote 1 bytes to notes\/a\.md/);
  assert.deepEqual(denied, ['The owner does not allow write_file.', 'The owner does not allow delete_file.']);

  const { agent, answer: waiting } = await run(t, yaml, calling(write('elsewhere.md')));
  assert.equal(waiting.outcome, 'waiting');
  const root = agent('root');
  const [pending] = await root.store.pendingApprovals();
  await root.decide(pending?.approvalId ?? '', true, 'owner');
  let reply = '';
  for await (const live of root.follow(waiting.sessionId, 0, AbortSignal.timeout(60_000))) {
    if (live.kind === 'event' && live.event.type === 'assistant') reply = live.event.content;
    if (live.kind === 'event' && live.event.type === 'run_ended') break;
  }
  assert.match(reply, /^Wrote 1 bytes to elsewhere\.md/);
});

test('the model is asked as the document says', async (t) => {
  const yaml = `
models:
  main: { provider: openai, model: big, max_tokens: 900, temperature: 0.2, top_p: 0.9, thinking_budget: low }
agents:
  root:
    model: main
    fallback: { models: [anthropic/spare] }
    instruction: Be brief.
    add_date: true
    add_environment_info: true
    add_prompt_files: [AGENTS.md, missing.md]
    structured_output: { name: person, strict: true, schema: { type: object, properties: { name: { type: string } } } }
    toolsets: [{ type: think, model: openai/small }, { type: filesystem, instruction: 'Mind src. {ORIGINAL_INSTRUCTIONS}' }]`;
  const team = await startTeam(yaml, calling({ tool: 'think', args: { thought: 'hm' } }));
  t.after(() => team.close());
  await mkdir(team.folder, { recursive: true });
  await writeFile(path.join(team.folder, 'AGENTS.md'), 'House rules.');
  await team.agent('root').ask({ to: web, content: 'go' });
  const [first, second] = team.model.requests;
  assert.deepEqual(
    [first?.model, first?.max_tokens, first?.temperature, first?.top_p, first?.reasoning, first?.response_format],
    [
      'openai/big',
      900,
      0.2,
      0.9,
      { effort: 'low' },
      {
        type: 'json_schema',
        json_schema: {
          name: 'person',
          strict: true,
          schema: { type: 'object', properties: { name: { type: 'string' } } },
        },
      },
    ],
  );
  assert.equal(second?.model, 'openai/small', 'results of think are read by the small one');
  const system = String(first?.messages[0]?.content);
  assert.match(system, /Today is \d{4}-\d\d-\d\d \(UTC\)\./);
  assert.match(system, /Operating system: Linux/);
  assert.match(system, /<file path="AGENTS\.md">\nHouse rules\.\n<\/file>/);
  assert.match(system, /Mind src\. Files live in your workspace/);
  const { definition } = await team.agent('root').definition();
  assert.deepEqual(definition.config.model.fallbacks, ['anthropic/spare']);
});

test('several models answer in turn', async (t) => {
  let turn = 0;
  const { model } = await run(t, 'agents: { root: { model: "a/one,b/two", tools: [think], max_iterations: 4 } }', () =>
    turn++ < 3 ? { calls: [{ tool: 'think', args: { thought: String(turn) } }] } : 'done',
  );
  assert.deepEqual(
    model.requests.map((one) => one.model),
    ['a/one', 'b/two', 'a/one', 'b/two'],
  );
});

test('a question goes to the model whose examples it is like', async (t) => {
  const yaml = `
models:
  router:
    provider: a
    model: plain
    routing:
      - { model: a/fast, examples: [hello there, good morning] }
      - { model: strong, examples: [debug this code, explain the algorithm] }
  strong: { provider: b, model: strong }
agents: { root: { model: router } }`;
  for (const [question, model] of [
    ['Good morning!', 'a/fast'],
    ['Please debug my code', 'b/strong'],
    ['Weather?', 'a/plain'],
  ] as const) {
    const { model: asked } = await run(t, yaml, () => 'ok', question);
    assert.equal(asked.requests[0]?.model, model, question);
  }
});

test('an agent changes its model among those that are listed, and back', async (t) => {
  const yaml = 'agents: { root: { model: a/one, toolsets: [{ type: model_picker, models: [b/two] }] } }';
  const steps: Call[] = [
    { tool: 'change_model', args: { model: 'c/three' } },
    { tool: 'change_model', args: { model: 'two' } },
    { tool: 'revert_model', args: {} },
  ];
  let turn = 0;
  const { model } = await run(t, yaml, () => {
    const step = steps[turn++];
    return step ? { calls: [step] } : 'done';
  });
  assert.deepEqual(
    model.requests.map((one) => one.model),
    ['a/one', 'a/one', 'b/two', 'a/one'],
  );
});

test('a command runs after a file was written that is like its pattern', async (t) => {
  const reason = await createSandbox().unavailable();
  if (reason !== undefined) return t.skip(reason);
  const yaml = `
agents:
  root:
    toolsets:
      - type: filesystem
        post_edit: [{ path: '*.txt', cmd: 'tr a-z A-Z < "$path" > done && cat done > "$path"' }, { path: '*.bad', cmd: 'echo broken; exit 3' }]`;
  const write = (file: string): Call => ({ tool: 'write_file', args: { path: file, content: 'loud' } });
  const read = { tool: 'read_file', args: { path: 'sub/a.txt' } };
  const { answer } = await run(t, yaml, calling(write('sub/a.txt'), write('b.md'), write('c.bad'), read));
  const [, second, third, fourth] = answer.reply.split(' | ');
  assert.doesNotMatch(second ?? '', /broken/);
  assert.match(third ?? '', /\[echo broken; exit 3\] broken/);
  assert.match(fourth ?? '', /LOUD/);
});

test('a deferred tool is shown once it was looked for', async (t) => {
  const yaml = 'agents: { root: { toolsets: [{ type: think }, { type: todo, defer: [list_todos] }] } }';
  const steps: Call[] = [
    { tool: 'search_tool', args: { query: 'todos' } },
    { tool: 'add_tool', args: { name: 'list_todos' } },
  ];
  let turn = 0;
  const { names } = await run(t, yaml, () => {
    const step = steps[turn++];
    return step ? { calls: [step] } : 'done';
  });
  const before = ['think', 'create_todos', 'update_todo', 'search_tool', 'add_tool'];
  assert.deepEqual([names(0), names(1)], [before, before]);
  assert.ok(names(2).includes('list_todos'));
});

test('an agent elsewhere is asked over A2A', async (t) => {
  const heard: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const { method, params } = JSON.parse(body) as {
        method: string;
        params: { message: { parts: { text: string }[] } };
      };
      heard.push(`${method} ${params.message.parts[0]?.text} ${request.headers['x-key']}`);
      const result = {
        kind: 'task',
        status: { state: 'completed' },
        artifacts: [{ parts: [{ kind: 'text', text: 'B2' }] }],
      };
      response.end(JSON.stringify(heard.length === 1 ? { result } : { error: { message: 'busy' } }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/a2a`;
  const yaml = `agents: { root: { toolsets: [{ type: a2a, name: blue, url: '${url}', headers: { X-Key: k } }] } }`;
  const ask = { tool: 'ask_blue', args: { message: 'your move' } };
  const { answer } = await run(t, yaml, calling(ask, ask));
  assert.equal(answer.reply, 'B2 | The agent refused: busy');
  assert.deepEqual(heard, ['message/send your move k', 'message/send your move k']);
});

test('operations of an OpenAPI document are tools', async (t) => {
  const seen: string[] = [];
  const pet = {
    type: 'object',
    properties: { name: { type: 'string' }, friend: { $ref: '#/components/schemas/Pet' } },
  };
  const json = { 'application/json': { schema: { $ref: '#/components/schemas/Pet' } } };
  const document = {
    openapi: '3.0.0',
    servers: [{ url: '/v1' }],
    components: { schemas: { Pet: pet } },
    paths: {
      '/pets/{id}': {
        get: {
          operationId: 'getPet',
          parameters: [
            { name: 'id', in: 'path' },
            { name: 'full', in: 'query' },
          ],
        },
      },
      '/pets': { post: { operationId: 'addPet', requestBody: { content: json } } },
    },
  };
  const server = createServer((request, response) => {
    if (request.url === '/spec.json') return void response.end(JSON.stringify(document));
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      seen.push(`${request.method} ${request.url} ${request.headers['x-key']} ${body}`);
      response.end('ok');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const yaml = `agents: { root: { toolsets: [{ type: openapi, url: '${base}/spec.json', headers: { X-Key: k } }] } }`;
  const { answer, names } = await run(
    t,
    yaml,
    calling(
      { tool: 'getPet', args: { id: 'a/../b', full: true } },
      { tool: 'addPet', args: { body: { name: 'Rex' } } },
      { tool: 'getPet', args: {} },
    ),
  );
  assert.deepEqual(names(), ['getPet', 'addPet']);
  assert.equal(answer.reply, 'ok | ok | Invalid arguments. id is required.');
  assert.deepEqual(seen, ['GET /v1/pets/a%2F..%2Fb?full=true k ', 'POST /v1/pets k {"name":"Rex"}']);
});

test('a run ends at the document’s iterations', async (t) => {
  let turn = 0;
  const { answer } = await run(t, 'agents: { root: { tools: [think], max_iterations: 2 } }', () => ({
    calls: [{ tool: 'think', args: { thought: String(turn++) } }],
  }));
  assert.deepEqual([answer.outcome, turn], ['limit', 2]);
});

test('a command stands for its text; the log keeps what was said', async (t) => {
  const yaml = `
agents:
  root:
    welcome_message: Hello!
    commands: { fix: { description: Fixes, instruction: 'Fix $1 in $2.' }, list: 'List all.' }`;
  const heard: Script = ({ messages }) => String(messages.at(-1)?.content);
  assert.equal((await run(t, yaml, heard, '/fix typos README')).answer.reply, 'Fix typos in README.');
  assert.equal((await run(t, yaml, heard, '/list by name')).answer.reply, 'List all.\n\nby name');
  assert.equal((await run(t, yaml, heard, '/toString')).answer.reply, '/toString');
});

test('an HTTP interface is called with the model’s arguments, at no other address', async (t) => {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url} ${request.headers['x-key'] ?? ''}`);
    response.end('{"title":"Mate in two"}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const yaml = `
agents:
  root:
    toolsets:
      - type: api
        api_config:
          name: puzzle
          instruction: Gets a puzzle
          endpoint: ${base}/puzzles/\${id}
          headers: { X-Key: k }
          args: { id: { type: string, description: Which } }
          required: [id]`;
  const { answer } = await run(
    t,
    yaml,
    calling(
      { tool: 'puzzle', args: { id: '../7?x' } },
      { tool: 'puzzle', args: {} },
      { tool: 'puzzle', args: { id: '1', host: 'x' } },
    ),
  );
  assert.equal(
    answer.reply,
    '{"title":"Mate in two"} | Invalid arguments. id is required. | Invalid arguments. There is no argument host.',
  );
  assert.deepEqual(seen, ['GET /puzzles/..%2F7%3Fx k']);
});

test('a script runs its command with the arguments as variables', async (t) => {
  const reason = await createSandbox().unavailable();
  if (reason !== undefined) return t.skip(reason);
  const yaml = `
agents:
  root:
    toolsets:
      - type: script
        shell:
          greet: { cmd: 'echo "$GREETING, $who"', env: { GREETING: Hello }, args: { who: { description: Whom } }, required: [who] }`;
  const { answer, names } = await run(t, yaml, calling({ tool: 'greet', args: { who: '"; echo broken out; "' } }));
  assert.deepEqual(names(), ['greet']);
  assert.equal(answer.reply.trim(), 'Hello, "; echo broken out; "');
});
