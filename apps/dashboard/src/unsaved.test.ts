import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { forgetUnsaved, keepUnsaved, unsavedIn } from './unsaved.ts';

const store = new Map<string, string>();
const localStorage = {
  getItem: (key: string) => store.get(key) ?? null,
  setItem: (key: string, value: string) => store.set(key, value),
  removeItem: (key: string) => store.delete(key),
};
const previous = Object.getOwnPropertyDescriptor(globalThis, 'localStorage');
// Other files of tests in this process have one of their own.
beforeEach(() => {
  store.clear();
  Object.defineProperty(globalThis, 'localStorage', { value: localStorage, configurable: true, writable: true });
});
after(() => {
  if (previous) Object.defineProperty(globalThis, 'localStorage', previous);
  else Reflect.deleteProperty(globalThis, 'localStorage');
});

const initial = { name: '', tools: ['files'], model: undefined as string | undefined };

test('what was typed is there again, and gone once it is saved or as it was', () => {
  assert.equal(unsavedIn('agent', initial), undefined);
  keepUnsaved('agent', initial, { ...initial, name: 'Scout', model: 'x/y' });
  assert.deepEqual(unsavedIn('agent', initial), { name: 'Scout', tools: ['files'], model: 'x/y' });
  keepUnsaved('agent', initial, { ...initial });
  assert.equal(store.size, 0);
  keepUnsaved('agent', initial, { ...initial, name: 'Scout' });
  forgetUnsaved('agent');
  assert.equal(unsavedIn('agent', initial), undefined);
});

test('it is not put over something else, nor over a form of another shape', () => {
  keepUnsaved('agent', initial, { ...initial, name: 'Scout' });
  assert.equal(unsavedIn('agent', { ...initial, name: 'Ada' }), undefined);
  const base = JSON.stringify(initial);
  for (const value of [null, 7, 'x', [], { base, value: null }, { base: 1, value: {} }]) {
    store.set('troupe:unsaved:agent', JSON.stringify(value));
    assert.equal(unsavedIn('agent', initial), undefined);
  }
  store.set('troupe:unsaved:agent', JSON.stringify({ base, value: { name: 7, tools: 'x', odd: 1 } }));
  assert.deepEqual(unsavedIn('agent', initial), initial);
});
