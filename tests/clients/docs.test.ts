import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { needs } from '@troupe/testing/machine/needs';
import { startWorld, type World } from '@troupe/testing/services/world';

/** Every snippet of docs/clients.md does what the page says. */

const root = path.resolve(import.meta.dirname, '../..');
const page = readFileSync(path.join(root, 'docs/clients.md'), 'utf8');
const snippets = [...page.matchAll(/^## (.+)\n\n```(js|sh)(?: (\w+))?\n([\s\S]*?)```$/gm)].map(
  ([, title = '', language = '', program, code = '']) => ({ title, language, program, code }),
);

let world: World;
let home: string;
before(async () => {
  world = await startWorld();
  home = mkdtempSync(path.join(tmpdir(), 'troupe-docs-'));
});
after(async () => {
  await world.stop();
  rmSync(home, { recursive: true, force: true });
});

test('there is one for each client', () => {
  assert.deepEqual(
    snippets.map(({ title }) => title),
    [
      'OpenAI',
      'Anthropic',
      'Managed Agents',
      'AI SDK',
      'OpenAI Agents',
      'The platform’s own client',
      'The terminal',
      'curl',
      'Claude Code',
      'Codex',
      'MCP',
    ],
  );
  for (const { title, code } of snippets) assert.ok(code.trim().split('\n').length <= 6, title);
});

for (const { title, language, program, code } of snippets)
  test(title, { skip: program !== undefined && needs('the judges') }, async () => {
    const here = code
      .replaceAll('http://127.0.0.1:3001', world.services.backend)
      .replaceAll('http://127.0.0.1:3000', world.services.web);
    const [command, args] =
      language === 'js' ? [process.execPath, ['--input-type=module', '-e', here]] : ['bash', ['-euc', here]];
    const bin = ['tests/judges/node_modules/.bin', 'node_modules/.bin'].map((one) => path.join(root, one));
    const child = spawn(command, args, {
      cwd: language === 'js' ? root : home,
      env: {
        PATH: [...bin, process.env['PATH']].join(path.delimiter),
        HOME: home,
        TROUPE_KEY: world.user.key,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    let wrong = '';
    child.stdout.on('data', (text: Buffer) => (said += text.toString()));
    child.stderr.on('data', (text: Buffer) => (wrong += text.toString()));
    const code_ = await new Promise((resolve) => child.on('close', resolve));
    assert.equal(code_, 0, said + wrong);
    assert.match(said, title === 'MCP' ? /No agents\.|"status":"running"/ : /Hello from the provider\./);
  });
