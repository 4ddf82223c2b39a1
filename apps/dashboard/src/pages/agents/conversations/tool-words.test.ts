import assert from 'node:assert/strict';
import { test } from 'node:test';
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
