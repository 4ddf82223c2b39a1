import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { begin, fences, run, snippets, type Where } from '@troupe/testing/docs/snippets';
import { needs } from '@troupe/testing/machine/needs';
import { freePorts, listens } from '@troupe/testing/processes/program';
import { send } from '@troupe/testing/services/people';
import { startWorld, type World } from '@troupe/testing/services/world';

/**
 * Every snippet of docs/clients.md does what the page says; those of payments are in apps/web/src/money/gateway/tip20.test.ts,
 * that of traces is in traces.test.ts.
 */

let world: World;
let home: string;
let agentId: string;
before(async () => {
  world = await startWorld();
  home = mkdtempSync(path.join(tmpdir(), 'troupe-docs-'));
  agentId = (await asOwner('/api/agents/provision', { name: 'Hedy' })).agent.id as string;
});
after(async () => {
  await world.stop();
  rmSync(home, { recursive: true, force: true });
});

async function asOwner(to: string, body: object) {
  const headers = { authorization: `Bearer ${world.user.key}` };
  const answer = await send(world.services.web + to, 'POST', body, headers);
  assert.ok(answer.status < 300, JSON.stringify(answer.body));
  return answer.body;
}

const where = (more: Partial<Where> = {}): Where => ({
  home,
  ...more,
  addresses: {
    'http://127.0.0.1:3001': world.services.backend,
    'http://127.0.0.1:3000': world.services.web,
    '<agentId>': agentId,
    ...more.addresses,
  },
  env: { TROUPE_KEY: world.user.key, ...more.env },
});

const ELSEWHERE = new Set(['Paying for calls', 'Paying on Tempo', 'Being told', 'Traces']);

test('there is one for each client, and none that is not run', () => {
  assert.deepEqual(
    snippets.map(({ title }) => title),
    [
      'OpenAI',
      'Anthropic',
      'Managed Agents',
      'AI SDK',
      'OpenAI Agents',
      'LangChain',
      'LlamaIndex',
      'The platform’s own client',
      'The terminal',
      'curl',
      'Claude Code',
      'Codex',
      'Being told',
      'Paying for calls',
      'Paying on Tempo',
      'A2A',
      'AG-UI',
      'MCP',
      'Generated clients',
      'Metrics',
      'Traces',
    ],
  );
  assert.equal(snippets.length, fences);
  for (const { title, code } of snippets) assert.ok(code.trim().split('\n').length <= 6, title);
});

const SAYS: Readonly<Record<string, RegExp>> = {
  MCP: /No agents\.|"status":"running"/,
  'Generated clients': /postV1ChatCompletions/,
  Metrics: /^$/,
};

for (const snippet of snippets.filter(({ title }) => !ELSEWHERE.has(title))) {
  const { title, program } = snippet;
  test(title, { skip: program !== undefined && needs(program === 'promtool' ? program : 'the judges') }, async () => {
    assert.match(await run(snippet, where()), SAYS[title] ?? /Hello from the provider\./);
  });
}

test('Being told', async () => {
  const [port] = (await freePorts(1)) as [number];
  const url = `http://127.0.0.1:${port}/`;
  const { webhook, secret } = await asOwner('/api/webhooks', { url, events: ['run.finished'] });
  const snippet = snippets.find(({ title }) => title === 'Being told')!;
  const child = begin(snippet, where({ addresses: { '8080': String(port) }, env: { TROUPE_WEBHOOK_SECRET: secret } }));
  try {
    let said = '';
    const heard = new Promise<void>((resolve, reject) => {
      child.stdout!.on('data', (text: Buffer) => {
        said += text.toString();
        if (said.includes('\n')) resolve();
      });
      child.stderr!.on('data', (text: Buffer) => reject(new Error(text.toString())));
    });
    while (child.exitCode === null && !(await listens(port))) await delay(50);
    await asOwner(`/api/webhooks/${webhook.id}/test`, {});
    await heard;
    assert.match(said, /^webhook\.test/);
  } finally {
    child.kill();
  }
});
