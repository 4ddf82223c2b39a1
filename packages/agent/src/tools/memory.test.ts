import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { newDefinition } from '@troupe/domain';
import { createSqliteStore } from '../store/store-sqlite.ts';
import { memoryTools } from './memory.ts';
import { call } from './testing.ts';
import { thinkTools } from './think.ts';
import { todoTools } from './todo.ts';

const bounded = (memory: { maxEntries: number; ttlDays: number }) => ({
  definition: { config: { ...newDefinition({ name: 'x' }).config, memory } },
});

describe('memory', () => {
  test('is added, found, changed and deleted by the agent itself', async () => {
    const tools = memoryTools(createSqliteStore({ file: ':memory:', agentId: 'a' }));
    const { content } = await call(tools, 'add_memory', { memory: 'The harbour opens at nine' });
    const id = /^Remembered as (.+)\.$/.exec(content)?.[1] ?? '';
    assert.equal(
      (await call(tools, 'search_memories', { query: 'harbour' })).content,
      `${id}: The harbour opens at nine`,
    );
    assert.equal((await call(tools, 'update_memory', { id, memory: 'It opens at ten' })).content, `Changed ${id}.`);
    assert.equal((await call(tools, 'get_memories', {})).content, `${id}: It opens at ten`);
    assert.equal((await call(tools, 'delete_memory', { id })).content, `Forgot ${id}.`);
    assert.equal((await call(tools, 'get_memories', {})).content, 'Nothing is remembered about that.');
    for (const name of ['update_memory', 'delete_memory'])
      assert.deepEqual(await call(tools, name, { id, memory: 'x' }), {
        content: `There is no memory ${id}.`,
        isError: true,
      });
  });

  test('keeps as many entries, for as long, as the configuration says', async () => {
    let now = new Date('2030-01-01T00:00:00Z');
    const tools = memoryTools(createSqliteStore({ file: ':memory:', agentId: 'a', now: () => now }));
    const context = bounded({ maxEntries: 2, ttlDays: 3 });
    for (const memory of ['one', 'two', 'three']) {
      now = new Date(now.getTime() + 1000);
      await call(tools, 'add_memory', { memory }, context);
    }
    const kept = async () =>
      (await call(tools, 'get_memories', {}, context)).content.split('\n').map((line) => line.replace(/^.*: /, ''));
    assert.deepEqual((await kept()).toSorted(), ['three', 'two']);
    now = new Date(now.getTime() + 2 * 86_400_000);
    assert.equal((await kept()).length, 2);
    now = new Date(now.getTime() + 1.1 * 86_400_000);
    assert.deepEqual(await kept(), ['Nothing is remembered about that.']);
  });
});

test('todos are made, marked and listed', async () => {
  const tools = todoTools(createSqliteStore({ file: ':memory:', agentId: 'a' }));
  assert.equal((await call(tools, 'list_todos', {})).content, 'There are no todos.');
  await call(tools, 'create_todos', { descriptions: ['sweep', 'mop'] });
  assert.equal((await call(tools, 'update_todo', { id: '1', status: 'completed' })).content, '1 [completed] sweep');
  assert.equal((await call(tools, 'list_todos', {})).content, '1 [completed] sweep\n2 [pending] mop');
  assert.deepEqual(await call(tools, 'update_todo', { id: '9', status: 'completed' }), {
    content: 'There is no todo 9.',
    isError: true,
  });
});

test('a thought is taken and changes nothing', async () => {
  assert.deepEqual(await call(thinkTools(), 'think', { thought: 'first this' }), { content: 'Noted.' });
});
