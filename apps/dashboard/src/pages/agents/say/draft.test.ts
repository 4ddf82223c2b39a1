import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TypesOf, web } from '@troupe/contract';
import { costNow, newTask, readDraft } from './draft.ts';

type Planned = TypesOf<typeof web.say.plan>['reply'];

const plan = { name: 'Digest', instruction: 'Read the news', model: 'small', task: undefined };
const cost = { pages: 0, past: [] };
const planned = (change: object = {}) => ({ plan: { ...plan, ...change }, cost }) as unknown as Planned;

describe('a draft that the browser kept', () => {
  test('is read whole, and without what is not whole', () => {
    const whole = { sentence: 'Read the news', planned: planned(), isAsked: true as const };
    assert.deepEqual(readDraft(whole), whole);
    assert.deepEqual(readDraft({ sentence: 'x', planned: { plan } }), { sentence: 'x' });
    assert.deepEqual(readDraft({ sentence: 'x', isAsked: 'yes' }), { sentence: 'x' });
  });

  test('that is anything else is empty', () => {
    for (const kept of [undefined, null, 7, 'text', [], { sentence: 3 }])
      assert.deepEqual(readDraft(kept), { sentence: '' });
  });
});

describe('what a plan costs', () => {
  type Models = Parameters<typeof costNow>[1];
  const models = [{ id: 'small', inputPrice: 1, outputPrice: 2 }] as unknown as Models;
  const now = new Date('2026-03-01T00:00:00Z');

  test('is not said for a model that is not there, or for times that nobody can read', () => {
    assert.equal(costNow(planned({ model: 'none' }), models, now), undefined);
    const task = { name: 'x', prompt: 'x', cronSchedule: 'never', timezone: 'UTC' };
    assert.equal(costNow(planned({ task }), models, now), undefined);
  });

  test('is once for what works when asked, and as often as its times come for a task', () => {
    const once = costNow(planned(), models, now);
    const daily = costNow(planned({ task: newTask(planned().plan, 'UTC') }), models, now);
    assert.equal(once?.runs, 1);
    assert.equal(daily?.runs, 30);
  });
});

test('a task takes its words from the plan, no longer than a task may have', () => {
  const task = newTask(planned({ instruction: 'a'.repeat(20_000) }).plan, 'Europe/Berlin');
  assert.deepEqual([task.prompt.length, task.timezone], [10_000, 'Europe/Berlin']);
  assert.equal(newTask(planned({ instruction: '' }).plan, 'UTC').prompt, 'Digest');
});
