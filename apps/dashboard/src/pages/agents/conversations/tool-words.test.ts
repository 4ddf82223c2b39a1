import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toolAlone } from '@troupe/domain';
import { tools } from '../../../texts/tools.ts';
import { logWords } from '../work/log-words.ts';
import { toolLine, toolWords } from './tool-words.ts';

const of = (tool: string, args: object) => toolLine(tool, JSON.stringify(args));

test('a call is said as a person would say it', () => {
  assert.equal(of('write_file', { path: 'plan.md', content: 'x' }), 'Write plan.md');
  assert.equal(of('fetch', { url: 'https://www.example.com/news/' }), 'Read example.com/news');
  assert.equal(of('move_file', { source: 'a.md', destination: 'b.md' }), 'Move a.md to b.md');
  assert.equal(of('shell', { cmd: 'ls -l\n  | wc' }), 'Run ls -l | wc');
  assert.equal(of('create_todos', { descriptions: ['one', 'two'] }), 'Plan one, two');
  assert.equal(of('list_todos', {}), 'Look at its plan');
  assert.deepEqual(toolWords('fetch', '{"url":"http://a.example"}', true), { verb: 'Reading', about: 'a.example' });
});

test('a tool of somebody else is called by its name, whatever that is', () => {
  assert.equal(of('github_create_issue', { title: 'x' }), 'Use github_create_issue');
  for (const name of ['__proto__', 'constructor', 'toString']) assert.equal(of(name, {}), `Use ${name}`);
});

test('arguments that are broken, huge or of another kind are no obstacle', () => {
  assert.equal(toolLine('write_file', '{"path":'), 'Write');
  assert.equal(of('write_file', { path: { deep: true } }), 'Write');
  assert.equal(of('create_todos', { descriptions: [1, { a: 1 }, 'x'] }), 'Plan x');
  assert.ok(of('think', { thought: 'word '.repeat(100_000) }).length < 220);
});

test('where nobody knows what a call was about, its tool is said in words all the same', () => {
  assert.equal(toolAlone('write_file'), 'writing a file');
  assert.equal(toolAlone('list_todos'), 'looking at its plan');
  for (const name of ['github_create_issue', '__proto__', 'constructor']) assert.equal(toolAlone(name), name);
  // None of them ends where its object would stand.
  for (const tool of Object.keys(tools)) assert.doesNotMatch(toolAlone(tool), / (?:for|to|with|into|like|of)$/, tool);
});

test('the log says what a tool is for, and the rest as it is', () => {
  assert.deepEqual(logWords('Waits for a decision about write_file.'), {
    text: 'Waits for your decision about writing a file.',
    tool: 'write_file',
  });
  assert.deepEqual(logWords('shell failed: exit 1\nsecond line'), {
    text: 'Running a command failed: exit 1\nsecond line',
    tool: 'shell',
  });
  assert.deepEqual(logWords('Run done (2 turns, 2631 tokens, 1.5 s)'), {
    text: 'Answered after 1.5 s, with 2,631 tokens',
  });
  assert.deepEqual(logWords('Run failed: no money (1 turn, 2 tokens, 0.1 s)'), {
    text: 'Failed after 100 ms, with 2 tokens: no money',
  });
  assert.deepEqual(logWords('Run constructor (1 turn, 2 tokens, 0.1 s)'), {
    text: 'Run constructor (1 turn, 2 tokens, 0.1 s)',
  });
  assert.deepEqual(logWords('Heartbeat: nothing to do.'), { text: 'Heartbeat: nothing to do.' });
});
