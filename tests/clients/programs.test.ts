import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { replyChat, type StandInRequest } from '@troupe/ai';
import { needs } from '@troupe/testing/machine/needs';
import { reset, startWorld, type World } from '@troupe/testing/services/world';

/** Claude Code and Codex without a terminal: a task with tools, done on a model of another maker. */

const BIN = path.resolve(import.meta.dirname, '../judges/node_modules/.bin');
const MODEL = 'openai/gpt-4o-mini';

let world: World;
let home: string;

before(async () => {
  world = await startWorld();
});
beforeEach(async () => {
  reset(world);
  home = await mkdtemp(path.join(tmpdir(), 'troupe-program-'));
});
after(() => world.stop());

interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
}

const LONGEST_MS = 120_000;

function run(program: string, args: readonly string[], env: Record<string, string>): Promise<Ran> {
  const child = spawn(path.join(BIN, program), args, {
    cwd: path.join(home, 'work'),
    env: { PATH: process.env['PATH'], HOME: home, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ran = { stdout: '', stderr: '' };
  child.stdout.on('data', (text: Buffer) => (ran.stdout += text.toString()));
  child.stderr.on('data', (text: Buffer) => (ran.stderr += text.toString()));
  const timer = setTimeout(() => child.kill('SIGKILL'), LONGEST_MS);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve({ code, ...ran });
    });
  });
}

type Call = { name: string; arguments: string };

/** Makes the calls one after the other, then says that it is done. */
function script(calls: (tools: string[]) => Call[]) {
  return (request: StandInRequest, response: Parameters<typeof replyChat>[1]): void => {
    const { messages = [], tools = [] } = request.body as {
      messages?: { role: string; content: unknown }[];
      tools?: { function: { name: string } }[];
    };
    const done = messages.filter(({ role }) => role === 'tool').length;
    const next = tools.length > 0 ? calls(tools.map((tool) => tool.function.name))[done] : undefined;
    if (!next) return replyChat(request, response, { content: 'All done.' });
    replyChat(request, response, { content: null, toolCalls: [{ id: `call_${done}`, ...next }] });
  };
}

async function inWork(work: () => Promise<void>): Promise<void> {
  await mkdir(path.join(home, 'work'));
  try {
    await work();
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

describe('on the platform', { skip: needs('the judges') }, () => {
  it('Claude Code writes a file and reads it back', () =>
    inWork(async () => {
      const file = path.join(home, 'work', 'hello.txt');
      world.openrouter.answer(
        script(() => [
          { name: 'Write', arguments: JSON.stringify({ file_path: file, content: 'Hello from a tool\n' }) },
          { name: 'Read', arguments: JSON.stringify({ file_path: file }) },
        ]),
      );
      const args = ['-p', 'Write hello.txt', '--output-format', 'json', '--allowedTools', 'Write,Read'];
      const { code, stdout, stderr } = await run('claude', args, {
        ANTHROPIC_BASE_URL: world.services.backend,
        ANTHROPIC_API_KEY: world.user.key,
        ANTHROPIC_MODEL: MODEL,
        ANTHROPIC_SMALL_FAST_MODEL: MODEL,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      });
      assert.equal(code, 0, stdout + stderr);
      const { result, is_error: failed } = JSON.parse(stdout) as { result: string; is_error: boolean };
      assert.deepEqual([result, failed], ['All done.', false]);
      assert.equal(await readFile(file, 'utf8'), 'Hello from a tool\n');
      const last = JSON.stringify(world.openrouter.requests.at(-1)!.body['messages']);
      assert.match(last, /Hello from a tool/);
    }));

  it('Codex runs a command and reads what it printed', () =>
    inWork(async () => {
      const codexHome = path.join(home, '.codex');
      await mkdir(codexHome);
      await writeFile(
        path.join(codexHome, 'config.toml'),
        `model = "${MODEL}"
model_provider = "troupe"
[model_providers.troupe]
name = "Troupe"
base_url = "${world.services.backend}/v1"
env_key = "TROUPE_KEY"
wire_api = "responses"
`,
      );
      const command = 'echo from-codex > made.txt && cat made.txt';
      world.openrouter.answer(
        script((tools) => [
          tools.includes('exec_command')
            ? { name: 'exec_command', arguments: JSON.stringify({ cmd: command }) }
            : { name: 'shell', arguments: JSON.stringify({ command: ['sh', '-c', command] }) },
        ]),
      );
      const args = ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', 'Make made.txt'];
      const { code, stdout, stderr } = await run('codex', args, { CODEX_HOME: codexHome, TROUPE_KEY: world.user.key });
      assert.equal(code, 0, stdout + stderr);
      assert.match(stdout, /All done\./);
      assert.equal(await readFile(path.join(home, 'work', 'made.txt'), 'utf8'), 'from-codex\n');
      const last = JSON.stringify(world.openrouter.requests.at(-1)!.body['messages']);
      assert.match(last, /from-codex/);
    }));
});
